"""Both tests against exact enumeration, and what must hold of any p-value."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from tagweave.evaluation import score
from tagweave.evaluation.score import f_of_counts, randomisation_test, share_of_counts, wilcoxon_test

row = st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)).map(
    lambda item: (item[0], item[0] + item[1], item[0] + item[2])
)
"""Right, gold and system words of a sentence."""
pairs = st.lists(st.tuples(row, row), min_size=1, max_size=7).filter(
    lambda rows: all(sum(sum(item[side]) for item in rows) for side in (0, 1))
)


def f_of(rows):
    right, gold, system = (sum(column) for column in zip(*rows, strict=True))
    return 2 * right / (gold + system) if gold + system else float("nan")


def exact(first, second):
    """The share of all 2^S exchanges whose F scores differ at least as much as the observed ones."""
    observed = abs(f_of(first) - f_of(second))
    extreme = []
    for exchange in product((False, True), repeat=len(first)):
        ours = [b if swap else a for a, b, swap in zip(first, second, exchange, strict=True)]
        theirs = [a if swap else b for a, b, swap in zip(first, second, exchange, strict=True)]
        extreme.append(not abs(f_of(ours) - f_of(theirs)) < observed - 1e-12)
    return sum(extreme) / len(extreme)


@settings(max_examples=25, deadline=None)
@given(pairs, st.integers(0, 2**32))
def test_randomisation_approaches_exact_enumeration(rows, seed):
    first, second = ([pair[side] for pair in rows] for side in (0, 1))
    found = randomisation_test(first, second, f_of_counts, seed=seed)
    assert found == pytest.approx(exact(first, second), abs=0.03)  # six standard deviations of 10,000 trials


@settings(max_examples=25, deadline=None)
@given(pairs, st.integers(1, 300), st.integers(0, 100))
def test_the_order_of_the_systems_does_not_matter(rows, trials, seed):
    first, second = ([pair[side] for pair in rows] for side in (0, 1))
    found = randomisation_test(first, second, f_of_counts, trials, seed)
    assert found == randomisation_test(second, first, f_of_counts, trials, seed)
    assert 1 / (trials + 1) <= found <= 1


def test_scores_are_computed_from_sums_and_not_from_means():
    """One long sentence decides every exchange: 800 and two ones never differ less than observed, 800 - 1 - 1.

    A test on the accuracies of sentences (0.8, -1, -1) would have said 1/2.
    """
    first, second = [[900, 1000], [0, 1], [0, 1]], [[100, 1000], [1, 1], [1, 1]]
    assert randomisation_test(first, second, share_of_counts) == 1


def test_an_exchange_that_leaves_a_score_undefined_counts_as_extreme():
    """Each system answers one sentence only: half of the exchanges give all answers to one side."""
    assert randomisation_test([[1, 1], [0, 0]], [[0, 0], [1, 2]], share_of_counts) == 1


def test_the_seed_repeats_the_draw():
    right = np.random.default_rng(3).integers(0, 8, (2, 40, 1))
    counts = np.concatenate([right, np.full_like(right, 9)], axis=2)
    first, second = ([randomisation_test(*counts, share_of_counts, 500, seed) for seed in range(8)] for _ in "ab")
    assert first == second
    assert len(set(first)) > 1


def test_blocks_do_not_change_the_number_of_trials(monkeypatch):
    first, second = np.tile([[5, 10]], (60, 1)), np.tile([[8, 10]], (60, 1))
    monkeypatch.setattr(score, "_BLOCK", 130)
    assert randomisation_test(first, second, share_of_counts, trials=99) == 0.01
    monkeypatch.setattr(score, "_BLOCK", 1)
    assert randomisation_test(first, second, share_of_counts, trials=9) == 0.1
    monkeypatch.setattr(score, "_BLOCK", 4)
    assert randomisation_test(first, first, share_of_counts, trials=9) == 1.0


@pytest.mark.parametrize(
    ("first", "second", "trials", "message"),
    [
        ([[1, 2]], [[1, 2], [1, 2]], 10, "found shapes"),
        ([1, 2], [1, 2], 10, "expected two alike of 2 dimensions"),
        ([[1, 2]], [[1, 2]], 0, "found 0 trials"),
        ([[0, 0]], [[1, 2]], 10, "undefined score"),
    ],
)
def test_what_cannot_be_tested_is_an_error(first, second, trials, message):
    with pytest.raises(ValueError, match=message):
        randomisation_test(first, second, share_of_counts, trials)


def test_wilcoxon_leaves_out_undefined_scores_and_equal_pairs():
    first, second = [0.9, 0.8, 0.7, 0.95, 0.6], [0.5, 0.6, 0.65, 0.1, 0.59]
    padded = [*first, float("nan"), 0.4, 0.3], [*second, 0.2, float("nan"), 0.3]
    assert wilcoxon_test(*padded) == wilcoxon_test(first, second) == 2 / 2**5
    assert wilcoxon_test([float("nan")], [1.0]) == 1
    assert wilcoxon_test([], []) == 1


@pytest.mark.parametrize("pairs", [1, 2, 5, 12, 30, 50, 51, 200])
@pytest.mark.parametrize("decimals", [1, 9])
@pytest.mark.filterwarnings("ignore:Exact p-value")
def test_wilcoxon_is_scipys(pairs: int, decimals: int) -> None:
    rng = np.random.default_rng(pairs)
    differences = np.round(rng.normal(0.3, 1, pairs), decimals)
    differences = differences[differences != 0]
    how = "exact" if len(differences) <= 50 and len(set(abs(differences))) == len(differences) else "approx"
    expected = wilcoxon(differences, method=how).pvalue
    assert wilcoxon_test(differences, np.zeros(len(differences))) == pytest.approx(expected, rel=1e-9)


def test_wilcoxon_ranks_differences_alike_that_differ_by_rounding():
    thirds, others = [2 / 3, 1 / 3, 1.0, 2 / 3, 1 / 3, 1.0, 0.25], [1 / 3, 0.0, 2 / 3, 1.0, 2 / 3, 2 / 3, 0.0]
    assert wilcoxon_test(thirds, others) == wilcoxon_test([3.0, 3.0, 3.0, -3.0, -3.0, 3.0, 1.0], [0.0] * 7)
