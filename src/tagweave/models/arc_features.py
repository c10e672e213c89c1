"""Linear scores of arcs: weights of template features, hashed into a table of fixed size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.rules import Rule, power_of_two
from tagweave.kernels import arcs
from tagweave.models.arc_scorer import ArcBatch, ArcScorer, ArcScorerParameters, Blocks
from tagweave.structures.tree import ArcGradient

Floats = NDArray[Any]

ROWS = power_of_two(1 << 30)
"""The rule for a number of rows."""


@dataclass(frozen=True)
class ArcFeatures(ArcScorerParameters):
    """The parameters of the linear scorer of arcs: templates, and the number of rows of weights, a power of two, into
    which their features are hashed."""

    kind: ClassVar[str] = "linear"

    templates: ArcTemplates
    rows: int

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.rows * arcs.BINS

    def scores(self, weights: Floats, batch: ArcBatch) -> Floats:
        """See `ArcScorerParameters.scores`."""
        scores = np.empty(batch.size, weights.dtype)
        table = weights.reshape(self.rows, -1)
        arcs.score_arcs(table, batch.codes, self.templates.sizes, batch.ptr, batch.paths, scores)
        return scores

    def scorer(self, weights: Floats, gradient: Floats, threshold: float) -> LinearArcScorer:
        """See `ArcScorerParameters.scorer`."""
        return LinearArcScorer(self, weights, gradient, threshold)

    def touched(self) -> TouchedRows:
        """See `ArcScorerParameters.touched`."""
        return TouchedRows(self)

    def add_gradient(
        self, gradient: Floats, batch: ArcBatch, difference: Floats, threshold: float
    ) -> NDArray[np.int64]:
        """Add the features of every arc times its difference, if that exceeds the threshold.

        Returns:
            The rows that were 0 before, possibly with repeats.
        """
        table, sizes = gradient.reshape(self.rows, -1), self.templates.sizes
        rows: NDArray[np.int64] = arcs.add_arc_gradient(
            table, batch.codes, sizes, batch.ptr, batch.paths, difference, threshold
        )
        return rows

    def to_json(self) -> dict[str, Any]:
        """See `ArcScorerParameters.to_json`."""
        return {"rows": self.rows}

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        """See `ArcScorerParameters.rules`."""
        return {"rows": ROWS}

    @classmethod
    def of_parts(cls, description: dict[str, Any], templates: ArcTemplates) -> ArcFeatures:
        """See `ArcScorerParameters.of_parts`."""
        return cls(templates, description["rows"])


class LinearArcScorer(ArcScorer):
    """The scores of arcs under a weight vector, and the gradient of the weights.

    Args:
        features: what the weights mean.
        weights: [features.size].
        gradient: [features.size]; gradients are added to it.
        threshold: arcs whose derivative does not exceed it are left out of the gradient.
    """

    def __init__(self, features: ArcFeatures, weights: Floats, gradient: Floats, threshold: float) -> None:
        self._features, self._weights, self._gradient, self._threshold = features, weights, gradient, threshold
        self._rows: NDArray[np.int64] = np.zeros(0, np.int64)

    def scores(self, batch: ArcBatch) -> Floats:
        """See `ArcScorer.scores`."""
        return self._features.scores(self._weights, batch)

    def add_gradient(self, batch: ArcBatch, d_scores: ArcGradient) -> None:
        """See `ArcScorer.add_gradient`."""
        self._rows = self._features.add_gradient(self._gradient, batch, d_scores.arcs, self._threshold)

    @property
    def moves(self) -> Blocks | None:
        """See `ArcScorer.moves`: the rows that were 0 before, possibly with repeats."""
        rows = self._rows
        if len(rows) and self._gradient.reshape(self._features.rows, -1)[rows[0]].any():
            return rows * arcs.BINS, (rows + 1) * arcs.BINS
        return None


class TouchedRows:
    """The weights that the arcs of a batch can touch: the rows of all their features."""

    def __init__(self, features: ArcFeatures) -> None:
        self._features, self._calls = features, 0
        self._seen = np.zeros(0, np.int32)

    def __call__(self, batch: ArcBatch) -> Blocks:
        """Blocks start[i] .. stop[i] - 1 of the vector."""
        if not len(self._seen):
            self._seen = np.zeros(self._features.rows, np.int32)
        self._calls += 1
        sizes = self._features.templates.sizes
        rows = arcs.touched_rows(batch.codes, sizes, batch.ptr, batch.paths, self._seen, self._calls)
        return rows * arcs.BINS, (rows + 1) * arcs.BINS
