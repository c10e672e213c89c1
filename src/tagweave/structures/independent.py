"""Labels that do not depend on one another: the relations of arcs whose tree is known.

p[y] = exp(score[y]) / Z
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.relations import RelationEvidence
from tagweave.kernels import arc_features
from tagweave.structures.loss import Structure

Floats = NDArray[Any]


class IndependentSums(NamedTuple):
    """float64[A, Y], the probabilities, and float64[A], log Z less the largest score of a position."""

    marginals: NDArray[np.float64]
    log_z: NDArray[np.float64]


class Independent(Structure):
    """The structure of labels that do not depend on one another; its gradient is float64[A, Y]."""

    contradiction: ClassVar[str] = "no label agrees with the annotation"

    def sums(self, scores: Floats, batch: RelationEvidence) -> IndependentSums:
        return self._sums(scores, np.ones_like(batch.allowed), batch.noise)

    def restricted_sums(self, scores: Floats, batch: RelationEvidence) -> IndependentSums:
        sums = self._sums(scores, batch.allowed, batch.noise)
        if batch.posterior.any():
            rows = np.flatnonzero(batch.posterior)
            q, own = batch.allowed[rows], scores[rows].astype(np.float64)
            sums.marginals[rows] = q
            sums.log_z[rows] = (q * (own - own.max(axis=1, keepdims=True))).sum(axis=1)
        return sums

    def _sums(self, scores: Floats, allowed: NDArray[Any], noise: NDArray[np.float64]) -> IndependentSums:
        p, log_z = np.empty(scores.shape), np.empty(len(scores))
        arc_features.label_sums(scores, allowed, noise, p, log_z)
        return IndependentSums(p, log_z)

    def add_expectations(
        self,
        sums: IndependentSums,
        scores: Floats,
        batch: RelationEvidence,
        factor: float,
        gradient: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Add factor * weight * probabilities to the gradient; return log Z of each position."""
        gradient += factor * batch.weights[:, None] * sums.marginals
        return sums.log_z

    def best(self, scores: Floats, batch: RelationEvidence) -> NDArray[np.int32]:
        """int32[A]: the best label of every position."""
        return np.asarray(scores.argmax(axis=1), np.int32)

    def k_best(self, scores: Floats, batch: RelationEvidence, k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the n <= k best labels [n, 1] of one position and their scores."""
        order = np.argsort(-scores[0], kind="stable")[:k]
        return order[:, None].astype(np.int32), scores[0, order].astype(np.float64)

    def samples(self, scores: Floats, batch: RelationEvidence, n: int, seed: int) -> NDArray[np.int32]:
        """Draw labels [n, 1] of one position."""
        (p,) = self.restricted_sums(scores, batch).marginals
        drawn = np.random.default_rng(seed).choice(len(p), (n, 1), p=p / p.sum())
        return drawn.astype(np.int32)
