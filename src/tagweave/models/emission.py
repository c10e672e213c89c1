"""Emission scores of an encoded corpus under the weights of all views, and the gradient of these weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import emission
from tagweave.labels.space import View
from tagweave.models.layout import Layout

if TYPE_CHECKING:
    from tagweave.models.parameters import ChainParameters

Floats = NDArray[Any]
Tables = Sequence[Floats | None]

_TABLE_CELLS = 1 << 25  # most cells of a table of all word types; a larger one takes too much memory


class ViewEmission:
    """The emission scores of one view, and the gradient of its weights.

    Args:
        view: which labels project to which tag.
        layout: the layout of the weights.
        weights: the emission weights, or their gradient.
    """

    def __init__(self, view: View, layout: Layout, weights: Floats) -> None:
        self.view, self.layout, self.weights = view, layout, weights
        self._tags = len(view.names)

    def type_table(self, encoded: Encoded) -> Floats | None:
        """[word types, tags]: the scores of word types from features of their own form; `None` if too large."""
        word_types = len(encoded.type_ptr) - 1
        if word_types * self._tags > _TABLE_CELLS:
            return None
        table = np.empty((word_types, self._tags), self.weights.dtype)
        self._type_scores(encoded, np.arange(word_types, dtype=np.int32), table)
        return table

    def _type_scores(self, encoded: Encoded, word_types: NDArray[np.int32], out: Floats) -> None:
        layout, e = self.layout, encoded
        emission.type_scores(
            self.weights, layout.ptr, layout.cell, e.type_ptr, e.type_features, e.type_values, word_types, out
        )

    def write_scores(self, encoded: Encoded, first: int, last: int, table: Floats | None, scores: Floats) -> None:
        """Set scores [n, tags] to the scores of this view alone for sentences first .. last - 1.

        Args:
            encoded: the corpus.
            first, last: the sentences.
            table: the scores of all word types, or `None` to compute those needed.
            scores: [n, tags].
        """
        word_types = encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
        if not len(encoded.type_features):
            scores[...] = 0
        elif table is None:
            self._type_scores(encoded, word_types, scores)
        else:
            np.take(table, word_types, axis=0, out=scores, mode="clip")
        self.add_grams(encoded, first, last, scores)

    def add_grams(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        """Add the scores of grams to scores [n, tags] of sentences first .. last - 1."""
        layout, e = self.layout, encoded
        if e.grams.shape[1]:
            emission.gram_scores(
                self.weights,
                layout.ptr,
                layout.cell,
                e.grams,
                e.low,
                e.high,
                e.lead,
                e.sentence_ptr,
                first,
                last,
                scores,
            )

    def add_scores(self, encoded: Encoded, first: int, last: int, table: Floats | None, scores: Floats) -> None:
        """Like `write_scores`, but adds to the scores [n, Y] of the labels that project to each tag."""
        own = np.empty((len(scores), self._tags), scores.dtype)
        self.write_scores(encoded, first, last, table, own)
        emission.project(own, self.view.projection, *_candidates(encoded, first, last), scores)

    def add_gradient(self, encoded: Encoded, first: int, last: int, table: Floats | None, difference: Floats) -> None:
        """The transpose of `add_scores`; `weights` is the gradient here, and `table` the gradient of the table."""
        own = difference
        if not self.view.is_identity:
            own = np.zeros((len(difference), self._tags), difference.dtype)
            emission.gather(difference, self.view.projection, *_candidates(encoded, first, last), own)
        word_types = encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
        if len(encoded.type_features) and table is None:
            self._add_type_gradient(encoded, word_types, own)
        elif len(encoded.type_features) and table is not None:
            emission.collect(own, word_types, table)
        layout, e = self.layout, encoded
        emission.gram_gradient(
            self.weights, layout.ptr, layout.cell, e.grams, e.low, e.high, e.lead, e.sentence_ptr, first, last, own
        )

    def add_table_gradient(self, encoded: Encoded, table: Floats) -> None:
        """Add the gradient of the table of word types to the gradient of the weights."""
        self._add_type_gradient(encoded, np.arange(len(table), dtype=np.int32), table)

    def _add_type_gradient(self, encoded: Encoded, word_types: NDArray[np.int32], difference: Floats) -> None:
        layout, e = self.layout, encoded
        emission.type_gradient(
            self.weights, layout.ptr, layout.cell, e.type_ptr, e.type_features, e.type_values, word_types, difference
        )


def emissions(parameters: ChainParameters, vector: Floats) -> list[ViewEmission]:
    """The emission of every view with weights, for a weight vector or a gradient."""
    parts = zip(parameters.weighted, parameters.split(vector), strict=True)
    return [ViewEmission(view, layout, weights.emission) for (view, layout), weights in parts]


def write_emission(
    views: Sequence[ViewEmission],
    encoded: Encoded,
    first: int,
    last: int,
    scores: Floats,
    tables: Tables | None = None,
) -> None:
    """Set scores [n, Y] to the emission scores of sentences first .. last - 1, summed over views; -inf for labels that
    are no candidates.

    `tables`: per view, the scores of all word types, or `None` to compute those needed.
    """
    pairs = list(zip(views, tables or [None] * len(views), strict=True))
    whole = next((i for i, view in enumerate(views) if view.view.is_identity), None)
    if whole is None:
        scores[...] = 0
    else:  # needs no intermediate array
        view, table = pairs.pop(whole)
        view.write_scores(encoded, first, last, table, scores)
    for view, table in pairs:
        view.add_scores(encoded, first, last, table, scores)
    if encoded.candidates is not None:
        emission.exclude_outside(scores, *_candidates(encoded, first, last))


def _candidates(encoded: Encoded, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The pointers and the candidate labels of the tokens of sentences; empty if these are all labels."""
    if encoded.candidates is None:
        return emission.EVERY_LABEL
    tokens = slice(encoded.sentence_ptr[first], encoded.sentence_ptr[last] + 1)
    return encoded.candidates.ptr[tokens], encoded.candidates.labels
