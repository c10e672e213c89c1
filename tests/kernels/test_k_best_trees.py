"""The k best trees, projective or of all, against enumeration."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forests import Forest, forests
from tagweave.kernels import arborescence, tree


def run(
    scores: np.ndarray, k: int, single_root: bool, projective: bool = True, pairs: np.ndarray | None = None
) -> tuple[list[tuple[int, ...]], np.ndarray]:
    heads, totals = np.full((k, len(scores) - 1), -7, np.int32), np.full(k, np.nan)
    if projective:
        pairs = np.zeros(0) if pairs is None else pairs
        tree.k_best(scores.astype(np.float32), pairs.astype(np.float32), single_root, heads, totals)
    else:
        arborescence.k_best(scores.astype(np.float32), single_root, heads, totals)
    return [tuple(row) for row in heads.tolist()], totals


@settings(max_examples=40)
@given(forests(5, pairs=True), st.integers(1, 40), st.booleans())
def test_the_k_best_trees(forest: Forest, k: int, projective: bool) -> None:
    forest = forest if projective else replace(forest, pairs=[])
    for s, n in enumerate(forest.lengths.tolist()):
        weights = forest.trees(s, projective)
        expected = sorted(weights.values(), reverse=True)[:k]
        heads, totals = run(forest.excluded(s), k, forest.single_root, projective, forest.in_rows(s))
        np.testing.assert_allclose(totals[: len(expected)], expected, rtol=1e-9, atol=1e-9)
        assert totals[len(expected) :].tolist() == [-math.inf] * (k - len(expected))
        assert heads[len(expected) :] == [(-1,) * n] * (k - len(expected))
        found = heads[: len(expected)]
        assert len(set(found)) == len(found)
        assert [weights[tree] for tree in found] == pytest.approx(totals[: len(expected)].tolist())


@given(st.integers(1, 4), st.booleans(), st.booleans())
def test_of_equal_trees_each_comes_once(n: int, single_root: bool, projective: bool) -> None:
    forest = Forest([np.zeros((n + 1, n + 1))], [np.ones((n + 1, n + 1), np.uint8)], single_root)
    every = set(forest.trees(0, projective))
    heads, totals = run(forest.scores[0], len(every) + 3, single_root, projective)
    assert set(heads[: len(every)]) == every
    assert np.isfinite(totals).sum() == len(every)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_a_long_sentence(single_root: bool, projective: bool) -> None:
    """The first is the best tree, all are trees that score what they should, and more of them change nothing."""
    n = 60
    scores = np.random.default_rng(0).normal(size=(n + 1, n + 1)).astype(np.float32)
    best = np.empty(n, np.int32)
    decode = tree.best_heads if projective else arborescence.best_arborescence
    ptr = (np.array([0]), np.zeros(2, np.int64)) if projective else (np.array([0]),)
    decode(scores.ravel(), *ptr, np.array([n]), single_root, best)
    few, few_totals = run(scores, 4, single_root, projective)
    many, many_totals = run(scores, 16, single_root, projective)
    assert few[0] == tuple(best.tolist())
    np.testing.assert_allclose(many_totals[:4], few_totals, rtol=1e-12)
    assert (np.diff(many_totals) <= 0).all()
    for heads, total in zip(many, many_totals, strict=True):
        assert scores[heads, range(1, n + 1)].sum(dtype=np.float64) == pytest.approx(total, rel=1e-9)
