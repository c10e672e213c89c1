"""Perceptron steps of linear scores, and the arguments of their kernel: views, transitions, sentences and buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import perceptron as kernels
from tagweave.structures.loss import ContradictionError

if TYPE_CHECKING:
    from tagweave.models.parameters import ChainParameters, ViewWeights

Floats = NDArray[Any]

_VIEWS = 3  # the fewest views that the kernel takes


def correct(
    parameters: ChainParameters,
    weights: Floats,
    totals: Floats,
    encoded: Encoded,
    masks: Floats,
    first: int,
    last: int,
    batch: int,
    step: int,
) -> int:
    """Perceptron steps over sentences first .. last - 1: see `ChainObjective.correct`."""
    only = np.where((masks > 0).sum(axis=1) == 1, masks.argmax(axis=1), -1).astype(np.int32)
    of_views, base = views(parameters, weights, totals), transitions(parameters, masks.dtype.type)
    given = sentences(encoded, masks, only)
    buffers = allocate(of_views, len(parameters.weighted), base, given, first, last)
    mistakes, impossible = kernels.correct(of_views, base, given, first, last, batch, step, buffers)
    if impossible >= 0:
        raise ContradictionError(f"training sentence {impossible + 1}: no label sequence agrees with the annotation")
    return int(mistakes)


def views(parameters: ChainParameters, weights: Floats, totals: Floats) -> tuple[kernels.ViewWeights, ...]:
    """The views with weights, that of whole labels first, with arrays of the same types; padded to three with copies of
    the first."""
    ptr = np.result_type(*(layout.ptr for _, layout in parameters.weighted))
    cell = np.result_type(*(layout.cell for _, layout in parameters.weighted))
    weighted = []
    for i, (view, layout) in enumerate(parameters.weighted):
        pairs = np.ones((len(view.names),) * 2, bool)
        if parameters.observed_transitions is not None:
            pairs = np.ascontiguousarray(parameters.observed_transitions[i])
        weighted.append(
            kernels.ViewWeights(
                _parts(parameters.split(weights)[i]),
                _parts(parameters.split(totals)[i]),
                layout.ptr.astype(ptr, copy=False),
                layout.cell.astype(cell, copy=False),
                view.projection,
                view.is_identity,
                pairs,
            )
        )
    weighted.sort(key=lambda view: not view.whole)
    return (*weighted, *[weighted[0]] * (_VIEWS - len(weighted)))


def _parts(weights: ViewWeights) -> kernels.Weights:
    return kernels.Weights(weights.emission, weights.transition, weights.start, weights.end)


def transitions(parameters: ChainParameters, dtype: type[np.floating[Any]]) -> kernels.Transitions:
    """The initial transition scores: 0, or -inf where the scheme forbids."""
    scheme = parameters.scheme
    score, start, end = (
        np.where(allowed, 0, -np.inf).astype(dtype) for allowed in (scheme.transition, scheme.start, scheme.end)
    )
    return kernels.Transitions(score, start, end, parameters.transitions, parameters.edges)


def sentences(encoded: Encoded, masks: Floats, only: NDArray[np.int32]) -> kernels.Sentences:
    """The sentences, with their label sets."""
    e, candidates = encoded, encoded.candidates
    return kernels.Sentences(
        e.sentence_ptr,
        e.word_types,
        e.type_ptr,
        e.type_features,
        e.type_values,
        e.grams,
        e.lead,
        e.low,
        e.high,
        e.allow,
        e.weights,
        np.zeros(0, np.int64) if candidates is None else candidates.ptr,
        np.zeros(0, np.int32) if candidates is None else candidates.labels,
        masks,
        only,
    )


def allocate(
    views: tuple[kernels.ViewWeights, ...],
    count: int,
    base: kernels.Transitions,
    e: kernels.Sentences,
    first: int,
    last: int,
) -> kernels.Buffers:
    """Buffers for steps over sentences first .. last - 1, with the first `count` views."""
    labels, dtype, bounds = len(base.start), base.score.dtype, e.ptr[first : last + 1]
    tokens = slice(bounds[0], bounds[-1])
    counts = np.diff(e.type_ptr)[e.word_types[tokens]] + int((e.high - e.low + 1).sum())
    features = np.concatenate([[0], np.cumsum(counts)])
    most = int(np.diff(features[bounds - bounds[0]]).max(initial=1))
    cells = int(np.diff(bounds).max(initial=1)) * max(labels, *(len(view.weights.start) for view in views))
    score, transposed = np.empty((2, labels, labels), dtype)
    now = kernels.Scores(score, transposed, np.empty((2, labels), dtype), *np.empty((2, labels), dtype))
    moves = kernels.Moves(np.empty(2 * most, np.int64), np.empty(2 * most))
    best, target = np.empty((2, len(e.word_types[tokens])), np.int32)
    scores, again, of_view = np.empty((3, cells), dtype)
    return kernels.Buffers(count, now, moves, scores, again, of_view, best, target, np.zeros(last - first, np.bool_))
