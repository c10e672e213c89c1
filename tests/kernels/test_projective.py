"""Projectivity and lifting against definitions, over all trees and forests of few words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_trees
from tagweave.kernels import projective


@st.composite
def headings(draw: st.DrawFn, longest: int = 8, least: int = -1) -> list[int]:
    """Heads of some words, trees or not."""
    n = draw(st.integers(0, longest))
    return draw(st.lists(st.integers(least, n), min_size=n, max_size=n))


@st.composite
def forests_of_known(draw: st.DrawFn) -> list[int]:
    """Heads without cycles, some unknown."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 9)) + 1)))
    heads = [0] * len(order)
    for place, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([-1, 0, *order[:place]]))
    return heads


def array(heads: list[int] | tuple[int, ...]) -> np.ndarray:
    return np.array(heads, np.int32)


def lifted(heads: tuple[int, ...] | list[int]) -> tuple[tuple[int, ...], int]:
    result = array(heads)
    lifts = projective.projectivise(result)
    return tuple(result.tolist()), lifts


def naive_lifted(heads: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """A tree's shortest arc that is not projective is lifted, of equal ones the leftmost, until there is none."""
    now, lifts = list(heads), 0
    while True:
        bad = [
            (abs(h - m), m)
            for m, h in enumerate(now, 1)
            if any(h not in naive_trees.ancestors(now, k) for k in range(min(h, m) + 1, max(h, m)))
        ]
        if not bad:
            return tuple(now), lifts
        word = min(bad)[1]
        now[word - 1] = now[now[word - 1] - 1]
        lifts += 1


@given(headings(6), st.booleans())
def test_is_tree(heads: list[int], single_root: bool) -> None:
    known = all(h >= 0 for h in heads)
    expected = known and naive_trees.is_tree(heads) and (not single_root or heads.count(0) == 1 or not heads)
    assert projective.is_tree(array(heads), single_root) == expected


@given(headings(6))
def test_has_cycle(heads: list[int]) -> None:
    expected = any(m in _above(heads, m) for m in range(1, len(heads) + 1))
    assert projective.has_cycle(array(heads)) == expected


def _above(heads: list[int], word: int) -> list[int]:
    above: list[int] = []
    word = heads[word - 1]
    while word > 0 and word not in above:
        above.append(word)
        word = heads[word - 1]
    return above


@pytest.mark.parametrize("n", range(6))
def test_every_tree(n: int) -> None:
    for heads in naive_trees.trees(n, False, False):
        expected = naive_trees.is_projective(heads)
        assert projective.is_projective(array(heads)) == expected
        result, lifts = lifted(heads)
        assert (result, lifts) == naive_lifted(heads)
        assert (lifts == 0) == expected
        assert naive_trees.is_tree(result)
        assert naive_trees.is_projective(result)
        if n > 0 and heads.count(0) == 1:
            assert result.count(0) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_known_arcs_cross_or_are_those_of_a_projective_tree(n: int) -> None:
    """Where one child of the root is enough for the known heads; with several, too."""
    trees = naive_trees.trees(n, True, False)
    for heads in product(range(-1, n + 1), repeat=n):
        if any(h == m for m, h in enumerate(heads, 1)) or projective.has_cycle(array(heads)):
            continue
        possible = any(all(h in (-1, g) for h, g in zip(heads, tree, strict=True)) for tree in trees)
        if possible:
            assert projective.is_projective(array(heads))


@given(forests_of_known())
def test_lifting_known_heads_leaves_heads_above_or_unknown(heads: list[int]) -> None:
    result, lifts = lifted(heads)
    assert projective.is_projective(array(result))
    assert (lifts == 0) == (list(result) == heads)
    for m, (before, after) in enumerate(zip(heads, result, strict=True), 1):
        assert after in [-1, before, 0, *_above(heads, m)]
        assert before != -1 or after == -1


@given(headings(6, 0))
def test_heads_with_a_cycle_stay_as_they_are(heads: list[int]) -> None:
    result, lifts = lifted(heads)
    assert (lifts == -1) == (not naive_trees.is_tree(heads))
    if lifts == -1:
        assert list(result) == heads
