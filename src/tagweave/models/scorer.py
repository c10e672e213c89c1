"""What turns sentences into scores, and takes the gradient by the scores back."""

from __future__ import annotations

from typing import Protocol, TypeVar

Batch_contra = TypeVar("Batch_contra", contravariant=True)
Scores_co = TypeVar("Scores_co", covariant=True)
Gradient_contra = TypeVar("Gradient_contra", contravariant=True)


class Scorer(Protocol[Batch_contra, Scores_co, Gradient_contra]):
    """Scores under some parameters; a structure (`tagweave.structures`) turns them into a loss, and never sees these.

    The first are linear: weights of feature templates, for chains (`linear_scorer`) and for arcs (`arc_features`).
    """

    def scores(self, batch: Batch_contra) -> Scores_co:
        """The scores of a batch of sentences."""
        ...

    def add_gradient(self, batch: Batch_contra, d_scores: Gradient_contra) -> None:
        """Add to the gradient of the parameters, from that of the loss by the scores of the batch."""
        ...
