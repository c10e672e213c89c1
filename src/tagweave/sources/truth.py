"""What is assumed of the true labels themselves: that they are independent, or that each depends on the one before.

Both take the log likelihood of the answers, [N, Y], to the probability of each label at each position, and count what
they need to estimate their own parameters again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from tagweave.features.encoded import Encoded
from tagweave.sources.dirichlet import Floats, log_probabilities, prior_term
from tagweave.structures.chain import Chain, ChainGradient, ChainScores
from tagweave.structures.lockstep import Batch, Workspace
from tagweave.structures.transitions import Transitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tagweave.labels.transition_scheme import TransitionScheme

_BLOCK = 8192  # positions whose sums are in memory at a time


class Posterior(NamedTuple):
    """The probabilities of true labels.

    Attributes:
        gamma: float64[N, Y].
        log_z: the log likelihood of all answers (in variational inference, the part of the bound without priors).
        counts: expected counts of what the model of true labels estimates.
    """

    gamma: Floats
    log_z: float
    counts: Floats


class Truth(Protocol):
    """A model of true labels."""

    def posterior(self, rows: Floats) -> Posterior:
        """The probabilities of labels under likelihoods, float64[N, Y] in logarithms."""
        ...

    def updated(self, counts: Floats) -> Self:
        """The model with its parameters estimated from expected counts."""
        ...

    def prior_term(self) -> float:
        """What the prior adds to the objective."""
        ...


@dataclass(frozen=True)
class IndependentLabels:
    """Every position has its label with the same probabilities.

    Attributes:
        counts: float64[Y], with pseudo-counts.
        prior: float64[Y], pseudo-counts.
        variational: whether parameters have distributions, not values.
    """

    counts: Floats
    prior: Floats
    variational: bool = False

    def posterior(self, rows: Floats) -> Posterior:
        """See `Truth.posterior`; `rows` is overwritten."""
        rows += log_probabilities(self.counts, 0, self.variational)
        top = rows.max(axis=1, keepdims=True)
        rows -= top
        np.exp(rows, out=rows)
        total = rows.sum(axis=1, keepdims=True)
        rows /= total
        return Posterior(rows, float(top.sum() + np.log(total).sum()), rows.sum(axis=0))

    def updated(self, counts: Floats) -> IndependentLabels:
        """See `Truth.updated`."""
        return replace(self, counts=counts + self.prior)

    def prior_term(self) -> float:
        """See `Truth.prior_term`."""
        return prior_term(self.counts, self.prior, 0, self.variational)


@dataclass(frozen=True)
class LabelChain:
    """Every label depends on the one before.

    Attributes:
        sentence_ptr: int64[S + 1], the first position of every sentence.
        scheme: which label may follow which.
        counts: float64[Y + 1, Y], transitions with pseudo-counts; the last row is the start of a sentence.
        prior: float64[Y + 1, Y], pseudo-counts, 0 where the scheme forbids a transition.
        variational: whether parameters have distributions, not values.
    """

    sentence_ptr: NDArray[np.int64]
    scheme: TransitionScheme
    counts: Floats
    prior: Floats
    variational: bool = False

    @classmethod
    def of(
        cls, sentence_ptr: NDArray[np.int64], scheme: TransitionScheme, pseudo: float, variational: bool
    ) -> LabelChain:
        """A chain with `pseudo` pseudo-counts of every transition that the scheme allows."""
        prior = pseudo * np.concatenate([scheme.transition, scheme.start[None]]).astype(np.float64)
        return cls(sentence_ptr, scheme, prior, prior, variational)

    @property
    def transitions(self) -> Transitions:
        """The scores of transitions: their logarithms, or the expectations of these."""
        scores = log_probabilities(self.counts, 1, self.variational)
        scores = np.where(np.concatenate([self.scheme.transition, self.scheme.start[None]]), scores, -np.inf)
        return Transitions.of_scores(scores[:-1], scores[-1], np.where(self.scheme.end, 0.0, -np.inf))

    def posterior(self, rows: Floats) -> Posterior:
        """See `Truth.posterior`."""
        size, transitions, encoded = rows.shape[1], self.transitions, _without_text(self.sentence_ptr)
        gamma = np.zeros_like(rows)
        pairs, paths, log_z = np.zeros((size, size)), np.zeros((size, size)), 0.0
        bounds = self._blocks()
        space = Workspace(
            max((int(np.diff(self.sentence_ptr[list(each)])[0]) for each in bounds), default=0), size, np.float64
        )
        chain = Chain(None, space)
        for first, last in bounds:
            batch = Batch.of(encoded, first, last)
            scores = ChainScores(rows[batch.tokens], transitions)
            gradient = ChainGradient(gamma[batch.tokens], pairs, paths)
            log_z += chain.add_expectations(chain.sums(scores, batch), scores, batch, 1, gradient)
        lengths = np.diff(self.sentence_ptr)
        log_z += float(((lengths - 1) * transitions.step + transitions.edge)[lengths > 0].sum())
        starts = gamma[self.sentence_ptr[:-1][lengths > 0]].sum(axis=0)
        return Posterior(gamma, log_z, np.concatenate([pairs * transitions.potential - paths, starts[None]]))

    def updated(self, counts: Floats) -> LabelChain:
        """See `Truth.updated`."""
        return replace(self, counts=counts + self.prior)

    def prior_term(self) -> float:
        """See `Truth.prior_term`."""
        return prior_term(self.counts, self.prior, 1, self.variational)

    def _blocks(self) -> list[tuple[int, int]]:
        """Runs of sentences with about `_BLOCK` positions each."""
        ptr = self.sentence_ptr
        cuts = np.searchsorted(ptr, np.arange(0, int(ptr[-1]) + _BLOCK, _BLOCK))
        cuts = np.unique(np.minimum(cuts, len(ptr) - 1))
        return [(int(a), int(b)) for a, b in pairwise(cuts) if ptr[b] > ptr[a]]


def _without_text(sentence_ptr: NDArray[np.int64]) -> Encoded:
    """Encoded sentences without features: the layout of batches needs their lengths alone."""
    ints, longs, floats = np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0)
    weights = np.ones(len(sentence_ptr) - 1)
    return Encoded(sentence_ptr, ints, longs, ints, floats, ints[:, None], 0, longs, longs, ints, floats, weights)
