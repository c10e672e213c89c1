from __future__ import annotations

import numpy as np
import pytest

from tagweave.corpus.sentence import Sentence
from tagweave.sources.agreement import agreement
from tagweave.sources.answers import Answers

NAMES = ("ann", "bob", "eve")


def _answers(*columns: str) -> Answers:
    """Sources from a word for each position and source: `-` is unknown, `a|b` two candidates."""
    layers = [[None if each == "-" else tuple(each.split("|")) for each in column.split()] for column in columns]
    forms = tuple("w" for _ in layers[0])
    named = dict(zip(NAMES, map(tuple, layers), strict=False))
    return Answers.of_sentences([Sentence(forms, named)], NAMES[: len(columns)])


def _alpha(*columns: list[int | None]) -> float:
    """Compute alpha by its definition, from pairs of answers."""
    units = [[each for each in unit if each is not None] for unit in zip(*columns, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    together = [each for unit in units for each in unit]

    def differing(answers: list[int]) -> float:
        return sum(one != other for one in answers for other in answers) / (len(answers) - 1)

    return 1 - sum(map(differing, units)) / differing(together)


def test_alpha_is_that_of_the_definition_whatever_is_missing():
    random = np.random.default_rng(5)
    truth = random.integers(0, 4, 60)
    columns = [np.where(random.random(60) < 0.6, truth, random.integers(0, 4, 60)) for _ in NAMES]
    known = [random.random(60) < 0.7 for _ in NAMES]
    pairs = [list(zip(column.tolist(), mask, strict=True)) for column, mask in zip(columns, known, strict=True)]
    answers = _answers(*(" ".join("abcd"[label] if is_known else "-" for label, is_known in each) for each in pairs))
    expected = _alpha(*([label if is_known else None for label, is_known in each] for each in pairs))
    found = agreement(answers)
    assert found.everything.alpha == pytest.approx(expected)
    binary = _alpha(*([int(label == 2) if is_known else None for label, is_known in each] for each in pairs))
    assert found.labels["c"].alpha == pytest.approx(binary)


def test_of_two_sources_each_agrees_with_the_other_as_both_do():
    found = agreement(_answers("a a b b - c", "a b b b c -"))
    assert found.sources["ann"].alpha == pytest.approx(found.everything.alpha)
    assert found.everything.alpha == pytest.approx(_alpha([0, 0, 1, 1, None, 2], [0, 1, 1, 1, 2, None]))


def test_a_source_that_says_the_opposite_agrees_least():
    found = agreement(_answers("a a b b", "a a b b", "b b a a"))
    assert found.sources["eve"].alpha < 0 < found.sources["ann"].alpha


def test_coverage_overlap_and_conflict():
    found = agreement(_answers("a a - -", "a b b -", "- a - -"))
    everything = found.everything
    assert (everything.coverage, everything.overlap, everything.conflict) == (3, 2, 1)
    bob = found.sources["bob"]
    assert (bob.coverage, bob.overlap, bob.conflict) == (3, 2, 1)
    b = found.labels["b"]
    assert (b.coverage, b.overlap, b.conflict) == (2, 1, 1)
    assert found.counts == {"ann": {"a": 2, "b": 0}, "bob": {"a": 1, "b": 2}, "eve": {"a": 1, "b": 0}}


def test_candidates_contradict_what_they_exclude_alone():
    found = agreement(_answers("a|b a|b a|b", "a c b|c"))
    assert found.sources["ann"].conflict == found.sources["bob"].conflict == 1
    assert found.labels["c"].conflict == 1
    assert found.labels["a"].conflict == 1


def test_no_alpha_without_pairs_or_without_a_second_label():
    found = agreement(_answers("a - b", "- a -"))
    assert found.everything.alpha is found.sources["ann"].alpha is None
    assert agreement(_answers("a a", "a a")).everything.alpha is None
