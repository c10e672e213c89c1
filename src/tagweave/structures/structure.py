"""What a structure is: a set of possible outputs for a sentence, over which scores are summed and maximised."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Scores_contra = TypeVar("Scores_contra", contravariant=True)
Batch_contra = TypeVar("Batch_contra", contravariant=True)
Sums = TypeVar("Sums")
Gradient_contra = TypeVar("Gradient_contra", contravariant=True)


class Structure(Protocol[Scores_contra, Batch_contra, Sums, Gradient_contra]):
    """Label sequences (`chain`), projective trees (`tree`) or all trees (`free_tree`), or labels that do not depend on
    one another (`independent`).

    A batch identifies sentences and holds their lengths, evidence and weights.
    """

    contradiction: ClassVar[str]
    """The message for evidence that excludes every output."""

    def sums(self, scores: Scores_contra, batch: Batch_contra) -> Sums:
        """Sums over all outputs: log Z of every sentence, and the marginals."""
        ...

    def restricted_sums(self, scores: Scores_contra, batch: Batch_contra) -> Sums:
        """Sums over the outputs that the evidence allows, by the same recurrence."""
        ...

    def add_expectations(
        self, sums: Sums, scores: Scores_contra, batch: Batch_contra, factor: float, gradient: Gradient_contra
    ) -> float:
        """Add factor * weight * expected counts to the gradient. Returns the sum over sentences of weight * log Z.

        Call it with the free sums of a batch (factor +1) before the restricted ones (factor -1).
        """
        ...

    def best(self, scores: Scores_contra, batch: Batch_contra) -> NDArray[Any]:
        """int32[tokens]: the best output of every sentence, -1 where the scores exclude all."""
        ...

    def k_best(self, scores: Scores_contra, batch: Batch_contra, k: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The n <= k best outputs int32[n, L] of a batch of one sentence, exactly, and their scores, best first."""
        ...

    def samples(self, scores: Scores_contra, batch: Batch_contra, n: int, seed: int) -> NDArray[Any]:
        """int32[n, L]: n outputs of a batch of one sentence, drawn from their distribution under its evidence."""
        ...
