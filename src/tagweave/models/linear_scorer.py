"""Linear scores of chains, from weights of template features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import emission
from tagweave.models.chain_scorer import Blocks, ChainScorer, ChainScoring
from tagweave.models.emission import Tables, emissions, write_emission
from tagweave.structures.chain import ChainGradient, ChainScores
from tagweave.structures.lockstep import Batch, Workspace
from tagweave.structures.transitions import Transitions

if TYPE_CHECKING:
    from tagweave.models.parameters import ChainParameters

Floats = NDArray[Any]


class LinearScoring(ChainScoring):
    """The scores under a weight vector.

    Args:
        parameters: the label space and the layout of the weights.
        weights: [parameters.size].
        transitions: the transition scores under the weights.
        tables: per view, the scores of all word types, or `None` to compute those needed.
    """

    def __init__(
        self, parameters: ChainParameters, weights: Floats, transitions: Transitions, tables: Tables | None = None
    ) -> None:
        self.parameters, self.weights, self.transitions = parameters, weights, transitions
        self.views = emissions(parameters, weights)
        self.tables: Sequence[Floats | None] = tables or [None] * len(self.views)

    def prepared(self, encoded: Encoded) -> LinearScoring:
        """The same, with the scores of all word types."""
        tables = [view.type_table(encoded) for view in self.views]
        return LinearScoring(self.parameters, self.weights, self.transitions, tables)

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        """See `ChainScoring.write`."""
        write_emission(self.views, encoded, first, last, scores, self.tables)

    def scorer(self, gradient: Floats, space: Workspace) -> LinearScorer:
        """See `ChainScoring.scorer`."""
        return LinearScorer(self, gradient, space)


class LinearScorer(ChainScorer):
    """The scores of batches, and the gradient of the weights.

    Args:
        scoring: the scores.
        gradient: [size]; gradients are added to it.
        space: buffers, used by one thread.
    """

    def __init__(self, scoring: LinearScoring, gradient: Floats, space: Workspace) -> None:
        super().__init__(space, scoring.transitions)
        self._scoring, self._gradients = scoring, emissions(scoring.parameters, gradient)
        self._table_gradients = [None if table is None else np.zeros_like(table) for table in scoring.tables]
        self._start, self._end = np.zeros((2, len(scoring.parameters.space)), scoring.weights.dtype)

    def scores(self, batch: Batch) -> ChainScores:
        """See `ChainScorer.scores`."""
        scores = self.space.matrix("scores", len(batch.rows))
        self._scoring.write(batch.encoded, batch.first, batch.last, scores)
        return ChainScores(scores, self.transitions)

    def add_gradient(self, batch: Batch, d_scores: ChainGradient) -> None:
        """See `ChainScorer.add_gradient`."""
        difference = d_scores.emission
        if self._scoring.parameters.edges:
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

    def merge_pass(self, other: LinearScorer) -> None:
        """Add the gradient of the scores of word types accumulated by another thread."""
        for mine, others in zip(self._table_gradients, other._table_gradients, strict=True):
            if mine is not None and others is not None:
                np.add(mine, others, out=mine)

    def _shared(self) -> tuple[Floats, ...]:
        return self.pairs, self.paths, self._start, self._end

    def finish(self, gradient: Floats) -> None:
        """Add the gradient of transition weights."""
        pairs = self.pairs * self.transitions.potential - self.paths
        self._scoring.parameters.add_transition_gradient(gradient, pairs, self._start, self._end)

    def finish_pass(self, encoded: Encoded) -> None:
        """Add the gradient of the scores of word types."""
        for view, table in zip(self._gradients, self._table_gradients, strict=True):
            if table is not None:
                view.add_table_gradient(encoded, table)


class TouchedWeights:
    """The weights that sentences can touch: those of their features, and all of transitions.

    Args:
        parameters: the layout of the weights.
        encoded: the sentences.
    """

    def __init__(self, parameters: ChainParameters, encoded: Encoded) -> None:
        self._parameters, self._encoded = parameters, encoded
        self._type_sizes = np.diff(encoded.type_ptr)
        self._seen = np.zeros(len(parameters.weighted[0][1].ptr) - 1, np.int32)
        self._calls = 0

    def __call__(self, first: int, last: int) -> Blocks:
        """Blocks start[i] .. stop[i] - 1 of the vector for sentences first .. last - 1."""
        e, ptr = self._encoded, self._encoded.sentence_ptr
        extra = e.outer_anchors
        rows = int(ptr[first]) + first * extra, int(ptr[last]) + last * extra
        word_types = e.word_types[ptr[first] : ptr[last]]
        most = (rows[1] - rows[0]) * e.grams.shape[1] + int(self._type_sizes[word_types].sum())
        features = np.empty(most, np.int32)
        self._calls += 1
        count = emission.touched_features(
            e.grams, *rows, e.type_ptr, e.type_features, word_types, self._seen, self._calls, features
        )
        starts: list[NDArray[np.int64]] = []
        stops: list[NDArray[np.int64]] = []
        offsets = self._parameters.offsets
        for (_, layout), offset, end in zip(self._parameters.weighted, offsets[:-1], offsets[1:], strict=True):
            at = features[:count]
            starts += [layout.ptr[at].astype(np.int64) + offset, np.array([offset + layout.size])]
            stops += [layout.ptr[at + 1].astype(np.int64) + offset, np.array([end])]  # transitions are always touched
        return np.concatenate(starts), np.concatenate(stops)
