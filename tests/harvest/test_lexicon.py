"""Lexicons as they are read, and the sentences that are selected: what they mark, samples, duplicates."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import files
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import kytea
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.harvest.lexicon import Lexicon, parse, read, uncontradicted
from tagweave.harvest.selection import marked_spans, occurring, sampled, selected


def entries(*lines: str) -> dict[str, tuple[str, ...] | None]:
    lexicon = parse(lines)
    return dict(zip(lexicon.words, lexicon.tags, strict=True))


@pytest.mark.parametrize(
    ("line", "word", "tags"),
    [
        ("图书馆", "图书馆", None),
        ("  图书馆　", "图书馆", None),
        ("开会\tNN|VV", "开会", ("NN", "VV")),
        ("开会 \t NN", "开会", ("NN",)),
        ("开会\tNN|NN|VV", "开会", ("NN", "VV")),
        ("开会 300 v", "开会", ("v",)),
        ("开会  300", "开会", None),
        ("开会　300　v", "开会", ("v",)),
        ("300", "300", None),
        ("|\t|", "|", "an empty tag"),
        ("a\tb|", "", "an empty tag in 'b|'"),
        ("\tNN", "", "a word without blanks"),
        ("开会\t", "", "an empty tag"),
        ("开会 v", "开会", ("v",)),
        ("云 计算 20 nz", "云 计算", ("nz",)),
        ("云 计算 20", "云 计算", None),
        ("型号 6 500 NN|nz", "型号 6", ("NN", "nz")),
        ("云 计算 nz", "云 计算", ("nz",)),
        ("a B", "", "'a B', expected word, word TAB TAG"),
        ("a clock", "", "'a clock', expected word, word TAB TAG"),
        ("a 3 v w", "", "expected word, word TAB TAG"),
        ("a\tN\tV", "", "3 fields, expected word"),
        ("New York\tNR", "", "expected a word without blanks in it"),
        ("a\tN V", "", "expected a word without blanks in it"),
    ],
)
def test_forms_of_entries(line, word, tags):
    if isinstance(tags, str):
        with pytest.raises(CorpusError, match=r"^lexicon:2: found") as error:
            parse(["", line], "lexicon")
        assert tags in str(error.value)
    else:
        assert entries(line) == {word: tags}


def test_entries_of_one_word_are_united_in_the_order_of_the_file():
    found = entries("b\tN", "a", "", " \t　", "b", "b\tV|N", "a\tX", "c 5 n")
    assert found == {"b": ("N", "V"), "a": ("X",), "c": ("n",)}
    assert list(found) == ["b", "a", "c"]


def test_files(tmp_path):
    plain, packed = tmp_path / "plain.txt", tmp_path / "packed.txt"
    plain.write_bytes("\ufeff图书馆\r\n\r\n开会\tn\r\n".encode())
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for file in (plain, packed):
        lexicon = read(str(file))
        assert (lexicon.words, lexicon.tags) == (("图书馆", "开会"), (None, ("n",)))
        assert lexicon.path == str(file)


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"a\nb\0c\n", "2: found a NUL"), (b"a\n\xff\n", "2: found the byte 0xff"), (b"\n \n", "found no entry")],
)
def test_files_that_are_no_lexicons(tmp_path, content, found):
    file = tmp_path / "bad.txt"
    file.write_bytes(content)
    with pytest.raises(CorpusError) as error:
        read(str(file))
    assert str(error.value).startswith(f"{file}:") and found in str(error.value)


def test_entries_that_a_corpus_contradicts():
    """AB is a word twice, and once a part of ABC; BC is a word once, and once a part of it; a text may end with it."""
    lexicon = Lexicon(("AB", "ABC", "BC", "XY"), (("N",), None, None, ("V",)), "f")
    corpus = Corpus((Sentence(("AB", "D", "AB")), Sentence(("ABC", "BC"))), "pd")
    assert uncontradicted(lexicon, corpus) == Lexicon(("ABC", "XY"), (None, ("V",)), "f")
    assert uncontradicted(lexicon, corpus, 0.6) == Lexicon(("AB", "ABC", "XY"), (("N",), None, ("V",)), "f")
    assert uncontradicted(lexicon, corpus, 0) == lexicon
    with pytest.raises(CorpusError, match="a corpus of characters"):
        uncontradicted(lexicon, Corpus((), "segmentation", "character"))


words = st.lists(st.text("甲乙aB", min_size=1, max_size=4), max_size=10)
lines = st.lists(st.text("甲乙aB ", max_size=12), max_size=6)


def corpus(*texts: str) -> Corpus:
    return Corpus(tuple(kytea.read(texts)), SEGMENTATION, "character")


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
