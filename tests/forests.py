"""Batches of random sentences for the tree kernels, laid out flat, with their twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_trees


@dataclass(frozen=True)
class Forest:
    """A batch: arc scores and evidence of every sentence, [n + 1, n + 1] each."""

    scores: list[NDArray[Any]]
    allowed: list[NDArray[np.uint8]]
    single_root: bool

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.array([len(table) - 1 for table in self.scores], np.int64)

    @property
    def ptr(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum((self.lengths + 1) ** 2)]).astype(np.int64)

    @property
    def token_ptr(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    def flat(self) -> NDArray[np.float32]:
        """All scores, one sentence behind the other, in the type of a parser's."""
        return np.concatenate([table.ravel() for table in self.scores]).astype(np.float32)

    def evidence(self) -> NDArray[np.uint8]:
        """All evidence, one sentence behind the other."""
        return np.concatenate([table.ravel() for table in self.allowed])

    def excluded(self, s: int) -> NDArray[Any]:
        """The scores of a sentence, -inf where its evidence excludes an arc."""
        return np.where(self.allowed[s] > 0, self.scores[s], -np.inf)

    def trees(self, s: int, projective: bool = True) -> dict[naive_trees.Heads, float]:
        """The scores of all trees that sentence s allows."""
        return naive_trees.tree_scores(self.excluded(s).tolist(), projective, self.single_root)

    def sentence(self, values: NDArray[Any], s: int) -> NDArray[Any]:
        """What flat values say of the arcs of a sentence."""
        n = len(self.scores[s])
        return values[self.ptr[s] : self.ptr[s + 1]].reshape(n, n)


@st.composite
def forests(
    draw: st.DrawFn, longest: int = 5, spread: float = 3.0, free: bool = False, most: int = 3, shortest: int = 0
) -> Forest:
    """Sentences of shortest .. longest words; evidence from everything to nothing, unless `free`."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(shortest, longest), min_size=1, max_size=most))
    kept = 1.0 if free else draw(st.sampled_from([1.0, 0.8, 0.5, 0.2]))
    scores = [(random.normal(size=(n + 1, n + 1)) * spread).astype(np.float32) for n in lengths]
    allowed = [(random.random((n + 1, n + 1)) < kept).astype(np.uint8) for n in lengths]
    return Forest(scores, allowed, draw(st.booleans()))
