"""The loss, the same for every structure.

    loss  =  weight * (log Z(all) - log Z(allowed by the evidence))
    d loss / d scores  =  weight * (E[counts | all] - E[counts | allowed by the evidence])

(tsuboi-2008, equations 3 and 4; li-2015, equations 5 and 6). The regulariser belongs to the learner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import TagweaveError

Scores = TypeVar("Scores")
"""The scores of a batch, as a structure takes them."""
Evidence = TypeVar("Evidence")
"""What is known of the outputs of some sentences."""
Batch = TypeVar("Batch")
"""Evidence laid out for the kernels."""
Sums = TypeVar("Sums")
"""Sums over outputs, from which expected counts follow."""
Gradient = TypeVar("Gradient")
"""The gradient with respect to the scores, under way."""
Result = TypeVar("Result")
"""The gradient as `loss` returns it."""


class ContradictionError(TagweaveError):
    """Evidence that excludes every output of the structure."""


class Sentences(Protocol):
    """What the loss has to know of the sentences of a batch."""

    @property
    def weights(self) -> NDArray[Any]:
        """[S], how often each sentence counts."""

    @property
    def ids(self) -> NDArray[Any]:
        """[S], the number of each sentence, from 0, for messages."""


class LossTerm(Protocol):
    """A term added to the loss of sentences."""

    def add(self, structure: Any, scores: Any, batch: Any, gradient: Any) -> NDArray[np.float64] | float:
        """Add the gradient of the term; return the term for each sentence."""
        ...


class Structure(ABC, Generic[Scores, Evidence, Batch, Sums, Gradient, Result]):
    """A set of possible outputs for a sentence, over which scores are summed.

    Label sequences (`chain`), projective or all trees (`tree`), or labels that do not depend on one another
    (`independent`). The first two also have `best`, `k_best` and `samples`.
    """

    contradiction: ClassVar[str]  # the message for evidence that excludes every output
    terms: Sequence[LossTerm] = ()  # terms that the structure itself adds to the loss

    @abstractmethod
    def batch(self, evidence: Evidence | Batch, scores: Scores) -> Batch:
        """Lay out evidence; a batch stays as it is."""

    @abstractmethod
    def sentences(self, batch: Batch) -> Sentences:
        """Return the weights and numbers of the sentences of a batch."""

    @abstractmethod
    def sums(self, scores: Scores, batch: Batch) -> Sums:
        """Sum over all outputs."""

    @abstractmethod
    def restricted_sums(self, scores: Scores, batch: Batch) -> Sums:
        """Sum over the outputs that the evidence allows, by the same recurrence."""

    @abstractmethod
    def add_expectations(
        self, sums: Sums, scores: Scores, batch: Batch, factor: float, gradient: Gradient
    ) -> NDArray[np.float64]:
        """Add factor * weight * expected counts to the gradient; return log Z of each sentence.

        It is called with the free sums of a batch (factor +1) before the restricted ones (factor -1).
        """

    @abstractmethod
    def gradient(self, scores: Scores, batch: Batch, into: Gradient | None = None) -> Gradient:
        """Make the gradient 0 of scores, or go on with one of earlier batches."""

    @abstractmethod
    def finish(self, batch: Batch, gradient: Gradient) -> Result:
        """Complete the gradient of a batch and return it."""


def loss(
    structure: Structure[Scores, Evidence, Batch, Sums, Gradient, Result],
    scores: Scores,
    evidence: Evidence | Batch,
    terms: Sequence[LossTerm] = (),
    into: Gradient | None = None,
) -> tuple[NDArray[np.float64], Result]:
    """Return the loss of each sentence, with `terms`, and the gradient of their sum with respect to all scores.

    Args:
        structure: sums over outputs.
        scores: of the sentences, as the structure takes them.
        evidence: of the same sentences, or a batch that the structure has made of it.
        terms: further terms of the loss.
        into: the gradient of earlier batches under the same transition scores, to go on with.

    Returns:
        float64[S], nan for all if the scores have grown out of bounds; and the gradient.

    Raises:
        ContradictionError: the evidence of a sentence excludes every output.
    """
    batch = structure.batch(evidence, scores)
    gradient = structure.gradient(scores, batch, into)
    free = structure.add_expectations(structure.sums(scores, batch), scores, batch, +1, gradient)
    allowed = structure.add_expectations(structure.restricted_sums(scores, batch), scores, batch, -1, gradient)
    if not np.isfinite(free).all():
        return np.full(len(free), np.nan), structure.finish(batch, gradient)
    sentences = structure.sentences(batch)
    if not (is_possible := np.isfinite(allowed)).all():
        raise contradiction(sentences.ids[is_possible.argmin()], structure.contradiction)
    losses = sentences.weights * (free - allowed)
    for term in (*structure.terms, *terms):
        losses = losses + term.add(structure, scores, batch, gradient)
    return losses, structure.finish(batch, gradient)


def contradiction(number: int, problem: str) -> ContradictionError:
    """Make the error of a sentence, given its number from 0."""
    return ContradictionError(f"training sentence {number + 1}: {problem}")
