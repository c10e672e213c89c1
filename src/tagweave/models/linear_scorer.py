"""The linear scorer of chains: the layout of its weights, and the scores of template features under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count as count_from
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import BOOLEANS, CELLS, POINTERS, ArrayRule, Rule, flag, list_of, refuse
from tagweave.kernels import perceptron as kernels
from tagweave.kernels import weight_vectors
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.chain_scorer import Blocks, ChainScoring, Description, ScorerParameters
from tagweave.models.layout import Layout, Tables, check_layout, emissions, write_emission
from tagweave.models.packing import Arrays
from tagweave.structures.chain import ChainGradient
from tagweave.structures.lockstep import TransitionScores

Floats = NDArray[Any]


class LinearScoring(ChainScoring):
    """The scores under a weight vector; `tables` has, per view, the scores of all word types, if computed before."""

    def __init__(
        self, parameters: ChainParameters, weights: Floats, transitions: TransitionScores, tables: Tables | None = None
    ) -> None:
        self.parameters, self.weights, self.transitions = parameters, weights, transitions
        self.views = emissions(parameters, weights)
        self.tables: Sequence[Floats | None] = tables or [None] * len(self.views)
        self._table_gradients: list[Any] = [None] * len(self.views)

    def prepared(self, encoded: Encoded) -> LinearScoring:
        tables = [view.type_table(encoded) for view in self.views]
        return LinearScoring(self.parameters, self.weights, self.transitions, tables)

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        write_emission(self.views, encoded, first, last, scores, self.tables)

    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        views = emissions(self.parameters, gradient)
        for view, table in zip(views, self._table_gradients, strict=True):
            view.add_gradient(encoded, first, last, table, emission)

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:
        self.parameters.add_transition_gradient(gradient, d_scores.transition, d_scores.start, d_scores.end)

    def fork(self) -> LinearScoring:
        own = LinearScoring(self.parameters, self.weights, self.transitions, list(self.tables))
        own._table_gradients = [None if table is None else np.zeros_like(table) for table in self.tables]
        return own

    def finish_pass(self, others: Sequence[LinearScoring], encoded: Encoded, gradient: Floats) -> None:
        for i, view in enumerate(emissions(self.parameters, gradient)):
            table = self._table_gradients[i]
            if table is not None:
                for other in others:
                    np.add(table, other._table_gradients[i], out=table)
                view.add_table_gradient(encoded, table)


@dataclass(frozen=True)
class ChainParameters(ScorerParameters):
    """The parameters of the linear scorer: the label space of a chain model and the layout of its weights."""

    kind: ClassVar[str] = "linear"

    space: LabelSpace  # the labels and their views
    # one for each view; a view with `None` has no weights, and serves evidence and output alone
    layouts: tuple[Layout | None, ...]
    scheme: TransitionScheme  # the transitions that the coding of the labels allows
    # whether there are transition weights; without them every position is classified by itself
    transitions: bool = True
    edges: bool = True  # whether the first and the last label have weights (tsuboi-2008's S and E)
    # per view with weights, bool[Y, Y]: the transitions that have one; `None`: all
    observed_transitions: tuple[NDArray[np.bool_], ...] | None = None

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
        return LinearScoring(self, weights, self.transition_scores(weights))

    def touched(self, encoded: Encoded) -> Callable[[int, int], Blocks]:
        e, ptr, type_sizes, calls = encoded, encoded.sentence_ptr, np.diff(encoded.type_ptr), count_from(1)
        seen = np.zeros(len(self.weighted[0][1].ptr) - 1, np.int32)

        def touched_by(first: int, last: int) -> Blocks:
            rows = int(ptr[first]) + first * e.outer_anchors, int(ptr[last]) + last * e.outer_anchors
            word_types = e.word_types[ptr[first] : ptr[last]]
            found = np.empty((rows[1] - rows[0]) * e.grams.shape[1] + int(type_sizes[word_types].sum()), np.int32)
            of_types = e.type_ptr, e.type_features, word_types
            count = weight_vectors.touched_features(e.grams, *rows, *of_types, seen, next(calls), found)
            at, starts, stops = found[:count], list[NDArray[np.int64]](), list[NDArray[np.int64]]()
            for (_, layout), (offset, end) in zip(self.weighted, pairwise(self.offsets), strict=True):
                starts += [layout.ptr[at].astype(np.int64) + offset, np.array([offset + layout.size])]
                stops += [layout.ptr[at + 1].astype(np.int64) + offset, np.array([end])]  # transitions always are
            return np.concatenate(starts), np.concatenate(stops)

        return touched_by

    def to_json(self) -> Description:
        weighted = [layout is not None for layout in self.layouts]
        return {"weighted": weighted, "transitions": self.transitions, "edges": self.edges}

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        return {"weighted": list_of(flag), "transitions": flag, "edges": flag}

    @classmethod
    def check(cls, description: Description, where: str) -> None:
        weighted, views = description["weighted"], description["space"]["views"]
        if len(weighted) != len(views) or not any(weighted):
            refuse(weighted, f"{where}weighted", "one for each view, and one that has weights")

    @classmethod
    def array_rules(cls, description: Description, arrays: Arrays) -> dict[str, ArrayRule]:
        labels, features = len(description["space"]["names"]), len(arrays.get("index.codes", ()))
        rules = {
            "scheme.transition": ArrayRule(BOOLEANS, (labels, labels)),
            "scheme.start": ArrayRule(BOOLEANS, (labels,)),
            "scheme.end": ArrayRule(BOOLEANS, (labels,)),
        }
        weighted = 0
        for i, (view, has) in enumerate(zip(description["space"]["views"], description["weighted"], strict=True)):
            if has:
                rules[f"layout.{i}.ptr"] = ArrayRule(POINTERS, (features + 1,), is_pointer=True)
                rules[f"layout.{i}.cell"] = ArrayRule(CELLS, (None,))
                if "observed.0" in arrays:
                    rules[f"observed.{weighted}"] = ArrayRule(BOOLEANS, (len(view["names"]),) * 2)
                weighted += 1
        return rules

    @classmethod
    def of_parts(cls, description: Description, space: LabelSpace, arrays: Arrays) -> ChainParameters:
        weighted = description["weighted"]
        layouts = tuple(
            Layout(arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"]) if has_weights else None
            for i, has_weights in enumerate(weighted)
        )
        scheme = TransitionScheme(*(arrays[f"scheme.{part}"] for part in ("transition", "start", "end")))
        observed = tuple(arrays[f"observed.{i}"] for i in range(sum(weighted))) if "observed.0" in arrays else None
        return cls(space, layouts, scheme, description["transitions"], description["edges"], observed)

    def check_encoder(self, windows: NDArray[np.int64]) -> None:
        for view, layout in self.weighted:
            check_layout(layout, windows, len(view.names))

    def arrays(self) -> Arrays:
        scheme = self.scheme
        arrays: Arrays = {f"scheme.{part}": getattr(scheme, part) for part in ("transition", "start", "end")}
        for i, layout in enumerate(self.layouts):
            if layout is not None:
                arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"] = layout.ptr, layout.cell
        for i, observed in enumerate(self.observed_transitions or ()):
            arrays[f"observed.{i}"] = observed
        return arrays

    def split(self, vector: Floats) -> tuple[kernels.Weights, ...]:
        """The parts of a weight vector (or a gradient) for each view with weights; nothing is copied."""
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
        """Transition scores, summed over views, -inf where the scheme forbids, and their potentials."""
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
        if not self.scheme.is_free:
            score[~self.scheme.transition] = -np.inf
            start[~self.scheme.start], end[~self.scheme.end] = -np.inf, -np.inf
        return TransitionScores.of_scores(score, start, end)

    def add_transition_gradient(self, gradient: Floats, pairs: Floats, start: Floats, end: Floats) -> None:
        for i, ((view, _), weights) in enumerate(zip(self.weighted, self.split(gradient), strict=True)):
            if self.transitions:
                by_tag = pairs
                if not view.is_identity:
                    by_tag = np.zeros_like(weights.transition)
                    kernels.collect_pairs(pairs, view.projection, by_tag)
                if self.observed_transitions is not None:
                    by_tag = np.where(self.observed_transitions[i], by_tag, 0)
                weights.transition[...] += by_tag
            if self.edges:
                weights.start[...] += _fold(start, view)
                weights.end[...] += _fold(end, view)


def _fold(values: Floats, view: View) -> Floats:
    """Sum the rows of `values` that project to the same tag."""
    if view.is_identity:
        return values
    folded = np.zeros((len(view.names), *values.shape[1:]), values.dtype)
    np.add.at(folded, view.projection, values)
    return folded


SCORERS: dict[str, type[ScorerParameters]] = {ChainParameters.kind: ChainParameters}
