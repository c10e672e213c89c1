"""Word codings: words to characters and back, sets of one coding in another."""

from __future__ import annotations

from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.words import BITS, BOUNDARY, settle
from tagweave.labels.coding import (
    CODINGS,
    LETTERS,
    SEGMENTATION,
    WordCounter,
    as_layer,
    letters,
    recode,
    to_characters,
    to_words,
)
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORDS = st.lists(st.text("ab一𠀀|-*", min_size=1, max_size=4), max_size=6)
TAGS = ("NN", "-NONE-", "a|b", "*x", "V-V")


def _labels(sentence: Sentence, layer: str) -> list[str]:
    assert all(candidates is not None and len(candidates) == 1 for candidates in sentence.layers[layer])
    return [candidates[0] for candidates in sentence.layers[layer] if candidates]


def test_letters() -> None:
    assert [letters(length) for length in (1, 2, 3, 5)] == ["S", "BE", "BME", "BMMME"]


@pytest.mark.parametrize(("coding", "expected"), [("BMES", "SBEBME"), ("BI", "BBIBII"), ("boundary", "|-|--|")])
def test_words_become_labels_of_characters(coding: str, expected: str) -> None:
    sentence = to_characters(Sentence(("a", "bc", "def"), weight=2.5), "seg", coding)
    assert "".join(sentence.forms) == "abcdef"
    assert "".join(_labels(sentence, "seg")) == expected
    assert sentence.weight == 2.5


@pytest.mark.parametrize("coding", CODINGS)
@given(words=WORDS)
def test_words_survive_the_round_trip(coding: str, words: list[str]) -> None:
    sentence = to_characters(Sentence(tuple(words)), "seg", coding)
    assert to_words(sentence.forms, _labels(sentence, "seg")) == (tuple(words), ("",) * len(words))


@pytest.mark.parametrize("coding", CODINGS)
@given(words=WORDS, data=st.data())
def test_words_and_tags_survive_the_round_trip(coding: str, words: list[str], data: st.DataObject) -> None:
    tags = tuple(data.draw(st.sampled_from(TAGS)) for _ in words)
    sentence = to_characters(Sentence(tuple(words), {"pos": as_layer(tags)}), "seg", coding, "pos")
    assert to_words(sentence.forms, _labels(sentence, "seg")) == (tuple(words), tags)


@pytest.mark.parametrize("coding", CODINGS)
def test_candidates_stay_candidates_and_an_unknown_tag_stays_unknown(coding: str) -> None:
    layer = (("NN", "VV"), None, ("NN",))
    sentence = to_characters(Sentence(("ab", "cd", "e"), {"pos": layer}), "seg", coding, "pos")
    spelled = {"BMES": "BEBES", "BI": "BIBIB", "boundary": "-|-||"}[coding]
    names = [f"{letter}-{tag}" for letter in dict.fromkeys(spelled) for tag in ("NN", "VV", "AD")]
    space = LabelSpace.plain("seg", names)
    allowed = [{names[y] for y in space.allow("seg", candidates or names)} for candidates in sentence.layers["seg"]]
    tags = [("NN", "VV")] * 2 + [("NN", "VV", "AD")] * 2 + [("NN",)]
    assert allowed == [{f"{letter}-{tag}" for tag in kept} for letter, kept in zip(spelled, tags, strict=True)]


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("tagged", [False, True])
def test_every_label_sequence_gives_words_that_spell_the_text(coding: str, tagged: bool) -> None:
    single = {"BMES": "BMES", "BI": "BI", "boundary": "|-"}[coding]
    labels = [f"{letter}-{tag}" for letter in single for tag in ("X", "Y")] if tagged else list(single)
    for length in range(4):
        for sequence in product(labels, repeat=length):
            words, tags = to_words("abc"[:length], sequence)
            assert "".join(words) == "abc"[:length]
            assert len(words) == len(tags)
            assert set(tags) <= ({"X", "Y"} if tagged else {""})


@pytest.mark.parametrize("coding", CODINGS)
def test_coded_words_obey_the_scheme_of_their_coding(coding: str) -> None:
    names = sorted({label for words in _segmentations("abcd") for label in _code(words, coding)})
    scheme = TransitionScheme.of(coding, names)
    for words in _segmentations("abcd"):
        numbers = [names.index(label) for label in _code(words, coding)]
        assert scheme.start[numbers[0]]
        assert scheme.end[numbers[-1]]
        assert all(scheme.transition[i, j] for i, j in pairwise(numbers))


def test_labels_and_numbers_of_labels_must_match_the_text() -> None:
    with pytest.raises(ValueError, match="shorter"):
        to_words("ab", ["S"])


@given(st.lists(st.sampled_from("BMES"), max_size=7))
def test_single_labels_settle_to_the_words_that_they_decode_to(labels: list[str]) -> None:
    text = "abcdefg"[: len(labels)]
    gaps, _ = settle([BITS[label] for label in labels])
    ends = [gap for gap in range(1, len(gaps)) if gaps[gap] == BOUNDARY]
    assert to_words(text, labels)[0] == tuple(text[a:b] for a, b in zip([0, *ends], ends, strict=False))


# Recoding


def _segmentations(text: str) -> Iterator[tuple[str, ...]]:
    if not text:
        yield ()
    for size in range(1, len(text) + 1):
        for rest in _segmentations(text[size:]):
            yield (text[:size], *rest)


def _code(words: tuple[str, ...], coding: str) -> list[str]:
    return _labels(to_characters(Sentence(words), "seg", coding), "seg")


def _fitting(text: str, sets: Sequence[tuple[str, ...] | None]) -> list[tuple[str, ...]]:
    """The segmentations whose BMES labels are in the sets."""
    return [
        words
        for words in _segmentations(text)
        if all(allowed is None or label in allowed for label, allowed in zip(_code(words, "BMES"), sets, strict=True))
    ]


def _recoded(text: str, sets: Sequence[tuple[str, ...] | None], coding: str) -> tuple[tuple[str, ...] | None, ...]:
    return recode(Sentence(tuple(text), {SEGMENTATION: tuple(sets)}), "to", coding).layers["to"]


@pytest.mark.parametrize("coding", CODINGS)
@given(data=st.data())
def test_recoding_never_excludes_words_that_the_sets_allow(coding: str, data: st.DataObject) -> None:
    text = "abcd"[: data.draw(st.integers(1, 4))]
    some = st.lists(st.sampled_from("BMES"), min_size=1, unique=True).map(tuple)
    sets = [data.draw(st.none() | some) for _ in text]
    layer = _recoded(text, sets, coding)
    for words in _fitting(text, sets):
        assert all(
            allowed is None or label in allowed for label, allowed in zip(_code(words, coding), layer, strict=True)
        )


@pytest.mark.parametrize("coding", CODINGS)
def test_recoding_what_is_known_of_the_gaps_is_exact(coding: str) -> None:
    text = "abcd"
    alphabet = {label for words in _segmentations(text) for label in _code(words, coding)}
    for inner in product((True, False, None), repeat=3):
        gaps = (True, *inner, True)
        sets = [_set_between(gaps[i], gaps[i + 1]) for i in range(4)]
        layer = _recoded(text, sets, coding)
        allowed = [alphabet if candidates is None else set(candidates) for candidates in layer]
        coded = [_code(words, coding) for words in _segmentations(text)]
        kept = {
            tuple(labels) for labels in coded if all(label in some for label, some in zip(labels, allowed, strict=True))
        }
        assert kept == {tuple(_code(words, coding)) for words in _fitting(text, sets)}


def _set_between(before: bool | None, after: bool | None) -> tuple[str, ...] | None:
    """The letters that fit what is known of the gap on either side: a boundary, none, or unknown."""
    sides = {"B": (True, False), "M": (False, False), "E": (False, True), "S": (True, True)}
    kept = tuple(x for x, (a, b) in sides.items() if before in (a, None) and after in (b, None))
    return None if len(kept) == 4 else kept


def test_recoding_with_tags_crosses_positions_and_tags() -> None:
    sentence = Sentence(
        tuple("abcd"),
        {SEGMENTATION: (("B", "S"), None, None, ("E",)), "pos": (("NN", "VV"), None, ("NN",), None)},
    )
    assert recode(sentence, "to", "BMES", "pos").layers["to"] == (
        ("B-NN", "B-VV", "S-NN", "S-VV"),
        None,
        ("B-NN", "M-NN", "E-NN", "S-NN"),
        ("E-*",),
    )
    assert recode(sentence, "to", "BI", "pos").layers["to"] == (("B-NN", "B-VV"), None, ("B-NN", "I-NN"), ("I-*",))


def test_recoding_without_the_tag_layer_leaves_every_tag_open() -> None:
    sentence = Sentence(tuple("ab"), {SEGMENTATION: (("B",), None)})
    assert recode(sentence, "to", "boundary", "pos").layers["to"] == (("--*",), None)


ODD_TAGS = ("", "N", "V", "-", "a-b")


def spelled(sentences: list[list[str]]) -> set[tuple[int, int, int, str]]:
    """Sentence, start, end and tag of every word."""
    found = set()
    for number, labels in enumerate(sentences):
        words, tags = to_words("x" * len(labels), labels)
        ends = list(accumulate(map(len, words)))
        found |= {(number, end - len(word), end, tag) for word, end, tag in zip(words, ends, tags, strict=True)}
    return found


@st.composite
def pairs(draw: st.DrawFn, coding: str) -> tuple[list[str], list[list[str]], list[list[str]]]:
    """Labels, and two labellings of the same sentences, whether they keep to the coding's scheme or not."""
    kinds = draw(st.lists(st.sampled_from(ODD_TAGS), min_size=1, max_size=3, unique=True))
    names = [f"{letter}-{kind}" if kind else letter for letter in LETTERS[coding] for kind in kinds]
    lengths = draw(st.lists(st.integers(0, 6), max_size=5))
    labelled = [[draw(st.lists(st.sampled_from(names), min_size=n, max_size=n)) for n in lengths] for _ in range(2)]
    return names, labelled[0], labelled[1]


@pytest.mark.parametrize("coding", CODINGS)
@settings(max_examples=15)
@given(st.data())
def test_f_is_that_of_the_words_spelled_out(coding: str, data: st.DataObject) -> None:
    names, gold, system = data.draw(pairs(coding))
    ptr = np.concatenate([[0], np.cumsum([len(labels) for labels in gold])]).astype(np.int64)
    arrays = [np.array([names.index(x) for row in rows for x in row], np.int32) for rows in (gold, system)]
    a, b = spelled(gold), spelled(system)
    counter = WordCounter(names, ptr)
    assert [len(counter.words(array)) for array in arrays] == [len(a), len(b)]
    assert counter.f_score(*arrays) == pytest.approx(2 * len(a & b) / max(1, len(a) + len(b)))


def test_no_label_is_no_gold_word() -> None:
    counter = WordCounter(["B", "E", "S"], np.array([0, 2, 3]))
    gold, none = np.array([0, 1, 2], np.int32), np.array([-1, -1, -1], np.int32)
    assert counter.f_score(gold, gold) == 1.0
    assert counter.f_score(gold, none) == 0.0
