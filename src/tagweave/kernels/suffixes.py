"""Suffix arrays: the positions of a text, sorted by the text after each, or before it.

The text is uint32[N], sentences of code points with an `END` before, between and after them. From position p it is read
in one direction, `step` 1 (forwards) or -1 (backwards), up to the end of the sentence or `DEPTH` characters; positions
with equal readings keep the order of the text. So all occurrences of a word are one run of positions, found by
bisection and sorted by context.

Positions are first counted into runs by their own character. A run is then sorted by the next three characters, packed
into one number (3 x 21 bits), by quicksort in three parts, and so on inside those that are equal (multikey quicksort:
Bentley and Sedgewick 1997).
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel

END = 0
"""Stands where a sentence begins and ends; no character of a text."""
DEPTH = 100
"""The most characters compared: a line of a million equal ones costs no more than others."""

_PACKED, _BITS = 3, np.uint64(21)
_LAST = np.uint64((1 << 21) - 1)
_FEW = 16
_WAITING = 256  # most parts that wait: the smallest of three goes first, so each division of n by 3 leaves two


@kernel
def first_characters(text, counts, order):
    """order = all positions but those of END, by their own character.

    counts int64[code points + 2]   zeros; (out) the run of character c is order[counts[c - 1]:counts[c]]
    order  uint32[n]                (out)
    """
    for p in range(text.shape[0]):
        counts[text[p] + 1] += 1
    counts[END + 1] = 0
    for c in range(1, counts.shape[0]):
        counts[c] += counts[c - 1]
    for p in range(text.shape[0]):
        if text[p] != END:
            order[counts[text[p]]] = p
            counts[text[p]] += 1


@kernel
def sort_run(text, step, order, key):
    """Sort positions that have their own character in common.

    order uint32[n]   positions in the order of the text; (out) sorted
    key   uint64[n]   a buffer
    """
    parts = np.empty((_WAITING, 3), np.int64)
    parts[0] = (0, order.shape[0], 1)
    _pack(text, step, order, key, 0, order.shape[0], 1)
    waiting = 1
    while waiting:
        waiting -= 1
        a, b, d = parts[waiting]
        if b - a <= _FEW:
            _insert(text, step, order, a, b, d)
            continue
        pivot = _middle(key[a], key[(a + b) // 2], key[b - 1])
        less, more = _divide(order, key, a, b, pivot)
        equal = less, more, d + _PACKED
        if pivot & _LAST == END or d + _PACKED >= DEPTH:
            order[less:more].sort()
            equal = less, less, d
        else:
            _pack(text, step, order, key, less, more, d + _PACKED)
        waiting = _enter(parts, waiting, (a, less, d), equal, (more, b, d))


@inner
def _enter(parts, waiting, first, second, third):
    """Enter three parts to be sorted, the largest first; returns how many wait."""
    if first[1] - first[0] < second[1] - second[0]:
        first, second = second, first
    if first[1] - first[0] < third[1] - third[0]:
        first, third = third, first
    if second[1] - second[0] < third[1] - third[0]:
        second, third = third, second
    for part in (first, second, third):
        if part[1] - part[0] > 1:
            parts[waiting] = part
            waiting += 1
    return waiting


@inner
def _pack(text, step, order, key, a, b, d):
    """key[a:b] = the characters d, d + 1 and d + 2 from each position, the first one highest; END from the end on."""
    for i in range(a, b):
        p = np.int64(order[i]) + step * d
        packed = np.uint64(0)
        inside = True
        for _ in range(_PACKED):
            packed <<= _BITS
            if inside:
                packed |= np.uint64(text[p])
                inside = text[p] != END
            p += step
        key[i] = packed


@inner
def _middle(x, y, z):
    return max(min(x, y), min(max(x, y), z))


@inner
def _divide(order, key, a, b, pivot):
    """Exchange order[a:b] and key[a:b] until smaller keys come first, then equal ones; returns where each part ends."""
    less, more, i = a, b, a
    while i < more:
        if key[i] < pivot:
            key[i], key[less] = key[less], key[i]
            order[i], order[less] = order[less], order[i]
            less += 1
            i += 1
        elif key[i] > pivot:
            more -= 1
            key[i], key[more] = key[more], key[i]
            order[i], order[more] = order[more], order[i]
        else:
            i += 1
    return less, more


@inner
def _insert(text, step, order, a, b, d):
    for i in range(a + 1, b):
        position = order[i]
        j = i
        while j > a and _before(text, step, position, order[j - 1], d):
            order[j] = order[j - 1]
            j -= 1
        order[j] = position


@inner
def _before(text, step, p, q, d):
    """Whether position p comes before q, of which the first d characters are the same."""
    i, j = np.int64(p) + step * d, np.int64(q) + step * d
    while d < DEPTH and text[i] == text[j] and text[i] != END:
        i, j, d = i + step, j + step, d + 1
    if d >= DEPTH or text[i] == text[j]:
        return p < q
    return text[i] < text[j]


@kernel
def runs(text, step, order, words, ptr, start, stop):
    """order[start[k]:stop[k]] are the positions from which word k, words[ptr[k]:ptr[k + 1]], is read.

    Words have 1 to DEPTH characters, none of them END, in the direction of `step`.
    """
    for k in range(ptr.shape[0] - 1):
        word = words[ptr[k] : ptr[k + 1]]
        start[k] = _bisect(text, step, order, word, False)
        stop[k] = _bisect(text, step, order, word, True)


@inner
def _bisect(text, step, order, word, after):
    """The first index in `order` whose reading is greater than the word, or, unless `after`, not less."""
    low, high = 0, order.shape[0]
    while low < high:
        middle = (low + high) // 2
        p = np.int64(order[middle])
        i = 0
        while i < word.shape[0] and text[p] == word[i]:
            p, i = p + step, i + 1
        if (after and i == word.shape[0]) or (i < word.shape[0] and text[p] < word[i]):
            low = middle + 1
        else:
            high = middle
    return low
