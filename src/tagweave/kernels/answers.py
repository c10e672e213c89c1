"""Arithmetic over the answers of sources, row by row: likelihoods of true labels, and expected confusions.

An answer is a row (position t, source k, label l, share w), as in `sources.answers`. Tables are [K, C, Y, Y]: source,
context, answer, true label; what an answer adds, or receives, is a run of Y numbers. The context is what the same
source said at the position before, of C labels: with shares w' of several labels there, each counts w'. C = 1 ignores
it; a source that said nothing before is in the context `initial`.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import kernel

_U = np.uintp


@kernel
def link_previous(sentence_ptr, position, source, previous):
    """Set previous int64[A] to the first row of the same source at the position before, -1 if it said nothing there.

    Positions are rising, sources are rising within a position; the first position of a sentence has none before it.
    """
    A = position.shape[0]
    sentence, start, last_start, last_stop = 0, 0, 0, 0
    while start < A:
        t = position[start]
        stop = start
        while stop < A and position[stop] == t:
            stop += 1
        while sentence_ptr[sentence + 1] <= t:
            sentence += 1
        q = last_start
        follows = last_stop > last_start and position[last_start] == t - 1 and t > sentence_ptr[sentence]
        for a in range(start, stop):
            previous[a] = -1
            if follows:
                while q < last_stop and source[q] < source[a]:
                    q += 1
                first = q
                while first > last_start and source[first - 1] == source[a]:
                    first -= 1
                if first < last_stop and source[first] == source[a]:
                    previous[a] = first
        last_start, last_stop, start = start, stop, stop


@kernel
def add_likelihoods(position, source, label, share, previous, initial, table, first, last, rows):
    """rows[t, y] += w table[k, context, l, y] for the rows first .. last - 1 of answers; share may be empty (all 1)."""
    Y = _U(rows.shape[1])
    has_context, has_shares = table.shape[1] > 1, share.shape[0] > 0
    for a in range(_U(first), _U(last)):
        t, k, l = _U(position[a]), _U(source[a]), _U(label[a])  # noqa: E741
        w = rows.dtype.type(share[a]) if has_shares else rows.dtype.type(1)
        if not has_context:
            for y in range(Y):
                rows[t, y] += w * table[k, _U(0), l, y]
        elif previous[a] < 0:
            for y in range(Y):
                rows[t, y] += w * table[k, _U(initial), l, y]
        else:
            q = _U(previous[a])
            before = position[q]
            while position[q] == before and _U(source[q]) == k:
                part = w * rows.dtype.type(share[q]) if has_shares else w
                for y in range(Y):
                    rows[t, y] += part * table[k, _U(label[q]), l, y]
                q += _U(1)


@kernel
def count_answers(position, source, label, share, previous, initial, gamma, first, last, counts):
    """counts[k, context, l, y] += w gamma[t, y] for the rows first .. last - 1 of answers."""
    Y = _U(gamma.shape[1])
    has_context, has_shares = counts.shape[1] > 1, share.shape[0] > 0
    for a in range(_U(first), _U(last)):
        t, k, l = _U(position[a]), _U(source[a]), _U(label[a])  # noqa: E741
        w = gamma.dtype.type(share[a]) if has_shares else gamma.dtype.type(1)
        if not has_context:
            for y in range(Y):
                counts[k, _U(0), l, y] += w * gamma[t, y]
        elif previous[a] < 0:
            for y in range(Y):
                counts[k, _U(initial), l, y] += w * gamma[t, y]
        else:
            q = _U(previous[a])
            before = position[q]
            while position[q] == before and _U(source[q]) == k:
                part = w * gamma.dtype.type(share[q]) if has_shares else w
                for y in range(Y):
                    counts[k, _U(label[q]), l, y] += part * gamma[t, y]
                q += _U(1)
