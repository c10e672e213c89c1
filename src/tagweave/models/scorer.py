"""The protocol of scorers: from sentences to scores, and from the gradient of the scores to that of the parameters."""

from __future__ import annotations

from typing import Protocol, TypeVar

Batch_contra = TypeVar("Batch_contra", contravariant=True)
Scores_co = TypeVar("Scores_co", covariant=True)
Gradient_contra = TypeVar("Gradient_contra", contravariant=True)


class Scorer(Protocol[Batch_contra, Scores_co, Gradient_contra]):
    """Scores under some parameters; a structure (`tagweave.structures`) sees only the scores.

    Scorers of chains are subclasses of `chain_scorer.ChainScorer`, those of arcs of `arc_scorer.ArcScorer`. So far all
    are linear in weights of template features (`linear_scorer`, `arc_features`).
    """

    def scores(self, batch: Batch_contra) -> Scores_co:
        """The scores of a batch of sentences."""
        ...

    def add_gradient(self, batch: Batch_contra, d_scores: Gradient_contra) -> None:
        """Add to the gradient of the parameters, given that of the loss with respect to the scores of the batch."""
        ...
