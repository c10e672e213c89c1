"""The loss and log Z of a batch of label sequences, with their gradients, by the structure of chains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from tagweave.evidence.sequences import Evidence
from tagweave.kernels.compiled_code import one_blas_thread
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.structures.chain import Chain, ChainGradient, ChainScores, log_partitions
from tagweave.structures.lockstep import TransitionScores
from tagweave.structures.loss import LossTerm, loss
from tagweave.torch.positions import Floats, Positions

_SHARED_WORK = 20_000_000  # tokens x labels x labels from which threads pay off
_idle: list[Chain] = []

Part = tuple[NDArray[np.float64], ChainGradient]
"""The values of some rows, and the gradient of their sum."""


@contextmanager
def lent_chain(transitions: bool = True) -> Iterator[Chain]:
    """Lend a structure with its buffers, which no other thread uses meanwhile."""
    try:
        chain = _idle.pop()
    except IndexError:
        chain = Chain()
    chain.transitions = chain.edges = transitions
    yield chain
    _idle.append(chain)


def transition_scores(scores: Sequence[Floats], scheme: TransitionScheme) -> TransitionScores:
    """Return scores [Y, Y], [Y], [Y] of pairs, first and last labels, -inf where the scheme forbids."""
    if not scheme.is_free:
        allowed = scheme.transition, scheme.start, scheme.end
        scores = [np.where(each, own, own.dtype.type(-np.inf)) for own, each in zip(scores, allowed, strict=True)]
    return TransitionScores.of_scores(*scores)


@dataclass(frozen=True)
class ChainLosses:
    """log Z - log Z(what the evidence allows) of a batch, a function of emission and transition scores."""

    positions: Positions
    evidence: Evidence
    scheme: TransitionScheme
    terms: Sequence[LossTerm] = ()

    def solve(
        self, scores: list[Floats], needed: tuple[bool, ...], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], list[Floats]]:
        given = self.evidence if weights is None else replace(self.evidence, weights=weights)
        whole = ChainScores(self.positions.take(scores[0]), transition_scores(scores[1:], self.scheme))
        ptr, bounds = given.sentence_ptr, self._bounds(len(scores[1]))

        def run(first: int, last: int) -> Part:
            own = whole._replace(emission=whole.emission[ptr[first] : ptr[last]])
            with lent_chain(any(needed[1:])) as chain, np.errstate(invalid="ignore"):  # nan is an answer
                return self._part(chain, own, given.part(first, last))

        with one_blas_thread():
            if len(bounds) == 2:
                parts = [run(*bounds)]
            else:
                with ThreadPoolExecutor(len(bounds) - 1) as pool:
                    parts = list(pool.map(run, bounds[:-1], bounds[1:]))
        values, emission = (
            each[0] if len(each) == 1 else np.concatenate(each)
            for each in ([own for own, _ in parts], [own.emission for _, own in parts])
        )
        gradient = parts[0][1]
        for _, other in parts[1:]:
            gradient.merge(other)
        gradients = [self.positions.put(emission), gradient.transition, gradient.start, gradient.end]
        if not np.isfinite(values).all():  # so that a scaler of gradients sees it
            for each in gradients:
                each.fill(np.nan)
        return values, gradients

    def _bounds(self, labels: int) -> list[int]:
        """Return the first row of the part of each thread, and the end; parts have about as many tokens."""
        ptr = self.evidence.sentence_ptr
        tokens, rows = int(ptr[-1]), len(ptr) - 1
        if self.terms or tokens * labels**2 < _SHARED_WORK:
            return [0, rows]
        inner = np.searchsorted(ptr, np.linspace(0, tokens, torch.get_num_threads() + 1)[1:-1])
        return sorted({0, *inner.tolist(), rows})

    def _part(self, chain: Chain, scores: ChainScores, given: Evidence) -> Part:
        values, gradient = loss(chain, scores, given, self.terms)
        return values, gradient


class LogPartitions(ChainLosses):
    """log Z of a batch, of the label sequences that the evidence allows."""

    def _part(self, chain: Chain, scores: ChainScores, given: Evidence) -> Part:
        batch = chain.batch(given)
        gradient, rows = chain.gradient(scores, batch), given.rows
        sums = chain.sums(scores, batch) if rows is None else chain.restricted_product(scores, batch)
        values = log_partitions(sums, batch, scores.transitions)
        chain.add_expectations(sums, scores, batch, +1, gradient)
        if rows is not None and rows.log_scales is not None:
            np.add.at(values, np.repeat(np.arange(len(given)), given.lengths), rows.log_scales[given.sets])
        return values, chain.finish(batch, gradient)
