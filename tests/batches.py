"""Random batches of chains, as arrays for the kernels and as naive chains for the twin."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

import naive
from tagweave.evidence.sequences import Evidence
from tagweave.kernels import chain, products
from tagweave.labels.sets import LabelRows
from tagweave.structures.chain import ChainScores
from tagweave.structures.lockstep import Sums as SumsOfBatch
from tagweave.structures.lockstep import TransitionScores

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats = NDArray[Any] if TYPE_CHECKING else Any


EXACT = {"rtol": 1e-9, "atol": 1e-11}
SINGLE = {"rtol": 2e-4, "atol": 2e-5}


@dataclass(frozen=True)
class Case:
    """Sentences over Y labels that share transition scores, with evidence.

    Attributes:
        lengths: the tokens of each sentence.
        scores: [n, Y].
        transition, start, end: -inf where forbidden.
        allow: int32[n], a row of masks for every token.
        masks: [sets, Y], 1 for the labels of a set, or a likelihood.
        noise: empty, or float64[n].
    """

    lengths: list[int]
    scores: Floats
    transition: Floats
    start: Floats
    end: Floats
    allow: NDArray[np.int32]
    masks: Floats
    noise: NDArray[np.float64]

    @property
    def ptr(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @property
    def evidence(self) -> Evidence:
        others = {"sets": self.allow, "noise": self.noise, "rows": LabelRows(self.masks)}
        return replace(Evidence.unknown(self.ptr), **others)

    def scores_as(self, dtype: type[np.floating[Any]]) -> ChainScores:
        edges = (self.transition, self.start, self.end)
        return ChainScores(
            self.scores.astype(dtype), TransitionScores.of_scores(*(each.astype(dtype) for each in edges))
        )

    def shares(self) -> Floats:
        """[n, Y]: 1 for allowed labels, the noise for others."""
        kept = self.noise[:, None] if len(self.noise) else np.zeros((len(self.allow), 1))
        return np.maximum(self.masks[self.allow], kept)

    def chains(self, restricted: bool) -> list[naive.Chain | None]:
        """The twin of every sentence; `None` for an empty one."""
        edges = zip(self.ptr, self.ptr[1:], strict=False)
        shares = self.shares()
        return [
            naive.Chain(
                self.scores[a:b].tolist(),
                self.transition.tolist(),
                self.start.tolist(),
                self.end.tolist(),
                shares[a:b].tolist() if restricted else None,
            )
            if b > a
            else None
            for a, b in edges
        ]


@st.composite
def cases(draw: st.DrawFn, spread: float = 4.0, free: bool = False, noisy: bool = True) -> Case:
    """Cases of up to five sentences of up to five tokens; `free`: no forbidden transitions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.integers(1, 5))
    lengths = draw(st.lists(st.integers(0, 5 if size < 4 else 4), min_size=1, max_size=5))
    n, sets = sum(lengths), 4
    transition, start, end = (rng.normal(0, spread, shape) for shape in ((size, size), size, size))
    if not free and draw(st.booleans()):
        for array in (transition, start, end):
            array[rng.random(array.shape) < draw(st.sampled_from([0.2, 0.6]))] = -np.inf
    masks = (rng.random((sets, size)) < draw(st.sampled_from([0.3, 0.8]))).astype(float)
    masks[0] = 1
    masks[~masks.any(axis=1), 0] = 1
    if draw(st.booleans()):
        masks[1:] *= rng.choice([1.0, 0.5, 1e-3], masks[1:].shape)
    noise = rng.choice([0.0, 1e-3, 0.5, 1.0], n) if noisy and draw(st.booleans()) else np.zeros(0)
    allow = rng.integers(0, sets, n).astype(np.int32)
    return Case(lengths, rng.normal(0, spread, (n, size)), transition, start, end, allow, masks, noise)


@dataclass(frozen=True)
class Sums:
    """What the kernels say of a case: by sentence log Z, gamma and xi; and the sum of all xi."""

    log_z: list[float]
    gamma: list[Floats]
    xi: list[Floats]
    pairs: Floats


def run(case: Case, restricted: bool, dtype: type[np.floating[Any]], dense: bool) -> Sums:
    """The kernels on a case, with their results sorted back to sentences and tokens."""
    ptr, lengths = case.ptr, np.array(case.lengths)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    rows = np.full(int(ptr[-1]), -1, np.int32)
    steps = np.zeros(int(lengths.max()) + 1, np.int64)
    chain.pack(lengths[order], order, ptr, rows, steps)
    assert sorted(rows) == list(range(len(rows)))
    scores = case.scores.astype(dtype)
    E, shift, lists = (_potentials if dense else _listed_potentials)(case, scores, rows, restricted)
    step, first, last = (_top(array) for array in (case.transition, case.start, case.end))
    T, start, end = (np.exp((array - top).astype(dtype)) for array, top in _scaled(case))
    alpha, gamma, beyond = (np.full(E.shape, np.nan, dtype) for _ in range(3))
    scale, log_z = np.zeros(len(rows), dtype), np.zeros(len(order))
    chain.forward(E, shift, steps, T, products.panels(T), start, end, lists, alpha, scale, log_z)
    back = np.ascontiguousarray(T.T)
    chain.backward(E, steps, back, products.panels(back), end, lists, alpha, scale, gamma, beyond)
    pairs = np.zeros(T.shape, dtype)
    chain.add_pairs(alpha, beyond, steps, 1, lists, pairs)
    found = SumsOfBatch(log_z, gamma, alpha, beyond, steps, lists, len(T))
    gamma, xi = found.marginals(), found.pairs(T)
    log_z_of = dict(zip(order.tolist(), log_z.tolist(), strict=True))
    taken_out = [(length - 1) * step + first + last for length in case.lengths]
    tokens = [rows[a:b] for a, b in itertools.pairwise(ptr)]
    return Sums(
        [log_z_of[s] + taken_out[s] if s in log_z_of else 0.0 for s in range(len(lengths))],
        [gamma[mine] for mine in tokens],
        [xi[mine[1:]] for mine in tokens],
        pairs * T,
    )


def _potentials(
    case: Case, scores: Floats, rows: NDArray[np.int32], restricted: bool
) -> tuple[Floats, Floats, chain.Lists]:
    free, shift = np.empty_like(scores), np.empty(len(scores), scores.dtype)
    chain.shift_scores(scores, rows, free, shift)
    np.exp(free, out=free)
    if not restricted:
        return free, shift, chain.ALL
    E, own_shift = np.empty_like(free), np.empty_like(shift)
    masks = case.masks.astype(scores.dtype)
    chain.restrict(free, shift, scores, rows, case.allow, masks, case.noise, E, own_shift)
    return E, own_shift, chain.ALL


def _listed_potentials(
    case: Case, scores: Floats, rows: NDArray[np.int32], restricted: bool
) -> tuple[Floats, Floats, chain.Lists]:
    """Potentials of the labels that the evidence allows, in lists."""
    free, shift, _ = _potentials(case, scores, rows, False)
    if not restricted:
        return free, shift, chain.ALL
    count = int(chain.count_allowed(case.allow, case.masks, case.noise))
    lists, own_shift = chain.Lists(np.empty(len(scores) + 1, np.int64), np.empty(count, np.int32)), np.empty_like(shift)
    E, evidence = np.empty((1, count), scores.dtype), (case.allow, case.masks.astype(scores.dtype), case.noise)
    chain.list_restricted(free, shift, scores, rows, *evidence, lists, E, own_shift)
    assert lists.ptr[-1] == count
    return E, own_shift, lists


def _top(array: Floats) -> float:
    return float(array.max()) if array.max() > -np.inf else 0.0


def _scaled(case: Case) -> list[tuple[Floats, float]]:
    return [(array, _top(array)) for array in (case.transition, case.start, case.end)]


def check(case: Case, found: Sums, restricted: bool, tolerance: dict[str, float]) -> None:
    """Every sum against the twin; what is impossible has log Z = -inf, no marginals, and disturbs no other sentence."""
    size = len(case.start)
    total = np.zeros((size, size))
    for s, twin in enumerate(case.chains(restricted)):
        if twin is None:
            continue
        log_z = naive.log_partition(twin)
        if log_z == -math.inf:
            assert found.log_z[s] == -math.inf
            assert not found.gamma[s].any()
            assert not found.xi[s].any()
            continue
        np.testing.assert_allclose(found.log_z[s], log_z, rtol=tolerance["rtol"], atol=100 * tolerance["atol"])
        np.testing.assert_allclose(found.gamma[s], naive.state_marginals(twin), **tolerance)
        xi = np.array(naive.pair_marginals(twin)).reshape(-1, size, size)
        np.testing.assert_allclose(found.xi[s], xi, **tolerance)
        total += xi.sum(axis=0)
    np.testing.assert_allclose(found.pairs, total, rtol=tolerance["rtol"], atol=20 * tolerance["atol"])
