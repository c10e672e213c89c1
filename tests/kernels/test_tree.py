"""The best projective trees against enumeration."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_trees
from forests import Forest, forests
from tagweave.kernels import tree


def best(forest: Forest) -> list[tuple[int, ...]]:
    scores, heads = forest.flat(), np.full(forest.lengths.sum(), -7, np.int32)
    tree.exclude(scores, forest.evidence())
    tree.best_heads(scores, forest.ptr, forest.pair_ptr, forest.lengths, forest.single_root, heads)
    ptr = forest.token_ptr
    return [tuple(heads[a:b].tolist()) for a, b in pairwise(ptr)]


@settings(max_examples=60)
@given(st.sampled_from([0.5, 3.0, 300.0]).flatmap(lambda spread: forests(5, spread, pairs=True)))
def test_the_best_tree(forest: Forest) -> None:
    for s, found in enumerate(best(forest)):
        weights = forest.trees(s)
        if not weights:
            assert set(found) == {-1}
        else:
            assert weights[found] == pytest.approx(max(weights.values()), rel=1e-6, abs=1e-6)


@given(forests(free=True))
def test_the_diagonal_and_column_0_are_not_read(forest: Forest) -> None:
    expected = best(forest)
    for table in forest.scores:
        np.fill_diagonal(table, math.nan)
        table[:, 0] = math.inf
    assert best(forest) == expected


@given(forests(), st.data())
def test_evidence_of_one_tree_is_that_tree(forest: Forest, data: st.DataObject) -> None:
    expected = []
    for s, n in enumerate(forest.lengths.tolist()):
        heads = data.draw(st.sampled_from(naive_trees.trees(n, True, forest.single_root)))
        forest.allowed[s][:] = 0
        forest.allowed[s][list(heads), range(1, n + 1)] = 1
        expected.append(heads)
    assert best(forest) == expected


@given(st.integers(1, 5), st.booleans(), st.data())
def test_a_non_projective_tree_alone_is_no_tree(n: int, single_root: bool, data: st.DataObject) -> None:
    heads = data.draw(st.sampled_from(naive_trees.trees(n, False, single_root)))
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[list(heads), range(1, n + 1)] = 0
    found = best(Forest([scores], [np.ones((n + 1, n + 1), np.uint8)], single_root))
    assert found == [heads if naive_trees.is_projective(heads) else (-1,) * n]


def test_ties_are_broken_the_same_way_each_time() -> None:
    forest = Forest([np.zeros((6, 6))] * 2, [np.ones((6, 6), np.uint8)] * 2, True)
    one, other = best(forest)
    assert one == other
    assert one in naive_trees.trees(5, True, True)


@pytest.mark.parametrize("n", [60, 250])
@pytest.mark.parametrize("single_root", [True, False])
def test_long_sentences_get_the_tree_behind_the_scores(n: int, single_root: bool) -> None:
    """Its arcs score 1 more than any other."""
    random = np.random.default_rng(n)
    heads = random_projective(random, n)
    scores = random.uniform(-50, 0, size=(n + 1, n + 1))
    scores[heads, range(1, n + 1)] = 1
    forest = Forest([scores, scores[:4, :4]], [np.ones_like(scores, np.uint8), np.ones((4, 4), np.uint8)], single_root)
    assert best(forest)[0] == tuple(heads)


def random_projective(random: np.random.Generator, n: int) -> list[int]:
    """A projective tree with one child of the root: a span's head, then the spans on its sides, cut at random."""
    heads = [0] * n

    def attach(low: int, high: int, head: int) -> None:
        while low < high:
            cut = int(random.integers(low, high)) + 1
            child = int(random.integers(low, cut))
            heads[child - 1] = head
            attach(low, child, child)
            attach(child + 1, cut, child)
            low = cut

    root = int(random.integers(1, n + 1))
    attach(1, root, root)
    attach(root + 1, n + 1, root)
    return heads
