"""Paths through a guide tree against walking step by step; any heads are accepted."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.kernels.arcs import FARTHEST, tree_paths

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
