"""Sums over trees, projective or any, against enumeration, logarithms and the inverse of the Laplacian."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_trees
from forests import Forest, check_gradient, forests, pair_order, sums
from tagweave.kernels import arborescence_sums, tree, tree_sums

SPREADS = st.sampled_from([0.0, 0.5, 3.0, 50.0, 1000.0])
SINGLE_ROOT = pytest.mark.parametrize("single_root", [True, False])
Floats = NDArray[Any]
Run = Callable[..., tuple[Floats, Floats]]


run = partial(sums, tree_sums.marginals)
run_any = partial(sums, arborescence_sums.marginals, pairs=False)
RUNS = pytest.mark.parametrize("run", [run, run_any], ids=["projective", "any"])


def in_logarithms(scores: Floats, single_root: bool) -> tuple[float, Floats]:
    """log Z and marginals of one sentence, excluded arcs -inf, by the kernel that knows no range."""
    forest = one(scores, single_root)
    log_z, marginal, _ = all_in_logarithms(forest, 0)
    return log_z, marginal


def all_in_logarithms(forest: Forest, s: int) -> tuple[float, Floats, Floats]:
    """As `in_logarithms`, with the marginals of pairs."""
    scores, pairs = forest.excluded(s), forest.in_rows(s)
    n, step = len(scores) - 1, min(1, len(pairs))
    charts, marginal = np.full((10, n + 2, n + 2), np.nan), np.full((n + 1, n + 1), np.nan, np.float32)
    charts[0, : n + 1, : n + 1] = scores
    np.fill_diagonal(charts[0], -np.inf)
    charts[0, :, 0] = -np.inf
    pairs = pairs.astype(np.float64) if step else np.zeros(n + 1)
    of_pairs = np.full(len(pairs), np.nan, np.float32)
    log_z = tree_sums.log_marginals(n, forest.single_root, step, pairs, charts, marginal, of_pairs)
    return log_z, marginal, of_pairs[: len(pairs) * step]


def one(scores: Floats, single_root: bool = True) -> Forest:
    """A batch of one sentence without evidence."""
    return Forest([scores.astype(np.float32)], [np.ones_like(scores, np.uint8)], single_root)


def check(forest: Forest, log_z: Floats, marginal: Floats, projective: bool = True) -> None:
    """Scores and marginals are float32, all between them and log Z is float64."""
    for s, n in enumerate(forest.lengths.tolist()):
        weights = forest.trees(s, projective)
        expected = naive_trees.log_partition(weights)
        np.testing.assert_allclose(log_z[s], expected, rtol=1e-9, atol=1e-9)
        table = naive_trees.marginals(weights, n)
        np.testing.assert_allclose(forest.sentence(marginal, s), table, rtol=1e-6, atol=1e-7)
        cube, found = naive_trees.pair_marginals(weights, n), marginal[forest.pair_ptr[s] : forest.pair_ptr[s + 1]]
        if len(found):
            np.testing.assert_allclose(found, [cube[h][k][m] for h, k, m in pair_order(n)], rtol=1e-6, atol=1e-7)


@RUNS
@settings(max_examples=30)
@given(data=st.data(), spread=SPREADS)
def test_log_z_and_marginals(run: Run, data: st.DataObject, spread: float) -> None:
    forest = data.draw(forests(5, spread, pairs=run is not run_any))
    check(forest, *run(forest), run is not run_any)


@given(SPREADS.flatmap(lambda spread: forests(5, spread, shortest=1, pairs=True)))
def test_in_logarithms(forest: Forest) -> None:
    found = [all_in_logarithms(forest, s) for s in range(len(forest.lengths))]
    flat = np.concatenate([*(marginal.ravel() for _, marginal, _ in found), *(of_pairs for _, _, of_pairs in found)])
    check(forest, np.array([log_z for log_z, _, _ in found]), flat)


@RUNS
@given(forest=forests())
def test_a_score_of_minus_infinity_is_evidence(run: Run, forest: Forest) -> None:
    scores = [forest.excluded(s) for s in range(len(forest.lengths))]
    same = Forest(scores, forest.allowed, forest.single_root)
    for mine, others in zip(run(forest), run(same, free=True), strict=True):
        np.testing.assert_allclose(mine, others, rtol=1e-6, atol=1e-12)


@given(forests(free=True))
def test_no_evidence_is_the_same_as_evidence_that_allows_everything(forest: Forest) -> None:
    for mine, others in zip(run(forest), run(forest, free=True), strict=True):
        assert mine.tolist() == others.tolist()


@RUNS
@given(data=st.data())
def test_where_every_word_has_one_head_left(run: Run, data: st.DataObject) -> None:
    """Trees, projective or not, and what is no tree."""
    forest = data.draw(forests(pairs=run is not run_any))
    for s, n in enumerate(forest.lengths.tolist()):
        heads = data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n), label=f"heads of {s}")
        forest.allowed[s][:] = 0
        forest.allowed[s][heads, range(1, n + 1)] = 1
    check(forest, *run(forest), run is not run_any)


@given(forests(free=True), st.sampled_from([10, 10**4, 10**6]), st.integers(0, 2**32))
def test_a_shift_of_all_arcs_into_a_word_changes_log_z_alone(forest: Forest, size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for table in forest.scores:
        table[:] = np.round(4 * table) / 4  # float32 has all of the sums
    added = [random.integers(-size, size, n + 1).astype(np.float32) for n in forest.lengths]
    moved = replace(forest, scores=[a + b for a, b in zip(forest.scores, added, strict=True)])
    log_z, marginal = run(forest)
    moved_z, moved_marginal = run(moved)
    np.testing.assert_allclose(moved_marginal, marginal, atol=1e-6)
    np.testing.assert_allclose(moved_z - log_z, [row[1:].sum() for row in added], rtol=1e-9, atol=1e-6)


@RUNS
@settings(max_examples=10)
@given(data=st.data())
def test_marginals_are_the_gradient_of_the_loss(run: Run, data: st.DataObject) -> None:
    """log Z(all) - log Z(allowed), in each score, by central differences."""
    check_gradient(run, data.draw(forests(9, 2.0, most=2, shortest=1, pairs=run is not run_any)), data)


@given(SPREADS.flatmap(lambda spread: forests(5, spread, pairs=True)))
def test_entropies(forest: Forest) -> None:
    log_z, marginal = run(forest)
    found = np.full(len(log_z), -7.0)
    tree_sums.entropies(forest.flat(), forest.ptr, forest.pair_ptr, forest.lengths, marginal, log_z, found)
    for s in range(len(log_z)):
        weights = forest.trees(s)
        expected = naive_trees.entropy(weights) if weights else math.nan
        np.testing.assert_allclose(found[s], expected, atol=1e-6 * (1 + np.abs(forest.scores[s]).max()))


def number_of_trees(n: int, single_root: bool, projective: bool) -> int:
    """Of all trees by Cayley: (n + 1)^(n - 1), or n^(n - 1) with one child of the root."""
    if not projective:
        return (n if single_root else n + 1) ** (n - 1)
    return math.comb(3 * n - 2, n - 1) // n if single_root else math.comb(3 * n, n) // (2 * n + 1)


@RUNS
@SINGLE_ROOT
@pytest.mark.parametrize("n", [1, 2, 5, 30, 200, 400])
def test_z_of_equal_scores_counts_the_trees(run: Run, n: int, single_root: bool) -> None:
    log_z, marginal = run(one(np.zeros((n + 1, n + 1)), single_root))
    count = number_of_trees(n, single_root, run is not run_any)
    assert log_z[0] == pytest.approx(math.log(count), rel=1e-12)
    np.testing.assert_allclose(marginal.reshape(n + 1, n + 1).sum(axis=0, dtype=np.float64)[1:], 1, rtol=1e-5)
    if n <= 5:
        assert count == len(naive_trees.trees(n, run is not run_any, single_root))


@SINGLE_ROOT
@pytest.mark.parametrize("spread", [1.0, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("n", [40, 110])
def test_long_sentences_of_any_range(n: int, spread: float, single_root: bool) -> None:
    """The scaled sums, or what stands in for them, are those in logarithms."""
    random = np.random.default_rng(n)
    scores = (random.normal(size=(n + 1, n + 1)) * spread).astype(np.float32)
    log_z, marginal = run(one(scores, single_root))
    expected_z, expected = in_logarithms(scores, single_root)
    assert log_z[0] == pytest.approx(expected_z, rel=1e-12)
    np.testing.assert_allclose(marginal.reshape(expected.shape), expected, rtol=1e-5, atol=1e-12)


@SINGLE_ROOT
@pytest.mark.parametrize("n", [200, 300])
def test_a_long_sentence_that_is_sure_of_bad_arcs(n: int, single_root: bool) -> None:
    """Every arc that scores well is one of a pair of words that govern each other; trees need one bad arc a pair."""
    scores = np.zeros((n + 1, n + 1), np.float32)
    odd = np.arange(1, n, 2)
    scores[odd, odd + 1] = scores[odd + 1, odd] = 300
    log_z, marginal = run(one(scores, single_root))
    table = marginal.reshape(n + 1, n + 1)
    assert 300 * n / 2 < log_z[0] < 300 * n / 2 + 2 * n
    np.testing.assert_allclose(table.sum(axis=0)[1:], 1, rtol=1e-5)
    np.testing.assert_allclose(table[odd, odd + 1] + table[odd + 1, odd], 1, rtol=1e-5)


@RUNS
@SINGLE_ROOT
@pytest.mark.parametrize("gap", range(100, 901, 50))
def test_trees_on_the_edge_of_the_range(run: Run, gap: int, single_root: bool) -> None:
    """Potentials of every tree are near exp(-gap): from what is exact by far to what would be 0."""
    scores = np.random.default_rng(gap).normal(size=(5, 5)).astype(np.float32)
    for h, m in ((1, 2), (2, 1), (3, 4), (4, 3)):
        scores[h, m] += gap / 2
    forest = one(scores, single_root)
    check(forest, *run(forest), run is not run_any)
    forest.scores[0][[1, 2], [2, 1]] += gap / 2
    check(forest, *run(forest), run is not run_any)


@pytest.mark.parametrize("n", [3, 60])
def test_a_best_tree_far_above_all_others_is_certain(n: int) -> None:
    scores = np.random.default_rng(n).normal(size=(n + 1, n + 1)).astype(np.float32)
    heads = np.empty(n, np.int32)
    tree.best_heads(scores.ravel(), np.array([0]), np.zeros(2, np.int64), np.array([n]), True, heads)
    scores[heads, range(1, n + 1)] += 1e4
    log_z, marginal = run(one(scores))
    expected = np.zeros((n + 1, n + 1))
    expected[heads, range(1, n + 1)] = 1
    np.testing.assert_allclose(marginal.reshape(n + 1, n + 1), expected, atol=1e-6)
    assert log_z[0] == pytest.approx(float(scores[heads, range(1, n + 1)].sum(dtype=np.float64)), rel=1e-9)


@RUNS
def test_a_sentence_does_not_depend_on_the_batch_around_it(run: Run) -> None:
    random = np.random.default_rng(3)
    scores = [random.normal(size=(n + 1, n + 1)) for n in (7, 0, 1, 12, 2)]
    together = Forest(scores, [np.ones_like(table, np.uint8) for table in scores], True)
    log_z, marginal = run(together)
    for s, table in enumerate(scores):
        alone_z, alone = run(one(table))
        assert alone_z[0] == log_z[s]
        assert alone.tolist() == together.sentence(marginal, s).ravel().tolist()


@given(forests(5, free=True))
def test_the_diagonal_and_column_0_are_not_read(forest: Forest) -> None:
    log_z, _ = run_any(forest)
    for table in forest.scores:
        np.fill_diagonal(table, np.nan)
        table[:, 0] = np.inf
    assert run_any(forest)[0].tolist() == log_z.tolist()


@given(forests(4, 1.0, shortest=2), st.data())
def test_two_words_that_must_be_children_of_the_root(forest: Forest, data: st.DataObject) -> None:
    """No tree, if the root has one child; whatever the scores of trees with two are."""
    for s, n in enumerate(forest.lengths.tolist()):
        one, other = data.draw(st.permutations(range(1, n + 1)), label=f"children in {s}")[:2]
        forest.allowed[s][:] = 1
        forest.allowed[s][1:, [one, other]] = 0
        forest.scores[s][0] += data.draw(st.sampled_from([0, 100, 1000]), label="score of the root")
    check(forest, *run_any(forest), projective=False)


@SINGLE_ROOT
@pytest.mark.parametrize("spread", [1.0, 5.0])
@pytest.mark.parametrize("n", [40, 130])
def test_long_sentences_against_the_inverse_laplacian(n: int, spread: float, single_root: bool) -> None:
    """Koo et al. 2007, equations 2 to 7, where these lose no digits."""
    scores = (np.random.default_rng(n).normal(size=(n + 1, n + 1)) * spread).astype(np.float32)
    log_z, marginal = run_any(one(scores, single_root))
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
def test_pairs_of_words_that_govern_each_other(bond: int, single_root: bool) -> None:
    """Pairs of words that govern each other: the determinant is exp(-bond) of its terms for each."""
    n = 120
    scores = np.zeros((n + 1, n + 1), np.float32)
    odd = np.arange(1, n, 2)
    scores[odd, odd + 1] = scores[odd + 1, odd] = bond
    log_z, marginal = run_any(one(scores, single_root))
    table = marginal.reshape(n + 1, n + 1)
    pairs = n // 2  # of each one word has the other as its head, and any other word, or the root, has all pairs
    trees = pairs * math.log(2) + (pairs - 1) * math.log(n + 1 - single_root)
    assert log_z[0] == pytest.approx(pairs * bond + trees, rel=1e-6)
    np.testing.assert_allclose(table.sum(axis=0)[1:], 1, rtol=1e-5)
    np.testing.assert_allclose(table[odd, odd + 1] + table[odd + 1, odd], 1, rtol=1e-5)
