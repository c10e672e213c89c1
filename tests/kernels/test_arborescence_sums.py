"""Sums over all trees, projective or not, against enumeration and the inverse of the Laplacian."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_trees
from forests import Forest, check_gradient, forests, sums
from tagweave.kernels import arborescence_sums

SPREADS = st.sampled_from([0.0, 0.5, 3.0, 50.0, 1000.0])
SINGLE_ROOT = pytest.mark.parametrize("single_root", [True, False])
Floats = NDArray[Any]


run = partial(sums, arborescence_sums.marginals, pairs=False)


def one(scores: Floats, single_root: bool = True) -> Forest:
    """A batch of one sentence without evidence."""
    return Forest([scores.astype(np.float32)], [np.ones_like(scores, np.uint8)], single_root)


def check(forest: Forest, log_z: Floats, marginal: Floats) -> None:
    """Scores and marginals are float32, all between them and log Z is float64."""
    for s, n in enumerate(forest.lengths.tolist()):
        weights = forest.trees(s, projective=False)
        np.testing.assert_allclose(log_z[s], naive_trees.log_partition(weights), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            forest.sentence(marginal, s), naive_trees.marginals(weights, n), rtol=1e-6, atol=1e-7
        )


@settings(max_examples=80)
@given(SPREADS.flatmap(lambda spread: forests(5, spread)))
def test_log_z_and_marginals(forest: Forest) -> None:
    check(forest, *run(forest))


@given(forests())
def test_a_score_of_minus_infinity_is_evidence(forest: Forest) -> None:
    scores = [forest.excluded(s) for s in range(len(forest.lengths))]
    same = Forest(scores, forest.allowed, forest.single_root)
    for mine, others in zip(run(forest), run(same, free=True), strict=True):
        np.testing.assert_allclose(mine, others, rtol=1e-6, atol=1e-12)


@given(forests(5, free=True))
def test_the_diagonal_and_column_0_are_not_read(forest: Forest) -> None:
    log_z, _ = run(forest)
    for table in forest.scores:
        np.fill_diagonal(table, np.nan)
        table[:, 0] = np.inf
    assert run(forest)[0].tolist() == log_z.tolist()


@given(forests(), st.data())
def test_where_every_word_has_one_head_left(forest: Forest, data: st.DataObject) -> None:
    """Trees, projective or not, and what is no tree."""
    for s, n in enumerate(forest.lengths.tolist()):
        heads = data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n), label=f"heads of {s}")
        forest.allowed[s][:] = 0
        forest.allowed[s][heads, range(1, n + 1)] = 1
    check(forest, *run(forest))


@given(forests(4, 1.0, shortest=2), st.data())
def test_two_words_that_must_be_children_of_the_root(forest: Forest, data: st.DataObject) -> None:
    """No tree, if the root has one child; whatever the scores of trees with two are."""
    for s, n in enumerate(forest.lengths.tolist()):
        one, other = data.draw(st.permutations(range(1, n + 1)), label=f"children in {s}")[:2]
        forest.allowed[s][:] = 1
        forest.allowed[s][1:, [one, other]] = 0
        forest.scores[s][0] += data.draw(st.sampled_from([0, 100, 1000]), label="score of the root")
    check(forest, *run(forest))


@SINGLE_ROOT
@pytest.mark.parametrize("n", [1, 2, 5, 30, 200, 400])
def test_z_of_equal_scores_counts_the_trees(n: int, single_root: bool) -> None:
    """Cayley: (n + 1)^(n - 1) trees, n^(n - 1) with one child of the root."""
    log_z, marginal = run(one(np.zeros((n + 1, n + 1)), single_root))
    assert log_z[0] == pytest.approx((n - 1) * math.log(n if single_root else n + 1), rel=1e-12)
    np.testing.assert_allclose(marginal.reshape(n + 1, n + 1).sum(axis=0, dtype=np.float64)[1:], 1, rtol=1e-5)


@SINGLE_ROOT
@pytest.mark.parametrize("spread", [1.0, 5.0])
@pytest.mark.parametrize("n", [40, 130])
def test_long_sentences_against_the_inverse_laplacian(n: int, spread: float, single_root: bool) -> None:
    """Koo et al. 2007, equations 2 to 7, where these lose no digits."""
    scores = (np.random.default_rng(n).normal(size=(n + 1, n + 1)) * spread).astype(np.float32)
    log_z, marginal = run(one(scores, single_root))
    p = np.exp(scores - scores.max(), dtype=np.float64)
    np.fill_diagonal(p, 0)
    laplacian = np.diag(p[1:, 1:].sum(axis=0) + (0 if single_root else p[0, 1:])) - p[1:, 1:]
    if single_root:
        laplacian[0] = p[0, 1:]
    _, log_determinant = np.linalg.slogdet(laplacian)
    assert log_z[0] == pytest.approx(log_determinant + n * float(scores.max()), rel=1e-9)
    of_root = np.linalg.inv(laplacian)[:, 0] if single_root else np.diag(np.linalg.inv(laplacian))
    table = marginal.reshape(n + 1, n + 1)
    np.testing.assert_allclose(table[0, 1:], p[0, 1:] * of_root, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(table.sum(axis=0)[1:], 1, rtol=1e-5)


@SINGLE_ROOT
@pytest.mark.parametrize("bond", [30, 300, 3000])
def test_a_long_sentence_that_is_sure_of_bad_arcs(bond: int, single_root: bool) -> None:
    """Pairs of words that govern each other: the determinant is exp(-bond) of its terms for each."""
    n = 120
    scores = np.zeros((n + 1, n + 1), np.float32)
    odd = np.arange(1, n, 2)
    scores[odd, odd + 1] = scores[odd + 1, odd] = bond
    log_z, marginal = run(one(scores, single_root))
    table = marginal.reshape(n + 1, n + 1)
    pairs = n // 2  # of each one word has the other as its head, and any other word, or the root, has all pairs
    trees = pairs * math.log(2) + (pairs - 1) * math.log(n + 1 - single_root)
    assert log_z[0] == pytest.approx(pairs * bond + trees, rel=1e-6)
    np.testing.assert_allclose(table.sum(axis=0)[1:], 1, rtol=1e-5)
    np.testing.assert_allclose(table[odd, odd + 1] + table[odd + 1, odd], 1, rtol=1e-5)


@SINGLE_ROOT
@pytest.mark.parametrize("gap", range(100, 901, 100))
def test_trees_on_the_edge_of_the_range(gap: int, single_root: bool) -> None:
    """Potentials of every tree are near exp(-gap): from what is exact by far to what would be 0."""
    scores = np.random.default_rng(gap).normal(size=(5, 5)).astype(np.float32)
    for h, m in ((1, 2), (2, 1), (3, 4), (4, 3)):
        scores[h, m] += gap / 2
    forest = one(scores, single_root)
    check(forest, *run(forest))


@settings(max_examples=20)
@given(forests(9, 2.0, most=2, shortest=1), st.data())
def test_marginals_are_the_gradient_of_the_loss(forest: Forest, data: st.DataObject) -> None:
    """log Z(all) - log Z(allowed), in each score, by central differences."""
    check_gradient(run, forest, data)


def test_a_sentence_does_not_depend_on_the_batch_around_it() -> None:
    random = np.random.default_rng(3)
    scores = [random.normal(size=(n + 1, n + 1)) for n in (7, 0, 1, 12, 2)]
    together = Forest(scores, [np.ones_like(table, np.uint8) for table in scores], True)
    log_z, marginal = run(together)
    for s, table in enumerate(scores):
        alone_z, alone = run(Forest([table], [np.ones_like(table, np.uint8)], True))
        assert alone_z[0] == log_z[s]
        assert alone.tolist() == together.sentence(marginal, s).ravel().tolist()
