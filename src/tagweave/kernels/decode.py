"""Max-product over chains, under evidence: the best sequence, and the k best.

    delta[0, j] = start[j] + s[0, j]                  delta[t, j] = s[t, j] + max_i (delta[t-1, i] + T[i, j])
    best = max_j (delta[L-1, j] + end[j])

s[t, j] is -inf where the evidence excludes label j. Back pointers are not stored: the path is recovered from its end by
repeating the comparison for one label per position, which costs Y instead of Y^2.

Every delta[t, j] - s[t, j] is at least max_i (delta[t-1, i] + min_k T[i, k]), so a label i is left out of a step if
delta[t-1, i] + max_k T[i, k] is less. Rounding is monotonic, so the result is bit-identical. Of the 42 tags of a
trained tagger fewer than two are left, and decoding takes a third of the time.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inner, kernel, merged
from tagweave.kernels.instructions import (
    LANES,
    WORD,
    add_run,
    allocate,
    flat,
    labels_at_least,
    largest,
    lowest_bit,
    raise_run,
)

_U = np.uintp
_ONE = np.uintp(1)
_LANES, _WORD = np.uintp(LANES), np.uintp(WORD)


@kernel
def exclude(scores, allow, masks):
    """scores[t, y] += log masks[allow[t], y], in place: -inf for labels that a set excludes."""
    for t in range(scores.shape[0]):
        mask = masks[allow[t]]
        for y in range(scores.shape[1]):
            if not mask[y]:
                scores[t, y] = -np.inf
            elif mask[y] != 1:
                scores[t, y] += math.log(mask[y])


@kernel
def row_bounds(transposed, bounds):
    """Set bounds [2, Y] to the largest and the smallest transition score from each label; transposed [to, from]."""
    for i in range(_U(transposed.shape[1])):
        bounds[0, i], bounds[1, i] = -np.inf, np.inf
    for j in range(_U(transposed.shape[0])):
        for i in range(_U(transposed.shape[1])):
            bounds[0, i] = max(bounds[0, i], transposed[j, i])
            bounds[1, i] = min(bounds[1, i], transposed[j, i])


@merged
def _step(scores, t, transition, bounds, reach):
    """One step of the recurrence, of row t of flat scores. Returns the only label that can stand before t, or -1."""
    Y = _U(reach.shape[0])
    before, count, only = (t - _ONE) * Y, 0, np.int64(-1)
    for j in range(Y):
        reach[j] = -np.inf
    least = largest(scores, before, bounds, Y, Y)
    for low in range(_U(0), Y, _WORD):
        # the labels as bits of one number, since branches that depend on labels cannot be predicted
        left = labels_at_least(scores, before, bounds, _U(0), low, Y, least)
        while left:
            i = low + lowest_bit(left)
            left &= left - np.uint64(1)
            raise_run(reach, scores[before + i], transition, i * Y)
            only = np.int64(i)
            count += 1
    add_run(scores, t * Y, reach, _U(0), Y)
    return only if count == 1 else np.int64(-1)


@merged
def _step_of_few(scores, t, transition, bounds, reach):
    """`_step` for fewer than `LANES` labels: one number at a time is faster then (50 and 78 ns a token of 4 labels)."""
    Y = _U(reach.shape[0])
    before, count, only = (t - _ONE) * Y, 0, np.int64(-1)
    least = scores.dtype.type(-np.inf)
    for i in range(Y):
        least = max(least, scores[before + i] + bounds[Y + i])
    for i in range(Y):
        d = scores[before + i]
        if d + bounds[i] >= least and d > -np.inf:
            for j in range(Y):
                reach[j] = max(reach[j], d + transition[i * Y + j]) if count else d + transition[i * Y + j]
            only = np.int64(i)
            count += 1
    for j in range(Y):
        scores[t * Y + j] += reach[j] if count else scores.dtype.type(-np.inf)
    return only if count == 1 else np.int64(-1)


@merged
def _best_before(delta, t, into, label, Y):
    """Return the first label i with the largest delta[t, i] + into[label, i], both flat, -1 if all are -inf."""
    top = delta.dtype.type(-np.inf)
    if Y < _LANES:
        for i in range(Y):
            top = max(top, delta[t * Y + i] + into[label * Y + i])
        for i in range(Y):
            if delta[t * Y + i] + into[label * Y + i] == top and top > -np.inf:
                return np.int64(i)
        return np.int64(-1)
    top = largest(delta, t * Y, into, label * Y, Y)
    for low in range(_U(0), Y, _WORD):
        equal = labels_at_least(delta, t * Y, into, label * Y, low, Y, top)
        if equal:
            return np.int64(low + lowest_bit(equal))
    return np.int64(-1)


@inner
def _best(scores, first, last, transition, transposed, bounds, start, end, reach, labels):
    """`best_sequence` of tokens first .. last - 1, at least one, of several sentences; all arrays are flat.

    reach float[Y] is a buffer.
    """
    Y = _U(reach.shape[0])
    for j in range(Y):
        scores[first * Y + j] += start[j]
    for t in range(first + _ONE, last):
        # stored here until the path is known
        if Y < _LANES:
            labels[t] = _step_of_few(scores, t, transition, bounds, reach)
        else:
            labels[t] = _step(scores, t, transition, bounds, reach)
    best = scores.dtype.type(-np.inf)
    label = np.int64(-1)
    for j in range(Y):
        if scores[(last - _ONE) * Y + j] + end[j] > best:
            best = scores[(last - _ONE) * Y + j] + end[j]
            label = np.int64(j)
    t = last
    while t > first:
        t -= _ONE
        only = np.int64(labels[t])
        labels[t] = label
        if t > first and label >= 0:
            label = only if only >= 0 else _best_before(scores, t - _ONE, transposed, _U(label), Y)
    return best


@kernel
def best_sequence(scores, transition, transposed, bounds, start, end, labels):
    """Set labels int32[L] to the best sequence of one sentence, -1 everywhere if none is allowed. Returns its score.

    scores float[L, Y] is overwritten with delta; bounds [2, Y] are the `row_bounds` of the transitions. Of equal
    sequences the one with the smallest labels from the end wins.
    """
    reach = allocate(scores.shape[1], scores.dtype)
    delta, pairs, into, limits = flat(scores), flat(transition), flat(transposed), flat(bounds)
    return _best(delta, _U(0), _U(scores.shape[0]), pairs, into, limits, start, end, reach, labels)


@kernel
def best_sequences(scores, transition, transposed, bounds, start, end, sentence_ptr, first, last, labels):
    """`best_sequence` of sentences first .. last - 1, with their scores float[n, Y] (overwritten), labels int32[n]."""
    base = sentence_ptr[first]
    reach = allocate(scores.shape[1], scores.dtype)
    delta, pairs, into, limits = flat(scores), flat(transition), flat(transposed), flat(bounds)
    for s in range(first, last):
        low, high = _U(sentence_ptr[s] - base), _U(sentence_ptr[s + 1] - base)
        if high > low:
            _best(delta, low, high, pairs, into, limits, start, end, reach, labels)


@kernel
def insert_ranked(values, sources, rank_of, k, value, source, rank):
    """Insert a value into values float[k], which are falling, along with its origin."""
    if not value > values[k - 1]:
        return
    at = k - 1
    while at > 0 and values[at - 1] < value:
        values[at] = values[at - 1]
        sources[at] = sources[at - 1]
        rank_of[at] = rank_of[at - 1]
        at -= 1
    values[at] = value
    sources[at] = source
    rank_of[at] = rank


@kernel
def k_best_sequences(scores, transition, start, end, labels, totals):
    """The k best sequences of one sentence, exactly, as labels int32[k, L] and totals float64[k].

    The totals fall, and are -inf beyond the last sequence. delta[t, j, r] is the r-th best score of a sequence that
    ends in label j at t.
    """
    L, Y = scores.shape
    k = labels.shape[0]
    delta = np.full((L, Y, k), -np.inf)
    source = np.full((L, Y, k), -1, np.int32)
    rank = np.zeros((L, Y, k), np.int32)
    for j in range(Y):
        delta[0, j, 0] = scores[0, j] + start[j]
    for t in range(1, L):
        for j in range(Y):
            if scores[t, j] == -np.inf:
                continue
            for i in range(Y):
                for r in range(k):
                    if delta[t - 1, i, r] == -np.inf:
                        break
                    value = delta[t - 1, i, r] + transition[i, j] + scores[t, j]
                    insert_ranked(delta[t, j], source[t, j], rank[t, j], k, value, i, r)
    final_label = np.full(k, -1, np.int32)
    final_rank = np.zeros(k, np.int32)
    totals[:] = -np.inf
    for j in range(Y):
        for r in range(k):
            if delta[L - 1, j, r] > -np.inf:
                insert_ranked(totals, final_label, final_rank, k, delta[L - 1, j, r] + end[j], j, r)
    for n in range(k):
        j, r = final_label[n], final_rank[n]
        for t in range(L - 1, -1, -1):
            labels[n, t] = j
            if j >= 0:
                j, r = source[t, j, r], rank[t, j, r]


@kernel
def path_score(scores, transition, start, end, labels):
    """Return the score of one label sequence: start + sum of emission and transition scores + end."""
    total = np.float64(start[labels[0]])
    for t in range(labels.shape[0]):
        total += scores[t, labels[t]]
        if t > 0:
            total += transition[labels[t - 1], labels[t]]
    return total + end[labels[-1]]
