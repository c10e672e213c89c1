"""Mistakes: what the best output of a sentence has, and the best one that the evidence allows has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.sequences import Evidence
from tagweave.features.encoded import Encoded
from tagweave.kernels import decode, weight_vectors
from tagweave.kernels import perceptron as kernels
from tagweave.models.chain_scorer import ChainScoring
from tagweave.structures.chain import Chain, ChainGradient
from tagweave.structures.loss import contradiction

if TYPE_CHECKING:
    from tagweave.models.linear_scorer import ChainParameters, ViewWeights

Labels = NDArray[np.int32]


def add_mistake(scoring: ChainScoring, structure: Chain, encoded: Encoded, sentence: int, gradient: Floats) -> int:
    """Add features(best) - features(best allowed); return how many best labels the evidence excludes."""
    where = encoded, sentence, sentence + 1
    batch, scores = structure.batch(encoded.evidence.part(*where[1:])), scoring.scores(*where)
    sets, masks = batch.evidence.sets, _masks(batch.evidence)
    best = Chain.best(scores, batch)
    errors = int(((best < 0) | (masks[sets, best] == 0)).sum())
    if not errors:
        return 0
    scores = scoring.scores(*where)  # again: decoding has overwritten them
    difference = ChainGradient.zeros(scores)
    decode.exclude(scores.emission, sets, masks)
    target = Chain.best(scores, batch)
    if min(best.min(), target.min()) < 0:
        raise contradiction(batch.evidence.ids[0], Chain.contradiction)
    _add_path(difference, best, 1)
    _add_path(difference, target, -1)
    structure.finish(batch, difference)
    scoring.add_gradient(*where, difference.emission, gradient)
    scoring.add_transition_gradient(difference, gradient)
    return errors


def _masks(evidence: Evidence) -> Floats:
    assert evidence.rows is not None  # noqa: S101 - objectives have their label sets
    return evidence.rows.masks


def _add_path(gradient: ChainGradient, labels: Labels, times: int) -> None:
    gradient.emission[np.arange(len(labels)), labels] += times
    np.subtract.at(gradient.paths, (labels[:-1], labels[1:]), times)


_VIEWS = 3  # the fewest views that the kernel takes


def correct(
    parameters: ChainParameters,
    weights: Floats,
    totals: Floats,
    encoded: Encoded,
    first: int,
    last: int,
    batch: int,
    step: int,
) -> int:
    """Perceptron steps over sentences first .. last - 1: see `ChainObjective.correct`."""
    of_views, base = views(parameters, weights, totals), transitions(parameters, weights.dtype.type)
    given = sentences(encoded)
    buffers = allocate(of_views, len(parameters.weighted), base, given, first, last)
    mistakes, impossible = kernels.correct(of_views, base, given, first, last, batch, step, buffers)
    if impossible >= 0:
        raise contradiction(encoded.evidence.ids[impossible], Chain.contradiction)
    return int(mistakes)


def views(parameters: ChainParameters, weights: Floats, totals: Floats) -> tuple[kernels.ViewWeights, ...]:
    """Return the views with weights, that of whole labels first, padded to three with copies of the first."""
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


def sentences(encoded: Encoded) -> kernels.Sentences:
    """The sentences, with their label sets."""
    e, evidence, rows = encoded, encoded.evidence, encoded.evidence.rows
    assert rows is not None  # noqa: S101 - objectives have their label sets
    candidates = evidence.candidates
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
        evidence.sets,
        evidence.weights,
        np.zeros(0, np.int64) if candidates is None else candidates.ptr,
        np.zeros(0, np.int32) if candidates is None else candidates.labels,
        rows.masks,
        rows.only,
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


Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]


class MistakeObjective(Protocol):
    """An objective whose mistakes can be summed."""

    dtype: Any

    @property
    def size(self) -> int: ...

    def add_mistakes(self, weights: Floats, first: int, last: int, gradient: Floats) -> int:
        """Adds features(best) - features(best allowed) where the best contradicts the evidence. Returns how often."""
        ...

    def touched(self, first: int, last: int) -> Blocks:
        """The weights that sentences first .. last - 1 can touch, as blocks of the vector."""
        ...


def correct_mistakes(
    objective: MistakeObjective, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int
) -> int:
    """Subtract mistakes from the weights and, times the number of the step, from the totals; return their number."""
    gradient, mistakes = np.zeros(objective.size, objective.dtype), 0
    for number, start in enumerate(range(first, last, batch), step):
        stop = min(start + batch, last)
        if wrong := objective.add_mistakes(weights, start, stop, gradient):
            mistakes += wrong
            weight_vectors.average(weights, totals, gradient, *objective.touched(start, stop), number)
    return mistakes
