"""Spans counted from arrays of labels, against conlleval's rules label by label and all sequences spelled out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.labels.spans import SpanCounter, SpanRules, are_span_labels, sentence_begins

IOB, BIOES = ("O", "B-X", "I-X", "B-Y", "I-Y"), ("O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y")
NASTY = (*BIOES, "B", "I", "E", "S", "I-a-b")
UNKNOWN, SEVERAL = -1, -2
Spans = set[tuple[int, int, str]]


def conlleval(labels: list[str]) -> Spans:
    """The chunks (start, stop, type) by the rules of conlleval for BIOES: where one ends, then where one starts."""
    found, start, last, last_kind = set(), 0, "O", ""
    for at, label in enumerate([*labels, "O"]):
        letter, _, kind = label.partition("-")
        changes = kind != last_kind
        if last != "O" and (last in "ES" or letter in "BSO" or changes):
            found.add((start, at, last_kind or "_"))
        if letter != "O" and (letter in "BS" or last in "OES" or changes):
            start = at
        last, last_kind = letter, kind
    return found


def spans(names: tuple[str, ...], rows: list[list[int]]) -> list[Spans]:
    """The spans of every sentence, by the rules under test."""
    ptr = np.cumsum([0, *map(len, rows)])
    rules, sentence = SpanRules(names), np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    arrays = rules.spans(np.array([x for row in rows for x in row], np.int32), sentence_begins(ptr))
    found: list[Spans] = [set() for _ in rows]
    for start, stop, kind in zip(*(each.tolist() for each in arrays), strict=True):
        found[sentence[start]].add((start - ptr[sentence[start]], stop - ptr[sentence[start]], rules.types[kind]))
    return found


@st.composite
def rows(draw: st.DrawFn, size: int, low: int = 0, longest: int = 6) -> list[tuple[list[int], list[int]]]:
    """Sentences as pairs of gold labels, from `low` on, and system labels."""
    lengths = draw(st.lists(st.integers(0, longest), max_size=4))
    row = [(st.lists(st.integers(a, size - 1), min_size=n, max_size=n) for a in (low, -1)) for n in lengths]
    return [(draw(gold), draw(system)) for gold, system in row]


def arrays(pairs: list[tuple[list[int], list[int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    gold, system = (np.array([x for pair in pairs for x in pair[side]], np.int32) for side in (0, 1))
    return gold, system, np.cumsum([0, *(len(gold) for gold, _ in pairs)])


@pytest.mark.parametrize("names", [IOB, NASTY])
@settings(max_examples=60)
@given(st.data())
def test_spans_and_f_are_those_of_conlleval(names: tuple[str, ...], data: st.DataObject) -> None:
    pairs = data.draw(rows(len(names)))
    gold, system, ptr = arrays(pairs)
    spelled = [
        [conlleval(["O" if x < 0 else names[x] for x in row]) for row in side] for side in zip(*pairs, strict=True)
    ]
    assert not pairs or [spans(names, list(side)) for side in zip(*pairs, strict=True)] == spelled
    ours, theirs = ([(n, *s) for n, row in enumerate(side) for s in row] for side in spelled or ([], []))
    expected = 2 * len(set(ours) & set(theirs)) / max(1, len(ours) + len(theirs))
    assert SpanCounter(names, ptr).f_score(gold, system) == pytest.approx(expected)


def possible(names: tuple[str, ...], gold: list[int], closes: bool) -> list[Spans]:
    """The spans of every sequence of labels that a partial gold standard allows."""
    found = []
    for labels in product(*([names[x]] if x >= 0 else names for x in gold)):
        joins = [any(s < at < e for s, e, _ in conlleval(list(labels))) for at in range(len(labels))]
        whole = all(
            not (closes and gold[at] == UNKNOWN and gold[at - 1] >= 0 and joins[at]) for at in range(1, len(gold))
        )
        if whole:
            found.append(conlleval(list(labels)))
    return found


@pytest.mark.parametrize("names", [IOB, BIOES])
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_partial_gold_standard_scores_what_all_that_it_allows_agree_on(
    names: tuple[str, ...], data: st.DataObject
) -> None:
    pairs = data.draw(rows(len(names), SEVERAL, 4 if names == IOB else 3))
    gold, system, ptr = arrays(pairs)
    if not (gold < 0).any():
        return
    right = count = 0
    for expected, labels in pairs:
        allowed = possible(names, expected, closes=names == IOB)
        certain, some = set.intersection(*allowed), set.union(*allowed)
        found = conlleval(["O" if x < 0 else names[x] for x in labels])
        right += len(found & certain)
        count += len(certain) + len(found & certain) + len(found - some)
    assert SpanCounter(names, ptr).f_score(gold, system) == pytest.approx(2 * right / max(1, count))


def test_labels_that_are_none_of_spans_are_refused() -> None:
    with pytest.raises(ValueError, match="found the label 'M-X', expected O, or B, I, E or S"):
        SpanCounter(["O", "M-X"], np.array([0, 1]))


@pytest.mark.parametrize(
    ("names", "expected"),
    [("O B-X I-X", True), ("B-X I-X", True), ("O B I", True), ("O", False), ("B E S", False), ("O B-X NN", False)],
)
def test_labels_of_spans_are_recognised(names: str, expected: bool) -> None:
    assert are_span_labels(names.split()) is expected
