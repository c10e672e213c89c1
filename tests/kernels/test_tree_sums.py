"""Sums over projective trees against the enumeration of all of them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_trees
from forests import Forest, forests
from tagweave.kernels import tree_sums

SPREADS = st.sampled_from([0.0, 0.5, 3.0, 50.0, 1000.0])


def run(forest: Forest, dtype: type = np.float64, free: bool = False) -> tuple[NDArray[np.float64], NDArray]:
    """log Z and marginals."""
    scores, allowed = forest.flat(dtype), np.empty(0, np.uint8) if free else forest.evidence()
    marginal, log_z = np.full_like(scores, np.nan), np.full(len(forest.lengths), np.nan)
    tree_sums.marginals(scores, allowed, forest.ptr, forest.lengths, forest.single_root, marginal, log_z)
    return log_z, marginal


def check(forest: Forest, log_z: NDArray[np.float64], marginal: NDArray, precision: float) -> None:
    for s, n in enumerate(forest.lengths.tolist()):
        weights = forest.trees(s)
        expected = naive_trees.log_partition(weights)
        np.testing.assert_allclose(log_z[s], expected, rtol=precision, atol=precision)
        table = naive_trees.marginals(weights, n)
        np.testing.assert_allclose(forest.sentence(marginal, s), table, rtol=precision, atol=precision)


@settings(max_examples=200)
@given(SPREADS.flatmap(lambda spread: forests(6, spread)))
def test_log_z_and_marginals(forest: Forest) -> None:
    check(forest, *run(forest), 1e-9)


@given(forests(5, 1.0))
def test_in_single_precision(forest: Forest) -> None:
    log_z, marginal = run(forest, np.float32)
    assert marginal.dtype == np.float32
    check(forest, log_z, marginal, 1e-5)
