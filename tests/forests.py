"""Batches of random sentences for the tree kernels, laid out flat, with their twins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_trees

Floats = NDArray[Any]


@dataclass(frozen=True)
class Forest:
    """A batch: arc scores and evidence of every sentence, [n + 1, n + 1] each; and scores of pairs of siblings,
    [n + 1, n + 1, n + 1] by head, sibling and modifier, or empty for a sentence without."""

    scores: list[NDArray[Any]]
    allowed: list[NDArray[np.uint8]]
    single_root: bool
    pairs: list[NDArray[Any]] = field(default_factory=list)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.array([len(table) - 1 for table in self.scores], np.int64)

    @property
    def ptr(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum((self.lengths + 1) ** 2)]).astype(np.int64)

    @property
    def token_ptr(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @property
    def pair_ptr(self) -> NDArray[np.int64]:
        """Where the pairs of every sentence begin, behind all arcs."""
        counts = [len(self.in_rows(s)) for s in range(len(self.scores))]
        return self.ptr[-1] + np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def in_rows(self, s: int) -> NDArray[Any]:
        """The scores of the pairs of a sentence in the order of the kernels."""
        n = len(self.scores[s]) - 1
        if not self.pairs or not len(self.pairs[s]):
            return np.zeros(0)
        return np.array([self.pairs[s][h, k, m] for h, k, m in pair_order(n)])

    def flat(self) -> NDArray[np.float32]:
        """All scores, one sentence behind the other, in the type of a parser's; then those of all pairs."""
        pairs = [self.in_rows(s) for s in range(len(self.scores))]
        return np.concatenate([*(table.ravel() for table in self.scores), *pairs]).astype(np.float32)

    def evidence(self) -> NDArray[np.uint8]:
        """All evidence, one sentence behind the other."""
        return np.concatenate([table.ravel() for table in self.allowed])

    def excluded(self, s: int) -> NDArray[Any]:
        """The scores of a sentence, -inf where its evidence excludes an arc."""
        return np.where(self.allowed[s] > 0, self.scores[s], -np.inf)

    def trees(self, s: int, projective: bool = True) -> dict[naive_trees.Heads, float]:
        """The scores of all trees that sentence s allows."""
        pairs = self.pairs[s].tolist() if self.pairs and len(self.pairs[s]) else None
        return naive_trees.tree_scores(self.excluded(s).tolist(), projective, self.single_root, pairs)

    def sentence(self, values: NDArray[Any], s: int) -> NDArray[Any]:
        """What flat values say of the arcs of a sentence."""
        n = len(self.scores[s])
        return values[self.ptr[s] : self.ptr[s + 1]].reshape(n, n)


def pair_order(n: int) -> list[tuple[int, int, int]]:
    """Head, sibling (the head for none) and modifier of every pair, in the order of the kernels."""
    ends = [(i, k, x) for i in range(n) for k in range(i, n) for x in range(k + 1, n + 1)]
    return ends + [(x, k if k > i else x, i) for i, k, x in ends]


def tables(flat: NDArray[Any], n: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The flat numbers of one sentence: of arcs, [n + 1, n + 1], and of pairs, [n + 1, n + 1, n + 1], if it has any."""
    arcs, pairs = flat[: (n + 1) ** 2].reshape(n + 1, n + 1), flat[(n + 1) ** 2 :]
    if not len(pairs):
        return arcs, None
    cube = np.zeros((n + 1,) * 3, flat.dtype)
    cube[tuple(np.array(pair_order(n)).T)] = pairs
    return arcs, cube


@st.composite
def forests(
    draw: st.DrawFn,
    longest: int = 5,
    spread: float = 3.0,
    free: bool = False,
    most: int = 3,
    shortest: int = 0,
    pairs: bool = False,
) -> Forest:
    """Sentences of shortest .. longest words; evidence from everything to nothing, unless `free`; with `pairs`, those
    of some have scores."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(shortest, longest), min_size=1, max_size=most))
    kept = 1.0 if free else draw(st.sampled_from([1.0, 0.8, 0.5, 0.2]))
    scores = [(random.normal(size=(n + 1, n + 1)) * spread).astype(np.float32) for n in lengths]
    allowed = [(random.random((n + 1, n + 1)) < kept).astype(np.uint8) for n in lengths]
    cubes = [(random.normal(size=(n + 1,) * 3) * spread).astype(np.float32) for n in lengths if pairs]
    chosen = [cube if random.random() < 0.7 else cube[:0] for cube in cubes]
    return Forest(scores, allowed, draw(st.booleans()), chosen)


def sums(marginals: Any, forest: Forest, free: bool = False, pairs: bool = True) -> tuple[Floats, Floats]:
    """log Z and marginals by a kernel, under the evidence or, if `free`, without; `pairs`: whether it knows any."""
    scores, allowed = forest.flat(), np.empty(0, np.uint8) if free else forest.evidence()
    marginal, log_z = np.full_like(scores, np.nan), np.full(len(forest.lengths), np.nan)
    ptr = (forest.ptr, forest.pair_ptr) if pairs else (forest.ptr,)
    marginals(scores, allowed, *ptr, forest.lengths, forest.single_root, marginal, log_z)
    return log_z, marginal


def check_gradient(run: Callable[..., tuple[Floats, Floats]], forest: Forest, data: st.DataObject) -> None:
    """Marginals are the gradient of log Z(all) - log Z(allowed), in each score, by central differences."""
    step = 2.0**-10
    losses, gradients = [], []
    for table in forest.scores:
        table[:] = np.round(table / step) * step  # float32 has what a step is added to
    possible = np.isfinite(run(forest)[0])
    s = data.draw(st.integers(0, len(forest.lengths) - 1))
    n = len(forest.scores[s])
    h, m = data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
    for sign in (+1, -1):
        forest.scores[s][h, m] += sign * step
        losses.append(np.where(possible, run(forest, free=True)[0] - run(forest)[0], 0).sum())
        gradients.append(run(forest, free=True)[1] - run(forest)[1])
        forest.scores[s][h, m] -= sign * step
    if possible[s]:
        slope = forest.sentence(sum(gradients) / 2, s)[h, m]
        assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(slope, abs=1e-6)
