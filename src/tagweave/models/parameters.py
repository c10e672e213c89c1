"""The parameters of a chain model: its label space and the layout of its weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import transitions as kernels
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.layout import Layout
from tagweave.models.parts import Arrays
from tagweave.structures.transitions import Transitions

Floats = NDArray[Any]


@dataclass(frozen=True)
class ViewWeights:
    """The weights of one view, as parts of one vector.

    Attributes:
        emission: one for each pair of the view's layout.
        transition: [Y, Y], row: from.
        start, end: [Y], for the first and the last label of a sentence.
    """

    emission: Floats
    transition: Floats
    start: Floats
    end: Floats


@dataclass(frozen=True)
class ChainParameters:
    """The label space of a chain model and the layout of its weights.

    Attributes:
        space: the labels and their views.
        layouts: one for each view; a view with `None` has no weights, and serves evidence and output alone.
        scheme: the transitions that the coding of the labels allows.
        transitions: whether there are transition weights; without them every position is classified by itself.
        edges: whether the first and the last label have weights (tsuboi-2008's S and E).
        observed_transitions: per view with weights, bool[Y, Y]: the transitions that have one; `None`: all.
    """

    space: LabelSpace
    layouts: tuple[Layout | None, ...]
    scheme: TransitionScheme
    transitions: bool = True
    edges: bool = True
    observed_transitions: tuple[NDArray[np.bool_], ...] | None = None

    @cached_property
    def weighted(self) -> tuple[tuple[View, Layout], ...]:
        """The views with weights, and their layouts."""
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
        """The length of the weight vector."""
        return self.offsets[-1]

    def arrays(self) -> Arrays:
        """The arrays of a model file, by name."""
        scheme = self.scheme
        arrays: Arrays = {
            "scheme.transition": scheme.transition,
            "scheme.start": scheme.start,
            "scheme.end": scheme.end,
        }
        for i, layout in enumerate(self.layouts):
            if layout is not None:
                arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"] = layout.ptr, layout.cell
        for i, observed in enumerate(self.observed_transitions or ()):
            arrays[f"observed.{i}"] = observed
        return arrays

    def split(self, vector: Floats) -> tuple[ViewWeights, ...]:
        """The parts of a weight vector (or a gradient) for each view with weights; nothing is copied."""
        parts = []
        for (view, layout), offset in zip(self.weighted, self.offsets, strict=False):
            tags = len(view.names)
            square = offset + layout.size
            start = square + tags * tags
            parts.append(
                ViewWeights(
                    vector[offset:square],
                    vector[square:start].reshape(tags, tags),
                    vector[start : start + tags],
                    vector[start + tags : start + 2 * tags],
                )
            )
        return tuple(parts)

    def transition_scores(self, vector: Floats) -> Transitions:
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
        return Transitions.of_scores(score, start, end)

    def add_transition_gradient(self, gradient: Floats, pairs: Floats, start: Floats, end: Floats) -> None:
        """Add the gradient of the joint transition scores to that of every view's weights."""
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
