"""Paths through a guide tree against walking step by step; any heads are accepted."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_trees import ancestors
from tagweave.kernels.arcs import FARTHEST, PATHS, tree_paths

HEADS = st.lists(st.integers(-2, 8), max_size=7)


def walked(heads: list[int], h: int, m: int) -> int:
    """The number of a path, by going up from both ends until the ways meet."""
    n = len(heads)
    inside = [head if 0 <= head <= n else -1 for head in heads]
    ways = []
    for end in (m, h):
        way = [end]
        while way[-1] > 0 and len(way) <= n:
            way.append(inside[way[-1] - 1])
        if way[-1] != 0:
            return 0
        ways.append(way)
    up, down = next((i, ways[1].index(a)) for i, a in enumerate(ways[0]) if a in ways[1])
    return 1 + min(up, FARTHEST) * (FARTHEST + 1) + min(down, FARTHEST)


@settings(max_examples=100, deadline=None)
@given(st.lists(HEADS, min_size=1, max_size=4))
def test_paths_agree_with_walking(batch: list[list[int]]) -> None:
    ptr = np.concatenate([[0], np.cumsum([len(heads) + 1 for heads in batch])]).astype(np.int64)
    paths = np.full(sum((len(heads) + 1) ** 2 for heads in batch), 99, np.uint8)
    tree_paths(np.array([head for heads in batch for head in (-7, *heads)], np.int32), ptr, paths)
    expected = [walked(heads, h, m) for heads in batch for h in range(len(heads) + 1) for m in range(len(heads) + 1)]
    assert paths.tolist() == expected


def test_what_the_numbers_mean() -> None:
    heads = [2, 0, 2, 3, 4, 5]  # 1 <- 2 -> 3 -> 4 -> 5 -> 6
    paths = np.zeros(49, np.uint8)
    tree_paths(np.array([0, *heads], np.int32), np.array([0, 7], np.int64), paths)
    steps = {(h, m): divmod(int(paths[h * 7 + m]) - 1, FARTHEST + 1) for h in range(7) for m in range(7)}
    assert steps[2, 1] == (1, 0)  # its head
    assert steps[1, 2] == (0, 1)
    assert steps[1, 3] == (1, 1)
    assert steps[0, 1] == (2, 0)
    assert steps[1, 4] == (2, 1)
    assert steps[4, 1] == (1, 2)
    assert steps[2, 6] == (3, 0)  # four steps count as three
    assert steps[6, 1] == (1, 3)
    assert steps[5, 5] == (0, 0)
    assert paths.max() < PATHS


@given(st.integers(1, 7), st.integers(0, 2**20))
def test_trees_have_a_path_for_every_pair(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    heads = [int(rng.integers(0, m)) for m in range(1, n + 1)]
    paths = np.zeros((n + 1) ** 2, np.uint8)
    tree_paths(np.array([0, *heads], np.int32), np.array([0, n + 1], np.int64), paths)
    assert paths.all()
    table = paths.reshape(n + 1, n + 1)
    for m in range(1, n + 1):
        above = ancestors(heads, m)
        assert [int(table[h, m] - 1) // (FARTHEST + 1) for h in above] == [
            min(up, FARTHEST) for up in range(1, len(above) + 1)
        ]
        assert all((table[h, m] - 1) % (FARTHEST + 1) == 0 for h in above)
