"""The layout of a view's weights, and emission scores and gradients under weights of this layout.

A layout says which (feature, label) pairs have a weight, and at which index: all pairs, or those that evidence
observes. One pass over encoded sentences collects pairs of features and label *sets*; if sets are large, these are far
fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import refuse
from tagweave.kernels import hashing, weight_vectors
from tagweave.labels.space import View

if TYPE_CHECKING:
    from tagweave.models.linear_scorer import ChainParameters

_FEATURES = 1 << 16  # checked at a time
CELL = np.uint16
"""The type of cells wherever it suffices. Kernels are compiled for each type, and bytes would save little."""
Floats = NDArray[Any]
Tables = Sequence[Floats | None]
_TABLE_CELLS = 1 << 25  # most cells of a table of all word types; a larger one takes too much memory


@dataclass(frozen=True)
class Layout:
    """The layout of the emission weights of a view of Y labels.

    Pointers are int32 and cells uint16, or wider if needed. The weights of feature g are weights[ptr[g] : ptr[g + 1]].
    Weight q belongs to position cell[q] // Y of the window of its feature and to label cell[q] % Y; an empty `cell`
    means that every feature has all window * Y weights, in order.
    """

    ptr: NDArray[Any]
    cell: NDArray[Any]

    @property
    def size(self) -> int:
        return int(self.ptr[-1])

    @classmethod
    def dense(cls, windows: NDArray[np.int64], labels: int) -> Layout:
        return cls(_pointers(windows * labels), np.zeros(0, CELL))

    @classmethod
    def observed(cls, encoded: Encoded, windows: NDArray[np.int64], masks: NDArray[np.uint8]) -> Layout:
        """Return the pairs that evidence observes: a token has the feature, and its set, not of all labels, the label.

        `windows` is int64[F], how many tokens see each feature; `masks` uint8[sets, Y].
        """
        counts, cell = observed_cells(encoded, masks, windows)
        return cls(_pointers(counts), cell)

    @classmethod
    def union(cls, layouts: Sequence[Layout]) -> Layout:
        """Return the pairs that any of several layouts of observed pairs of the same features has."""
        width = 1 + max((int(each.cell.max()) for each in layouts if len(each.cell)), default=0)
        features = len(layouts[0].ptr) - 1
        codes = np.zeros(0, np.int64)
        for each in layouts:
            of = np.repeat(np.arange(features, dtype=np.int64), np.diff(each.ptr))
            codes = np.union1d(codes, of * width + each.cell)
        counts = np.bincount(codes // width, minlength=features)
        return cls(_pointers(counts), (codes % width).astype(np.result_type(*(each.cell for each in layouts))))


def _pointers(counts: NDArray[np.int64]) -> NDArray[Any]:
    """0 and the running sums of counts, in the smallest type: kernels access them at random, so smaller is faster."""
    ends = np.concatenate([[0], np.cumsum(counts)])
    return ends.astype(np.int32 if ends[-1] < np.iinfo(np.int32).max else np.int64)


def check_layout(layout: Layout, windows: NDArray[np.int64], tags: int) -> None:
    """Refuse a layout unless every weight has a cell inside the window of its feature; pointers must not fall."""
    rows, dense_rows = np.diff(layout.ptr), windows * tags
    if not len(layout.cell):  # dense, or empty
        if rows.any() and not np.array_equal(rows, dense_rows):
            refuse("pointers", "layout", "all weights of the window of every feature")
    elif layout.size != len(layout.cell):
        refuse(len(layout.cell), "the cells of a layout", f"{layout.size}")
    for low in range(0, len(rows) if len(layout.cell) else 0, _FEATURES):
        part = slice(low, low + _FEATURES)
        cell = layout.cell[layout.ptr[low] : layout.ptr[min(low + _FEATURES, len(rows))]]
        if (cell >= np.repeat(dense_rows[part], rows[part])).any():
            refuse("cells", "layout", "cells in the window of their feature")


def observed_cells(
    encoded: Encoded, masks: NDArray[np.uint8], windows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return int64[F], how many pairs each feature has, and their cells position * Y + label, rising."""
    sets, labels = masks.shape
    positions = int(windows.max(initial=1))
    codes = _feature_sets(encoded, masks, positions * sets)
    dtype = np.result_type(CELL, np.min_scalar_type(positions * labels))
    counts, no_cells = np.zeros(len(windows), np.int64), np.zeros(0, dtype)
    hashing.expand(codes, positions, masks, counts, no_cells)
    cells = np.empty(int(counts.sum()), dtype)
    hashing.expand(codes, positions, masks, counts, cells)
    return counts, cells


def _feature_sets(encoded: Encoded, masks: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """Return the rising codes feature * width + position * sets + set of all sets that occur with a feature."""
    e, is_evidence = encoded, ~masks.all(axis=1)
    table, progress = np.full(1 << 16, -1, np.int64), np.zeros(2, np.int64)  # entered so far; codes in the table

    def fill(enter: Callable[..., None], stop: int) -> None:
        """Call `enter` until it has entered `stop` items, with a larger table whenever the table is full."""
        nonlocal table
        progress[0] = 0
        while progress[0] < stop:
            enter(table, limit=np.array([len(table) // 2, width], np.int64))
            if progress[0] < stop:
                old, table = table, np.full(4 * len(table), -1, np.int64)
                hashing.rehash(old, table)

    if e.grams.shape[1]:
        anchors = e.grams, e.high, e.low, e.lead, e.sentence_ptr, e.evidence.sets, is_evidence
        fill(lambda table, limit: hashing.enter_grams(table, *anchors, limit, progress), len(e))
    # tokens of one word type under one label set observe the same pairs
    joint = np.unique(e.word_types.astype(np.int64) * len(masks) + e.evidence.sets)
    types = e.type_ptr, e.type_features, joint // len(masks), joint % len(masks), is_evidence
    fill(lambda table, limit: hashing.enter_types(table, *types, limit, progress), len(joint))
    return np.sort(table[table >= 0])


class ViewEmission:
    """The emission scores of one view, and the gradient of its weights (`weights` is then the gradient)."""

    def __init__(self, view: View, layout: Layout, weights: Floats) -> None:
        self.view, self.layout, self.weights = view, layout, weights
        self._tags = len(view.names)

    def type_table(self, encoded: Encoded) -> Floats | None:
        """[word types, tags]: the scores of word types from features of their own form; `None` if too large."""
        word_types = len(encoded.type_ptr) - 1
        if word_types * self._tags > _TABLE_CELLS:
            return None
        table = np.empty((word_types, self._tags), self.weights.dtype)
        every = np.arange(word_types, dtype=np.int32)
        weight_vectors.type_scores(self.weights, *self._of_types(encoded), every, table)
        return table

    def write_scores(self, encoded: Encoded, first: int, last: int, table: Floats | None, scores: Floats) -> None:
        """Set scores [n, tags] to those of this view alone; `table` has those of all word types, if computed before."""
        word_types = encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
        if not len(encoded.type_features):
            scores[...] = 0
        elif table is None:
            weight_vectors.type_scores(self.weights, *self._of_types(encoded), word_types, scores)
        else:
            np.take(table, word_types, axis=0, out=scores, mode="clip")
        self.add_grams(encoded, first, last, scores)

    def add_grams(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        if encoded.grams.shape[1]:
            weight_vectors.over_grams(self.weights, *self._of_grams(encoded), first, last, scores, False)

    def _of_grams(self, e: Encoded) -> tuple[Any, ...]:
        return self.layout.ptr, self.layout.cell, e.grams, e.low, e.high, e.lead, e.sentence_ptr

    def _of_types(self, e: Encoded) -> tuple[Any, ...]:
        return self.layout.ptr, self.layout.cell, e.type_ptr, e.type_features, e.type_values

    def add_scores(self, encoded: Encoded, first: int, last: int, table: Floats | None, scores: Floats) -> None:
        """Like `write_scores`, but adds to the scores [n, Y] of the labels that project to each tag."""
        own = np.empty((len(scores), self._tags), scores.dtype)
        self.write_scores(encoded, first, last, table, own)
        weight_vectors.project(own, self.view.projection, *_candidates(encoded, first, last), scores)

    def add_gradient(self, encoded: Encoded, first: int, last: int, table: Floats | None, difference: Floats) -> None:
        """The transpose of `add_scores`; `weights` is the gradient here, and `table` the gradient of the table."""
        own = difference
        if not self.view.is_identity:
            own = np.zeros((len(difference), self._tags), difference.dtype)
            weight_vectors.gather(difference, self.view.projection, *_candidates(encoded, first, last), own)
        word_types = encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
        if len(encoded.type_features) and table is None:
            weight_vectors.type_gradient(self.weights, *self._of_types(encoded), word_types, own)
        elif len(encoded.type_features) and table is not None:
            weight_vectors.collect(own, word_types, table)
        weight_vectors.over_grams(self.weights, *self._of_grams(encoded), first, last, own, True)

    def add_table_gradient(self, encoded: Encoded, table: Floats) -> None:
        every = np.arange(len(table), dtype=np.int32)
        weight_vectors.type_gradient(self.weights, *self._of_types(encoded), every, table)


def emissions(parameters: ChainParameters, vector: Floats) -> list[ViewEmission]:
    """Return the emission of every view with weights, for a weight vector or a gradient."""
    parts = zip(parameters.weighted, parameters.split(vector), strict=True)
    return [ViewEmission(view, layout, weights.emission) for (view, layout), weights in parts]


def write_emission(
    views: Sequence[ViewEmission], encoded: Encoded, first: int, last: int, scores: Floats, tables: Tables
) -> None:
    """Set scores [n, Y] to the sum over views, -inf for labels that are no candidates."""
    pairs = list(zip(views, tables, strict=True))
    whole = next((i for i, view in enumerate(views) if view.view.is_identity), None)
    if whole is None:
        scores[...] = 0
    else:  # needs no intermediate array
        view, table = pairs.pop(whole)
        view.write_scores(encoded, first, last, table, scores)
    for view, table in pairs:
        view.add_scores(encoded, first, last, table, scores)
    if encoded.evidence.candidates is not None:
        weight_vectors.exclude_outside(scores, *_candidates(encoded, first, last))


def _candidates(encoded: Encoded, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pointers and the candidate labels of the tokens of sentences; empty if these are all labels."""
    if encoded.evidence.candidates is None:
        return weight_vectors.EVERY_LABEL
    tokens = slice(encoded.sentence_ptr[first], encoded.sentence_ptr[last] + 1)
    return encoded.evidence.candidates.ptr[tokens], encoded.evidence.candidates.labels
