"""Linear scores of chains, from weights of template features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.models.emission import Tables, emissions, write_emission
from tagweave.models.parameters import ChainParameters
from tagweave.structures.chain import ChainGradient, ChainScores
from tagweave.structures.lockstep import Batch, Workspace
from tagweave.structures.transitions import Transitions

Floats = NDArray[Any]


class LinearScorer:
    """The scores of batches under a weight vector, and the gradient of the weights: a `Scorer`.

    Transition scores are the same in all batches, so their gradient is accumulated, and `finish` adds it.

    Args:
        parameters: the label space and the layout of the weights.
        weights: [parameters.size].
        gradient: [parameters.size]; gradients are added to it.
        space: buffers, used by one thread.
        transitions: the transition scores under the weights.
        tables: per view, the scores of all word types, or `None` to compute those needed.
    """

    def __init__(
        self,
        parameters: ChainParameters,
        weights: Floats,
        gradient: Floats,
        space: Workspace,
        transitions: Transitions,
        tables: Tables | None = None,
    ) -> None:
        self._parameters, self._space, self._transitions = parameters, space, transitions
        self._views, self._gradients = emissions(parameters, weights), emissions(parameters, gradient)
        self._tables: Sequence[Floats | None] = tables or [None] * len(self._views)
        self._table_gradients = [None if table is None else np.zeros_like(table) for table in self._tables]
        Y, dtype = len(parameters.space), weights.dtype
        self._pairs, self._paths = np.zeros((Y, Y), dtype), np.zeros((Y, Y), dtype)
        self._start, self._end = np.zeros(Y, dtype), np.zeros(Y, dtype)

    def scores(self, batch: Batch) -> ChainScores:
        """See `Scorer.scores`. The next call overwrites them."""
        emission = self._space.matrix("scores", len(batch.rows))
        write_emission(self._views, batch.encoded, batch.first, batch.last, emission, self._tables)
        return ChainScores(emission, self._transitions)

    def gradient(self, batch: Batch) -> ChainGradient:
        """Buffers for the gradient with respect to the scores of a batch."""
        return ChainGradient(self._space.matrix("difference", len(batch.rows)), self._pairs, self._paths)

    def add_gradient(self, batch: Batch, d_scores: ChainGradient) -> None:
        """See `Scorer.add_gradient`; `d_scores` comes from `gradient`."""
        difference = d_scores.emission
        if self._parameters.edges:
            ptr = batch.ptr
            filled = ptr[1:] > ptr[:-1]
            self._start += difference[ptr[:-1][filled]].sum(axis=0)
            self._end += difference[ptr[1:][filled] - 1].sum(axis=0)
        for view, table in zip(self._gradients, self._table_gradients, strict=True):
            view.add_gradient(batch.encoded, batch.first, batch.last, table, difference)

    def merge(self, other: LinearScorer) -> None:
        """Add the transition gradient accumulated by another thread."""
        for mine, others in zip(self._shared(), other._shared(), strict=True):
            np.add(mine, others, out=mine)

    def merge_tables(self, other: LinearScorer) -> None:
        """Add the gradient of the scores of word types accumulated by another thread."""
        for mine, others in zip(self._table_gradients, other._table_gradients, strict=True):
            if mine is not None and others is not None:
                np.add(mine, others, out=mine)

    def _shared(self) -> tuple[Floats, ...]:
        return self._pairs, self._paths, self._start, self._end

    def finish(self, gradient: Floats) -> None:
        """Add the gradient of transition weights."""
        pairs = self._pairs * self._transitions.potential - self._paths
        self._parameters.add_transition_gradient(gradient, pairs, self._start, self._end)

    def finish_tables(self, encoded: Encoded) -> None:
        """Add the gradient of the scores of word types."""
        for view, table in zip(self._gradients, self._table_gradients, strict=True):
            if table is not None:
                view.add_table_gradient(encoded, table)
