"""The best trees, projective or any, against enumeration."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_trees
from forests import Forest, forests
from tagweave.kernels import arborescence, tree

PROJECTIVE = pytest.mark.parametrize("projective", [True, False])


def best(forest: Forest, projective: bool = True) -> list[tuple[int, ...]]:
    scores, heads = forest.flat(), np.full(forest.lengths.sum(), -7, np.int32)
    tree.exclude(scores, forest.evidence())
    if projective:
        tree.best_heads(scores, forest.ptr, forest.pair_ptr, forest.lengths, forest.single_root, heads)
    else:
        arborescence.best_arborescence(scores, forest.ptr, forest.lengths, forest.single_root, heads)
    return [tuple(heads[a:b].tolist()) for a, b in pairwise(forest.token_ptr)]


@PROJECTIVE
@settings(max_examples=60)
@given(data=st.data(), spread=st.sampled_from([0.5, 3.0, 300.0]))
def test_the_best_tree(projective: bool, data: st.DataObject, spread: float) -> None:
    forest = data.draw(forests(5, spread, pairs=projective))
    for s, found in enumerate(best(forest, projective)):
        weights = forest.trees(s, projective)
        if weights:
            assert weights[found] == pytest.approx(max(weights.values()), rel=1e-6, abs=1e-6)
        else:
            assert set(found) == {-1}


@PROJECTIVE
@given(forest=forests(free=True))
def test_the_diagonal_and_column_0_are_not_read(projective: bool, forest: Forest) -> None:
    expected = best(forest, projective)
    for table in forest.scores:
        np.fill_diagonal(table, math.nan)
        table[:, 0] = math.inf
    assert best(forest, projective) == expected


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


def test_one_root_may_cost_more_than_the_widest_gap_between_two_arcs() -> None:
    """To hang word 2 from no root, word 3 must change its head too: 20 worse, where two arcs are 10 apart at most."""
    scores, allowed = np.zeros((4, 4)), np.zeros((4, 4), np.uint8)
    for head, word in ((0, 1), (0, 2), (2, 3), (3, 2), (1, 3)):
        allowed[head, word] = 1
    scores[3, 2] = scores[1, 3] = -10
    assert best(Forest([scores], [allowed], single_root=True), False) == [(0, 3, 1)]
    assert best(Forest([scores], [allowed], single_root=False), False) == [(0, 0, 2)]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [30, 120])
def test_cycles_within_cycles(n: int, single_root: bool) -> None:
    """Words in pairs, pairs of pairs and so on, the smaller the more closely bound; then a planted tree above all."""
    random = np.random.default_rng(n)
    words = np.arange(n + 1)
    near = [(words[:, None] >> level) == (words >> level) for level in range(8)]
    scores = (np.sum(near, axis=0) + random.uniform(size=(n + 1, n + 1)) * 0.5).astype(np.float32)
    all_of_them = np.ones_like(scores, np.uint8)
    found = best(Forest([scores], [all_of_them], single_root), False)[0]
    assert naive_trees.is_tree(found)
    assert not single_root or found.count(0) == 1
    assert naive_trees.score(scores.tolist(), found) >= max(
        naive_trees.score(scores.tolist(), other) for other in changed(found, random, single_root)
    )
    planted = [0] * n
    order = random.permutation(words[1:])
    for place in range(1, n):
        planted[order[place] - 1] = int(random.choice(order[:place]))
    scores[planted, words[1:]] += 20
    assert best(Forest([scores], [all_of_them], single_root), False)[0] == tuple(planted)


def changed(heads: tuple[int, ...], random: np.random.Generator, single_root: bool) -> list[tuple[int, ...]]:
    """Trees in which one word has another head, and the tree itself."""
    others = [heads]
    for _ in range(300):
        m, h = random.integers(1, len(heads) + 1, 2).tolist()
        other = (*heads[: m - 1], h, *heads[m:])
        if naive_trees.is_tree(other) and (not single_root or other.count(0) == 1):
            others.append(other)
    return others
