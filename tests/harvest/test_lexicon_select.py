"""Selection of sentences: what they mark, whether it occurs elsewhere, samples, duplicates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import files
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION, read
from tagweave.corpus.sentence import Sentence
from tagweave.harvest.selection import marked_spans, occurring, sampled, selected, without_duplicates

words = st.lists(st.text("甲乙aB", min_size=1, max_size=4), max_size=10)
lines = st.lists(st.text("甲乙aB ", max_size=12), max_size=6)


def corpus(*texts: str) -> Corpus:
    return Corpus(tuple(read(texts)), SEGMENTATION, "character")


def texts(some: Corpus) -> list[str]:
    return ["".join(sentence.forms) for sentence in some]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("甲-乙|丙 丁", ["甲乙"]),
        ("甲|乙-丙-丁|戊-己", ["乙丙丁", "戊己"]),
        ("甲 乙|丙-丁 戊", []),
        ("甲-乙", ["甲乙"]),
        ("甲|乙 丙|丁", ["乙丙"]),
        ("甲|乙 丙 丁|戊-己 庚|辛-壬", ["乙丙丁", "戊己庚", "辛壬"]),
        ("甲 乙|丙|丁 戊", []),
        ("甲|乙|丙", []),
        ("甲 乙-丙|丁", []),
        ("甲", []),
        ("", []),
    ],
)
def test_what_is_set_off_is_marked(text, marked):
    (sentence,) = corpus(text)
    assert marked_spans(sentence) == marked


def test_a_sentence_without_the_layer_marks_nothing():
    assert marked_spans(Sentence(("甲", "乙"))) == []
    assert marked_spans(Sentence(("甲", "乙"), {"pd": (("B",), ("E",))}), "pd") == ["甲乙"]


@pytest.mark.parametrize("layer", [(("B",), ("E",), None, None), (None, None, ("B",), ("E",))])
def test_a_boundary_may_be_known_from_one_side(layer):
    assert len(marked_spans(Sentence(tuple("甲乙丙丁"), {SEGMENTATION: layer}))) == 1


def cut_out(word: str, line: str) -> bool:
    """Whether the word occurs, and not as a part of a longer run of Latin letters."""

    def joined(at: int) -> bool:
        return 0 < at < len(line) and line[at - 1 : at + 1].isascii() and line[at - 1 : at + 1].isalpha()

    starts = [i for i in range(len(line)) if line.startswith(word, i)]
    return any(not joined(i) and not joined(i + len(word)) for i in starts)


@given(words, lines, st.integers(1, 30))
def test_what_occurs_is_what_can_be_cut_out_of_a_line(some, target, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_CHARACTERS", size)
        assert occurring(some, target) == {word for word in some if any(cut_out(word, line) for line in target)}


def test_sentences_that_mark_a_word_of_the_target():
    some = corpus("甲-乙|丙", "乙-丙|甲", "甲 乙 丙", "戊|甲-乙-丙|乙-丙")
    assert texts(selected(some, ["好乙丙好"])) == ["乙丙甲", "戊甲乙丙乙丙"]
    assert texts(selected(some, ["乙甲丙"])) == []
    kept = selected(some, iter(["甲乙"]))
    assert (kept.guideline, kept.unit, kept[0]) == (SEGMENTATION, "character", some[0])


def test_samples_are_seeded_and_in_order():
    some = corpus(*(f"{chr(0x4E00 + i)}-甲" for i in range(100)))
    one, two = sampled(some, 30, seed=1), sampled(some, 30, seed=2)
    assert texts(one) == texts(sampled(some, 30, seed=1)) != texts(two)
    assert texts(one) == sorted(set(texts(one))) and len(one) == len(two) == 30
    assert sampled(some, 100) == sampled(some, 101) == some and len(sampled(some, 0)) == 0


def test_duplicates_go_by_their_characters():
    some = corpus("甲-乙", "甲|乙", "甲 乙 ?丙"[:3], "乙-甲", "甲-乙")
    assert without_duplicates(some) == some.with_sentences([some[0], some[3]])
