"""Steps of mistake-driven learners over chains: every batch of sentences is decoded under the weights w before it,

    best   = argmax_y score(x, y; w)        target = argmax_y score(x, y; w) over the y that the evidence allows

and each sentence with weight c whose best sequence is not allowed moves the weights along

    d = c (f(x, best) - f(x, target))

as the rule of the learner has it (`kernels.mistakes`). The features of a token depend on its own label alone: where
both sequences agree they cancel, and are not looked up.

Transition scores are sums over views. With p the projection of a view, A its transition weights:

    score[i, j] += A[p[i], p[j]]          A'[p[i], p[j]] += pairs[i, j]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import decode, inlined, inner, kernel, mistakes, weight_vectors
from tagweave.kernels.instructions import prefetch


@kernel
def spread_pairs(transition, projection, score):
    """Add transition float[tags, tags] to score float[Y, Y]."""
    for i in range(_U(projection.shape[0])):
        row = transition[_U(projection[i])]
        for j in range(_U(projection.shape[0])):
            score[i, j] += row[_U(projection[j])]


@kernel
def collect_pairs(pairs, projection, transition):
    """The transpose of `spread_pairs`: add pairs float[Y, Y] to transition float[tags, tags]."""
    tags = transition.shape[0]
    folded = np.zeros(pairs.shape[1], pairs.dtype)
    for tag in range(tags):  # rows first: adding whole rows is fast, and leaves few columns to scatter
        folded[:] = 0
        for i in range(_U(projection.shape[0])):
            if projection[i] == tag:
                for j in range(_U(pairs.shape[1])):
                    folded[j] += pairs[i, j]
        for j in range(_U(pairs.shape[1])):
            transition[tag, _U(projection[j])] += folded[j]


_U = np.uintp
_ONE = np.uintp(1)


class Sentences(NamedTuple):
    """Encoded sentences with evidence: the arrays of `Encoded`, and of their label sets."""

    ptr: NDArray[Any]
    word_types: NDArray[Any]
    type_ptr: NDArray[Any]
    type_features: NDArray[Any]
    type_values: NDArray[Any]
    grams: NDArray[Any]
    lead: int
    low: NDArray[Any]
    high: NDArray[Any]
    allow: NDArray[Any]
    weights: NDArray[Any]
    masks: NDArray[Any]  # [sets, Y], 1 where a set allows a label
    only: NDArray[Any]  # int32[sets], the label of a set of one, else -1


class Weights(NamedTuple):
    """The weights of one view."""

    emission: NDArray[Any]
    transition: NDArray[Any]
    start: NDArray[Any]
    end: NDArray[Any]


class ViewWeights(NamedTuple):
    """The weights of one view, where they begin in the vector, their layout, and which label projects to which tag."""

    weights: Weights
    offset: int
    ptr: NDArray[Any]
    cell: NDArray[Any]
    projection: NDArray[Any]
    labels_are_tags: bool  # every label is a tag of its own
    pairs: NDArray[Any]  # bool[tags, tags], the transitions that have a weight


class Transitions(NamedTuple):
    """The initial transition scores, 0 or -inf where forbidden; and whether weights are added."""

    score: NDArray[Any]
    start: NDArray[Any]
    end: NDArray[Any]
    has_pairs: bool
    has_edges: bool


class Scores(NamedTuple):
    """Transition scores [Y, Y] and their transpose, their `row_bounds`, and the scores of first and last labels [Y]."""

    score: NDArray[Any]
    transposed: NDArray[Any]
    bounds: NDArray[Any]
    start: NDArray[Any]
    end: NDArray[Any]


class Buffers(NamedTuple):
    """The arrays that the kernel writes, made by NumPy, since every allocation in a kernel takes long to compile."""

    views: int  # that count: at least three are passed, so that one compiled kernel serves one guideline and two
    now: Scores
    moves: mistakes.Moves
    scores: NDArray[Any]  # a cell for every label of the longest sentence
    again: NDArray[Any]
    of_view: NDArray[Any]  # a cell for every tag
    best: NDArray[Any]  # int32[n], of all tokens of the call
    target: NDArray[Any]
    errors: NDArray[Any]  # int32[S], at how many positions the evidence contradicts the best labels


@inner
def _sum_transitions(views, base, buffers):
    """Set the transition scores to the sums over all views."""
    score, transposed, bounds, start, end = buffers.now
    for i in range(_U(score.shape[0])):
        start[i], end[i] = base.start[i], base.end[i]
        for j in range(_U(score.shape[1])):
            score[i, j] = base.score[i, j]
    for v in range(buffers.views):
        view = views[v]
        if base.has_pairs and view.labels_are_tags:
            for i in range(_U(score.shape[0])):
                for j in range(_U(score.shape[1])):
                    score[i, j] += view.weights.transition[i, j]
        elif base.has_pairs:
            spread_pairs(view.weights.transition, view.projection, score)
        if base.has_edges:
            for i in range(_U(start.shape[0])):
                start[i] += view.weights.start[_U(view.projection[i])]
                end[i] += view.weights.end[_U(view.projection[i])]
    for i in range(_U(score.shape[0])):
        for j in range(_U(score.shape[1])):
            transposed[j, i] = score[i, j]
    decode.row_bounds(transposed, bounds)


@inner
def _score(views, count, e, s, scores, buffer):
    """Set scores [n, Y] to the emission scores of sentence s. buffer: n cells per tag."""
    word_types = e.word_types[e.ptr[s] : e.ptr[s + 1]]
    first = True
    for v in range(count):
        view = views[v]
        n, tags = scores.shape[0], view.weights.start.shape[0]
        scores_of_view = scores if first and view.labels_are_tags else buffer[: n * tags].reshape(n, tags)
        types = (e.type_ptr, e.type_features, e.type_values, word_types)
        weight_vectors.type_scores(view.weights.emission, view.ptr, view.cell, *types, scores_of_view)
        weight_vectors.over_grams(
            view.weights.emission,
            view.ptr,
            view.cell,
            e.grams,
            e.low,
            e.high,
            e.lead,
            e.ptr,
            s,
            s + 1,
            scores_of_view,
            False,
        )
        if first and not view.labels_are_tags:
            for t in range(_U(scores.shape[0])):
                for y in range(_U(scores.shape[1])):
                    scores[t, y] = 0
        if not (first and view.labels_are_tags):
            weight_vectors.project(scores_of_view, view.projection, scores)
        first = False


@inlined
def _errors(labels, allow, masks):
    """Return how many labels are not allowed."""
    errors = 0
    for t in range(_U(labels.shape[0])):
        if labels[t] < 0 or masks[_U(allow[t]), _U(labels[t])] == 0:
            errors += 1
    return errors


@inlined
def _only_sequence(delta, now, allow, only, labels):
    """Set labels to the one sequence that the sets allow, -1 where it is forbidden.

    delta are the scores after decoding: -inf for labels that are impossible in themselves.
    """
    for t in range(_U(labels.shape[0])):
        labels[t] = only[_U(allow[t])]
    least = now.start[_U(labels[0])] + now.end[_U(labels[-1])]
    for t in range(_U(labels.shape[0])):
        least = min(least, delta[t, _U(labels[t])])
        if t:
            least = min(least, now.score[_U(labels[t - _ONE]), _U(labels[t])])
    if least == -np.inf:
        for t in range(_U(labels.shape[0])):
            labels[t] = -1


@inlined
def _place(ptr, cell, g, at):
    """Return the index of the weight of feature g for a cell of its window; -1 if it has none."""
    start, stop = ptr[_U(g)], ptr[_U(g) + _ONE]
    if cell.shape[0] == 0:  # all cells of every window, or no weight at all
        return np.int64(start + at) if start < stop else np.int64(-1)
    while start < stop:
        middle = (start + stop) >> 1
        if cell[_U(middle)] < at:
            start = middle + 1
        else:
            stop = middle
    is_there = start < ptr[_U(g) + _ONE] and cell[_U(start)] == at
    return np.int64(start) if is_there else np.int64(-1)


@inlined
def _note(vectors, at, by, moves, count):
    """Note that weight `at` differs, and prefetch what its move needs. Returns the new count."""
    moves.at[_U(count)] = at
    moves.by[_U(count)] = by
    prefetch(vectors.weights, _U(at))
    prefetch(vectors.memory, _U(at))
    return count + 1


@inlined
def _note_feature(view, vectors, g, one, other, by, moves, count):
    """Note feature g, which cell `one` of its window has more often, and cell `other` less often."""
    for at, sign in ((one, by), (other, -by)):
        place = _place(view.ptr, view.cell, g, at)
        if place >= 0:
            count = _note(vectors, view.offset + place, sign, moves, count)
    return count


@inlined
def _note_token(view, vectors, e, t, row, best, target, weight, moves, count):
    """Note the features of token t, whose first anchor is `row`, which has tag `best` and not `target`."""
    tags = view.weights.start.shape[0]
    word_type = _U(e.word_types[_U(t)])
    for f in range(_U(e.type_ptr[word_type]), _U(e.type_ptr[word_type + _ONE])):
        if e.type_features[f] >= 0:
            by = weight * e.type_values[f] if e.type_values.shape[0] else weight
            count = _note_feature(view, vectors, e.type_features[f], best, target, by, moves, count)
    for k in range(e.grams.shape[1]):
        for offset in range(e.low[k], e.high[k] + 1):
            g = e.grams[_U(row + offset), _U(k)]
            if g >= 0:
                base = (e.high[k] - offset) * tags
                count = _note_feature(view, vectors, g, base + best, base + target, weight, moves, count)
    return count


@inner
def _note_sentence(view, vectors, base, e, s, best, target, moves, count):
    """Note the difference of sentence s in one view. Returns the new count."""
    tag, by, tags = view.projection, e.weights[s], view.weights.start.shape[0]
    extra = (e.grams.shape[0] - e.ptr[-1]) // max(1, e.ptr.shape[0] - 1)
    row = e.ptr[s] + s * extra + e.lead
    pairs = view.offset + view.weights.emission.shape[0]
    start = pairs + tags * tags
    before, before_target = np.int64(0), np.int64(0)
    for t in range(best.shape[0]):
        one, other = np.int64(tag[_U(best[t])]), np.int64(tag[_U(target[t])])
        if one != other:
            count = _note_token(view, vectors, e, e.ptr[s] + t, row + t, one, other, by, moves, count)
        if t and base.has_pairs and (one != other or before != before_target):
            if view.pairs[_U(before), _U(one)]:
                count = _note(vectors, pairs + before * tags + one, by, moves, count)
            if view.pairs[_U(before_target), _U(other)]:
                count = _note(vectors, pairs + before_target * tags + other, -by, moves, count)
        if base.has_edges and t == 0 and one != other:
            count = _note(vectors, start + one, by, moves, count)
            count = _note(vectors, start + other, -by, moves, count)
        before, before_target = one, other
    if base.has_edges and before != before_target:
        count = _note(vectors, start + tags + before, by, moves, count)
        count = _note(vectors, start + tags + before_target, -by, moves, count)
    return count


@inner
def _decode(views, e, s, buffers, best, target):
    """Set best and target int32[n] for sentence s. Returns the number of errors; target is set if there are any."""
    now, n, labels = buffers.now, best.shape[0], buffers.now.start.shape[0]
    transitions = (now.score, now.transposed, now.bounds, now.start, now.end)
    scores, again = buffers.scores[: n * labels].reshape(n, labels), buffers.again[: n * labels].reshape(n, labels)
    allow = e.allow[e.ptr[s] : e.ptr[s + 1]]
    _score(views, buffers.views, e, s, scores, buffers.of_view)
    is_one = True  # the sets allow exactly one label for every token
    for t in range(_U(n)):
        is_one = is_one and e.only[_U(allow[t])] >= 0
    if not is_one:
        for i in range(_U(n * labels)):
            buffers.again[i] = buffers.scores[i]
    decode.best_sequence(scores, *transitions, best)
    errors = _errors(best, allow, e.masks)
    if errors == 0:
        return 0
    if is_one:
        _only_sequence(scores, now, allow, e.only, target)
    else:
        decode.exclude(again, allow, e.masks)
        decode.best_sequence(again, *transitions, target)
    return errors


@kernel
def correct(views, vectors, base, e, first, last, batch, step, rule, buffers):
    """Steps `step` and on, of `batch` sentences each, over sentences first .. last - 1.

    Returns the sum of the costs, and the number of a sentence whose evidence allows no sequence, else -1.
    """
    origin, cost, has_moved = e.ptr[first], 0.0, True
    for low in range(first, last, batch):
        high = min(last, low + batch)
        if has_moved:
            _sum_transitions(views, base, buffers)
        has_moved = False
        for s in range(low, high):
            buffers.errors[s - first] = 0
            if e.ptr[s + 1] > e.ptr[s] and e.weights[s] > 0:
                here, end = e.ptr[s] - origin, e.ptr[s + 1] - origin
                best, target = buffers.best[here:end], buffers.target[here:end]
                buffers.errors[s - first] = _decode(views, e, s, buffers, best, target)
                if buffers.errors[s - first] and (best[0] < 0 or target[0] < 0):
                    return cost, s
        for s in range(low, high):
            if buffers.errors[s - first]:
                here, end = e.ptr[s] - origin, e.ptr[s + 1] - origin
                count = np.int64(0)  # a literal would be another type, for which all is compiled once more
                best, target = buffers.best[here:end], buffers.target[here:end]
                for v in range(buffers.views):
                    count = _note_sentence(views[v], vectors, base, e, s, best, target, buffers.moves, count)
                cost += mistakes.move(
                    rule, vectors, buffers.moves, count, buffers.errors[s - first], e.weights[s], step
                )
                has_moved = True
        step += 1
    return cost, -1
