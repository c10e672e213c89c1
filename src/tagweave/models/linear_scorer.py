"""The linear scorer of chains: the layout of its weights, and the scores of template features under them.

A layout says which (feature, label) pairs have a weight, and at which index: all pairs, or those that evidence
observes. One pass over encoded sentences collects pairs of features and label *sets*; if sets are large, these are far
fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count as count_from
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import BOOLEANS, CELLS, POINTERS, ArrayRule, Description, refuse
from tagweave.kernels import hashing, weight_vectors
from tagweave.kernels import perceptron as kernels
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.occurrences import of_bytes
from tagweave.models.packing import Arrays
from tagweave.models.schema import ChainDescription
from tagweave.models.scorer import Blocks, ChainScoring, Floats, ScorerParameters
from tagweave.structures.chain import ChainGradient
from tagweave.structures.lockstep import TransitionScores

_TABLE_CELLS = 1 << 25  # most cells of a table of all word types; a larger one takes too much memory
_FEATURES = 1 << 16  # checked at a time
CELL = np.uint16
"""The type of cells wherever it suffices. Kernels are compiled for each type, and bytes would save little."""
_CODES = 1 << 32  # more than there are cells


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
        sets, labels = masks.shape
        positions = int(windows.max(initial=1))
        codes = _feature_sets(encoded, masks, positions * sets)
        dtype = np.result_type(CELL, np.min_scalar_type(positions * labels))
        counts = np.zeros(len(windows), np.int64)
        no_cells = np.zeros(0, dtype)
        hashing.expand(codes, positions, masks, counts, no_cells)
        cells = np.empty(int(counts.sum()), dtype)
        hashing.expand(codes, positions, masks, counts, cells)
        return cls(_pointers(counts), cells)

    @classmethod
    def of_codes(cls, codes: NDArray[np.int64], features: int) -> Layout:
        """Return the layout of so many features whose weights have these rising codes."""
        cells = codes % _CODES
        counts = np.bincount(codes // _CODES, minlength=features)
        return cls(_pointers(counts), cells.astype(np.result_type(CELL, np.min_scalar_type(cells.max(initial=0)))))

    @property
    def is_dense(self) -> bool:
        return not len(self.cell)

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return int64[size] twice: the feature and the cell of every weight."""
        of = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        cells = np.arange(len(of)) - self.ptr[of] if self.is_dense else self.cell.astype(np.int64)
        return of, cells

    def places(self, features: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the weights of features in cells, all of which the layout has."""
        if self.is_dense:
            places: NDArray[np.int64] = self.ptr[features] + cells
            return places
        return np.searchsorted(pair_codes(*self.pairs()), pair_codes(features, cells))


def pair_codes(features: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a code for every weight, which rises with its feature and then its cell (`Layout.of_codes`)."""
    codes: NDArray[np.int64] = features * _CODES + cells
    return codes


def _pointers(counts: NDArray[np.int64]) -> NDArray[Any]:
    """Return 0 and the running sums of counts, in the smallest type: kernels read it at random, and small is fast."""
    ends = np.concatenate([[0], np.cumsum(counts)])
    return ends.astype(np.int32 if ends[-1] < np.iinfo(np.int32).max else np.int64)


def check_layout(layout: Layout, windows: NDArray[np.int64], tags: int) -> None:
    """Refuse a layout unless every weight has a cell inside the window of its feature; pointers must not fall."""
    if len(layout.ptr) != len(windows) + 1:
        refuse(f"{len(layout.ptr) - 1} features", "layout", f"{len(windows)}, as the encoder has")
    rows = np.diff(layout.ptr)
    dense_rows = windows * tags
    if not len(layout.cell):  # dense, or empty
        if rows.any() and not np.array_equal(rows, dense_rows):
            refuse("pointers", "layout", "all weights of the window of every feature")
    elif layout.size != len(layout.cell):
        refuse(len(layout.cell), "the cells of a layout", f"{layout.size}")
    for low in range(0, len(rows) if len(layout.cell) else 0, _FEATURES):
        block = slice(low, low + _FEATURES)
        cell = layout.cell[layout.ptr[low] : layout.ptr[min(low + _FEATURES, len(rows))]]
        if (cell >= np.repeat(dense_rows[block], rows[block])).any():
            refuse("cells", "layout", "cells in the window of their feature")


def _feature_sets(encoded: Encoded, masks: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """Return the rising codes feature * width + position * sets + set of all sets that occur with a feature."""
    e = encoded
    is_evidence = ~masks.all(axis=1)
    table = np.full(1 << 16, -1, np.int64)
    progress = np.zeros(2, np.int64)  # entered so far; codes in the table

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
    """The emission scores of one view, and the gradient of its weights (`weights` and `table` are then gradients).

    `table` [word types, tags] has the scores of all word types from features of their own form, if computed before.
    """

    def __init__(self, view: View, layout: Layout, weights: Floats, table: Floats | None = None) -> None:
        self.view, self.layout, self.weights, self.table = view, layout, weights, table
        self._tags = len(view.names)

    def with_table(self, encoded: Encoded) -> ViewEmission:
        """Return the same scores with their table, unless it is too large."""
        word_types = len(encoded.type_ptr) - 1
        if word_types * self._tags > _TABLE_CELLS:
            return self
        table = np.empty((word_types, self._tags), self.weights.dtype)
        every = np.arange(word_types, dtype=np.int32)
        weight_vectors.type_scores(self.weights, *self._of_types(encoded), every, table)
        return ViewEmission(self.view, self.layout, self.weights, table)

    def write_scores(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        """Set scores [n, tags] to the scores of this view alone."""
        word_types = encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
        if not len(encoded.type_features):
            scores[...] = 0
        elif self.table is None:
            weight_vectors.type_scores(self.weights, *self._of_types(encoded), word_types, scores)
        else:
            np.take(self.table, word_types, axis=0, out=scores, mode="clip")
        self.add_grams(encoded, first, last, scores)

    def add_grams(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        if encoded.grams.shape[1]:
            weight_vectors.over_grams(self.weights, *self._of_grams(encoded), first, last, scores, False)

    def add_scores(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        """Like `write_scores`, but adds to the scores [n, Y] of the labels that project to each tag."""
        tag_scores = np.empty((len(scores), self._tags), scores.dtype)
        self.write_scores(encoded, first, last, tag_scores)
        weight_vectors.project(tag_scores, self.view.projection, scores)

    def add_gradient(self, encoded: Encoded, first: int, last: int, difference: Floats) -> None:
        """Add the gradient of the weights, or of the table, given the gradient of the scores [n, Y]."""
        by_tag = difference
        if not self.view.is_identity:
            by_tag = np.zeros((len(difference), self._tags), difference.dtype)
            weight_vectors.gather(difference, self.view.projection, by_tag)
        word_types = encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
        if len(encoded.type_features) and self.table is None:
            weight_vectors.type_gradient(self.weights, *self._of_types(encoded), word_types, by_tag)
        elif len(encoded.type_features) and self.table is not None:
            weight_vectors.collect(by_tag, word_types, self.table)
        weight_vectors.over_grams(self.weights, *self._of_grams(encoded), first, last, by_tag, True)

    def add_table_gradient(self, encoded: Encoded) -> None:
        """Add the gradient of the weights, given the gradient of the table."""
        assert self.table is not None  # noqa: S101 - no caller is without one
        every = np.arange(len(self.table), dtype=np.int32)
        weight_vectors.type_gradient(self.weights, *self._of_types(encoded), every, self.table)

    def _of_grams(self, e: Encoded) -> tuple[Any, ...]:
        return self.layout.ptr, self.layout.cell, e.grams, e.low, e.high, e.lead, e.sentence_ptr

    def _of_types(self, e: Encoded) -> tuple[Any, ...]:
        return self.layout.ptr, self.layout.cell, e.type_ptr, e.type_features, e.type_values


class LinearScoring(ChainScoring):
    """The scores under a weight vector: sums over views, and transition scores."""

    def __init__(
        self, parameters: ChainParameters, transitions: TransitionScores, views: Sequence[ViewEmission]
    ) -> None:
        self.parameters, self.transitions, self.views = parameters, transitions, views
        self._table_gradients: list[Any] = [None] * len(views)

    def prepared(self, encoded: Encoded) -> LinearScoring:
        return LinearScoring(self.parameters, self.transitions, [view.with_table(encoded) for view in self.views])

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        """Set scores [n, Y] to the sum over views."""
        views = list(self.views)
        identity = next((i for i, view in enumerate(views) if view.view.is_identity), None)
        if identity is None:
            scores[...] = 0
        else:  # needs no intermediate array
            views.pop(identity).write_scores(encoded, first, last, scores)
        for view in views:
            view.add_scores(encoded, first, last, scores)

    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        for view in self.parameters.emissions(gradient, self._table_gradients):
            view.add_gradient(encoded, first, last, emission)

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:
        parameters = self.parameters
        pairs = d_scores.transition
        for i, ((view, _), weights) in enumerate(zip(parameters.weighted, parameters.split(gradient), strict=True)):
            if parameters.transitions:
                by_tag = pairs
                if not view.is_identity:
                    by_tag = np.zeros_like(weights.transition)
                    kernels.collect_pairs(pairs, view.projection, by_tag)
                if parameters.observed_transitions is not None:
                    by_tag = np.where(parameters.observed_transitions[i], by_tag, 0)
                weights.transition[...] += by_tag
            if parameters.edges:
                weights.start[...] += _fold(d_scores.start, view)
                weights.end[...] += _fold(d_scores.end, view)

    def fork(self) -> LinearScoring:
        fork = LinearScoring(self.parameters, self.transitions, self.views)
        fork._table_gradients = [None if view.table is None else np.zeros_like(view.table) for view in self.views]
        return fork

    def finish_pass(self, others: Sequence[LinearScoring], encoded: Encoded, gradient: Floats) -> None:
        for i, view in enumerate(self.parameters.emissions(gradient, self._table_gradients)):
            if view.table is not None:
                for other in others:
                    np.add(view.table, other._table_gradients[i], out=view.table)
                view.add_table_gradient(encoded)


class LinearDescription(ChainDescription):
    """A chain model with a linear scorer."""

    weighted: list[bool]  # whether each view has weights

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weighted) != len(self.space.views) or not any(self.weighted):
            refuse(self.weighted, "weighted", "one for each view, and one that has weights")


@dataclass(frozen=True)
class ChainParameters(ScorerParameters):
    """The parameters of the linear scorer: the label space of a chain model and the layout of its weights."""

    kind: ClassVar[str] = "linear"
    schema: ClassVar[type[LinearDescription]] = LinearDescription

    space: LabelSpace  # the labels and their views
    # one for each view; a view with `None` has no weights, and serves evidence and output alone
    layouts: tuple[Layout | None, ...]
    scheme: TransitionScheme  # the transitions that the coding of the labels allows
    # whether there are transition weights; without them every position is classified by itself
    transitions: bool = True
    edges: bool = True  # whether the first and the last label have weights (tsuboi-2008's S and E)
    # per view with weights, bool[Y, Y]: the transitions that have one; `None`: all
    observed_transitions: tuple[NDArray[np.bool_], ...] | None = None
    # uint8[F], how often each feature occurred in training (`models.occurrences`); none if unknown
    occurrences: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    @cached_property
    def weighted(self) -> tuple[tuple[View, Layout], ...]:
        pairs = zip(self.space.views, self.layouts, strict=True)
        return tuple((view, layout) for view, layout in pairs if layout is not None)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where the weights of each of these views begin, followed by the end of the last."""
        ends = [0]
        for view, layout in self.weighted:
            tags = len(view.names)
            ends.append(ends[-1] + layout.size + tags * tags + 2 * tags)
        return tuple(ends)

    @property
    def size(self) -> int:
        return self.offsets[-1]

    @property
    def weights_by_view(self) -> dict[str, int]:
        return {
            view.guideline: end - start
            for (view, _), (start, end) in zip(self.weighted, pairwise(self.offsets), strict=True)
        }

    def pointwise(self) -> ChainParameters:
        return replace(self, transitions=False, edges=False)

    def scoring(self, weights: Floats) -> LinearScoring:
        return LinearScoring(self, self.transition_scores(weights), self.emissions(weights))

    def emissions(self, vector: Floats, tables: Sequence[Floats | None] = ()) -> list[ViewEmission]:
        """Return the emission of every view with weights, for a weight vector or a gradient."""
        parts = zip(self.weighted, self.split(vector), tables or [None] * len(self.weighted), strict=True)
        return [ViewEmission(view, layout, weights.emission, table) for (view, layout), weights, table in parts]

    def touched(self, encoded: Encoded) -> Callable[[int, int], Blocks]:
        e = encoded
        ptr = e.sentence_ptr
        type_sizes = np.diff(e.type_ptr)
        calls = count_from(1)
        seen = np.zeros(len(self.weighted[0][1].ptr) - 1, np.int32)

        def touched_by(first: int, last: int) -> Blocks:
            rows = int(ptr[first]) + first * e.outer_anchors, int(ptr[last]) + last * e.outer_anchors
            word_types = e.word_types[ptr[first] : ptr[last]]
            features = np.empty((rows[1] - rows[0]) * e.grams.shape[1] + int(type_sizes[word_types].sum()), np.int32)
            of_types = e.type_ptr, e.type_features, word_types
            count = weight_vectors.touched_features(e.grams, *rows, *of_types, seen, next(calls), features)
            at = features[:count]
            starts: list[NDArray[np.int64]] = []
            stops: list[NDArray[np.int64]] = []
            for (_, layout), (offset, end) in zip(self.weighted, pairwise(self.offsets), strict=True):
                starts += [layout.ptr[at].astype(np.int64) + offset, np.array([offset + layout.size])]
                stops += [layout.ptr[at + 1].astype(np.int64) + offset, np.array([end])]  # transitions always are
            return np.concatenate(starts), np.concatenate(stops)

        return touched_by

    def rareness(self, encoded: Encoded) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the weights that sentences touch, int64[n], and one divided by how often their features occurred.

        Transitions are as frequent as the most frequent feature.
        """
        seen = np.unique(np.concatenate([encoded.grams.reshape(-1), encoded.type_features]))
        features = seen[seen >= 0]
        is_known = len(self.occurrences) > 0
        counts = of_bytes(self.occurrences[features]) if is_known else np.ones(len(features))
        of_features = 1 / np.maximum(counts, 1)
        of_transitions = 1 / of_bytes(self.occurrences.max(initial=1))
        places: list[NDArray[np.int64]] = []
        values: list[NDArray[np.float64]] = []
        for (_, layout), (offset, end) in zip(self.weighted, pairwise(self.offsets), strict=True):
            starts = layout.ptr[features].astype(np.int64)
            sizes = layout.ptr[features + 1] - starts
            transitions = np.arange(offset + layout.size, end)
            at = np.repeat(offset + starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
            places += [at, transitions]
            values += [np.repeat(of_features, sizes), np.full(len(transitions), of_transitions)]
        return np.concatenate(places), np.concatenate(values)

    def carried_pairs(
        self, number: int, view: View, features: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the features and cells that the weights of a view have under another one, int64[weights] twice.

        Args:
            number: which of the views with weights.
            view: the other one; it has all labels of this one, and others.
            features: int64[F], the number that each feature is to have.
        """
        old, layout = self.weighted[number]
        of, cells = layout.pairs()
        positions, labels = np.divmod(cells, len(old.names))
        return features[of], positions * len(view.names) + view.numbers_of(old.names)[labels]

    def carried(self, weights: Floats, into: ChainParameters, features: NDArray[np.int64]) -> Floats:
        """Return weights among those of other parameters, which have all of these: [into.size], 0 elsewhere.

        `features`: int64[F], the number of each feature there. Views and labels are those of the same name.
        """
        vector = np.zeros(into.size, weights.dtype)
        guidelines = [view.guideline for view, _ in into.weighted]
        parts = into.split(vector)
        for number, ((old, _), weights_of_view) in enumerate(zip(self.weighted, self.split(weights), strict=True)):
            at = guidelines.index(old.guideline)
            view, layout = into.weighted[at]
            columns = view.numbers_of(old.names)
            parts[at].emission[layout.places(*self.carried_pairs(number, view, features))] = weights_of_view.emission
            parts[at].transition[np.ix_(columns, columns)] = weights_of_view.transition
            parts[at].start[columns], parts[at].end[columns] = weights_of_view.start, weights_of_view.end
        return vector

    def spread(self, values: Floats, of_transitions: float) -> Floats:
        """Return a number for each weight, [size]: that of its feature, float[F], or that of transitions."""
        vector = np.full(self.size, of_transitions, values.dtype)
        for (_, layout), values_of_view in zip(self.weighted, self.split(vector), strict=True):
            values_of_view.emission[...] = np.repeat(values, np.diff(layout.ptr))
        return vector

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each feature occurred in training, about, int64[F]; 1 if that is unknown."""
        features = len(self.weighted[0][1].ptr) - 1
        return of_bytes(self.occurrences) if len(self.occurrences) else np.ones(features, np.int64)

    def to_json(self) -> Description:
        return {"weighted": [layout is not None for layout in self.layouts], **super().to_json()}

    @classmethod
    def array_rules(cls, description: LinearDescription, arrays: Arrays) -> dict[str, ArrayRule]:
        rules = super().array_rules(description, arrays)
        weighted = 0
        for i, (view, has_weights) in enumerate(zip(description.space.views, description.weighted, strict=True)):
            if has_weights:
                rules[f"layout.{i}.ptr"] = ArrayRule(POINTERS, (None,), is_pointer=True)
                rules[f"layout.{i}.cell"] = ArrayRule(CELLS, (None,))
                if "observed.0" in arrays:
                    rules[f"observed.{weighted}"] = ArrayRule(BOOLEANS, (len(view.names),) * 2)
                weighted += 1
        rules["occurrences"] = ArrayRule(("uint8",), (None,))
        return rules

    @classmethod
    def of_parts(cls, description: LinearDescription, space: LabelSpace, arrays: Arrays) -> ChainParameters:
        weighted = description.weighted
        layouts = tuple(
            Layout(arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"]) if has_weights else None
            for i, has_weights in enumerate(weighted)
        )
        observed = tuple(arrays[f"observed.{i}"] for i in range(sum(weighted))) if "observed.0" in arrays else None
        scheme = cls.scheme_of(arrays)
        transitions, edges = description.transitions, description.edges
        return cls(space, layouts, scheme, transitions, edges, observed, arrays["occurrences"])

    def check_encoder(self, windows: NDArray[np.int64]) -> None:
        for view, layout in self.weighted:
            check_layout(layout, windows, len(view.names))
        if len(self.occurrences) not in (0, len(windows)):
            refuse(len(self.occurrences), "occurrences", f"{len(windows)}, one for each feature")

    def arrays(self) -> Arrays:
        arrays = super().arrays()
        for i, layout in enumerate(self.layouts):
            if layout is not None:
                arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"] = layout.ptr, layout.cell
        for i, observed in enumerate(self.observed_transitions or ()):
            arrays[f"observed.{i}"] = observed
        arrays["occurrences"] = self.occurrences
        return arrays

    def split(self, vector: Floats) -> tuple[kernels.Weights, ...]:
        """Return the parts of a weight vector (or a gradient) for each view with weights; nothing is copied."""
        parts = []
        for (view, layout), offset in zip(self.weighted, self.offsets, strict=False):
            tags = len(view.names)
            square = offset + layout.size
            start = square + tags * tags
            end = start + tags
            pairs = vector[square:start].reshape(tags, tags)
            parts.append(kernels.Weights(vector[offset:square], pairs, vector[start:end], vector[end : end + tags]))
        return tuple(parts)

    def transition_scores(self, vector: Floats) -> TransitionScores:
        """Return transition scores, summed over views, -inf where the scheme forbids, and their potentials."""
        Y = len(self.space)
        score, start, end = (np.zeros(shape, vector.dtype) for shape in ((Y, Y), Y, Y))
        for (view, _), weights in zip(self.weighted, self.split(vector), strict=True):
            if self.transitions and view.is_identity:
                score += weights.transition
            elif self.transitions:
                kernels.spread_pairs(weights.transition, view.projection, score)
            if self.edges:
                start += weights.start[view.projection]
                end += weights.end[view.projection]
        return self.under_scheme(score, start, end)


def _fold(values: Floats, view: View) -> Floats:
    """Sum the rows of `values` that project to the same tag."""
    if view.is_identity:
        return values
    folded = np.zeros((len(view.names), *values.shape[1:]), values.dtype)
    np.add.at(folded, view.projection, values)
    return folded
