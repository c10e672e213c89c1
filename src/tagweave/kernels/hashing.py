"""Feature hashing: strings to 64-bit codes, codes to gram codes, gram codes to consecutive feature ids.

The feature index is an open-addressing table (linear probing, a power of two of slots, at most half full), and so is
the set of observed (feature, label set) pairs. Code 0 means "absent" everywhere and never enters a table.

A gram code has 44 bits. The highest four are the number of tokens that see the gram, its window; so a gram in the index
has as many weights as its family needs, even if the file was tampered with. The others are the lowest five bytes of a
hash, to save space in model files: an unseen gram is mistaken for one of a million others of its window with
probability 1e-6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import inner, kernel
from tagweave.kernels.instructions import flat, prefetch

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_U = np.uintp
_AHEAD = 16
OUTSIDE = np.uint64(0xD6E8FEB86659FD93)
_WINDOW = np.uint64(40)  # the first bit of the window
_HASH = np.uint64((1 << 40) - 1)


@inner
def join(code, value):
    """One step of a hash chain: code' = finalise(code + multiplier * (value + 1))."""
    code = code + _MULTIPLIER * (value + _ONE)
    code = (code ^ (code >> np.uint64(30))) * _FIRST
    code = (code ^ (code >> np.uint64(27))) * _SECOND
    return code ^ (code >> np.uint64(31))


@inner
def mix(code, value):
    """As `join`, never 0."""
    code = join(code, value)
    return code if code != np.uint64(0) else _ONE


@inner
def of_window(code, window):
    """Return a gram code with its window, 1 to 15; 0 stays 0."""
    return (code & _HASH) | (np.uint64(window) << _WINDOW) if code != np.uint64(0) else code


@kernel
def hash_spans(points, start, stop, seed, out):
    """out[i] = the hash of points[start[i]:stop[i]], 0 (absent) for an empty span."""
    for i in range(start.shape[0]):
        code = seed
        for j in range(start[i], stop[i]):
            code = mix(code, np.uint64(points[j]))
        out[i] = code if stop[i] > start[i] else np.uint64(0)


@inner
def _value(table, start, ids, source, first, length, t):
    """Return the code of a column at token t of a sentence; outside it, a code of the distance to its edge."""
    if t < 0:
        return OUTSIDE + np.uint64(-t)
    if t >= length:
        return OUTSIDE + np.uint64(1000 + t - length)
    return table[_U(start + ids[_U(source), _U(first + t)])]


@kernel
def hash_grams(ids, sentence_ptr, table, table_ptr, terms, seeds, reach, edge, grams):
    """The code of every gram of every sentence.

    A gram of family k at anchor p joins the values of its terms[k, j] = (column, source, offset from p, to); column -1
    ends the list. Column c has the value table[table_ptr[c] + ids[source, t]] at token t. With `to`, the value is
    whether the column is the same `to` tokens further on. A gram is absent (0) if any value is absent, or if no token
    of the sentence sees it: the gram at p is seen by the tokens p - high .. p - low.

    ids int32[sources, N] are the table entries of each token, reach int64[K, 2] low and high of every family, and edge
    lead and trail: anchors run from -lead to length + trail - 1. grams uint64[N + S (lead + trail), K].
    """
    K, extra = terms.shape[0], edge[0] + edge[1]
    codes = flat(grams)
    for s in range(sentence_ptr.shape[0] - 1):
        first = sentence_ptr[s]
        length = sentence_ptr[s + 1] - first
        row0 = first - sentence_ptr[0] + s * extra + edge[0]
        for k in range(K):
            least = reach[k, 0]  # the first anchor that a token sees
            most = max(least, length + reach[k, 1]) if length else least
            for p in range(-edge[0], least):
                codes[_U((row0 + p) * K + k)] = np.uint64(0)
            for p in range(least, most):
                code = seeds[k]
                for j in range(terms.shape[1]):
                    column, source, offset, to = terms[k, j, 0], terms[k, j, 1], terms[k, j, 2], terms[k, j, 3]
                    if column < 0:
                        break
                    value = _value(table, table_ptr[column], ids, source, first, length, p + offset)
                    if to != 0:
                        other = _value(table, table_ptr[column], ids, source, first, length, p + offset + to)
                        value = np.uint64(2) if value == other else _ONE
                    if value == np.uint64(0):
                        code = np.uint64(0)
                        break
                    code = mix(code, value)
                codes[_U((row0 + p) * K + k)] = of_window(code, reach[k, 1] - reach[k, 0] + 1)
            for p in range(most, length + edge[1]):
                codes[_U((row0 + p) * K + k)] = np.uint64(0)


@kernel
def find(keys, values, codes, out):
    """out[i] = the id of codes[i], -1 if it is not in the table."""
    mask = np.uint64(keys.shape[0] - 1)
    for i in range(codes.shape[0]):
        code = codes[i]
        if i + _AHEAD < codes.shape[0]:
            prefetch(keys, codes[i + _AHEAD] & mask)
            prefetch(values, codes[i + _AHEAD] & mask)
        out[i] = -1
        if code == np.uint64(0):
            continue
        slot = code & mask
        while keys[slot] != np.uint64(0):
            if keys[slot] == code:
                out[i] = values[slot]
                break
            slot = (slot + _ONE) & mask


@kernel
def insert(keys, values, codes, size, out, counts):
    """As `find`, but a new code gets the next id; counts[id] counts occurrences. Returns the new size."""
    mask = np.uint64(keys.shape[0] - 1)
    for i in range(codes.shape[0]):
        code = codes[i]
        out[i] = -1
        if code == np.uint64(0):
            continue
        slot = code & mask
        while keys[slot] != np.uint64(0) and keys[slot] != code:
            slot = (slot + _ONE) & mask
        if keys[slot] == np.uint64(0):
            keys[slot] = code
            values[slot] = size
            size += 1
        out[i] = values[slot]
        counts[values[slot]] += 1
    return size


@kernel
def place(keys, values, codes, ids, farthest):
    """Enter distinct new codes under the given ids, none more than `farthest` slots from its own.

    Returns how many were entered: it stops at a code that is 0, a repeat, or without a free slot so near.
    """
    mask = np.uint64(keys.shape[0] - 1)
    for i in range(codes.shape[0]):
        slot = codes[i] & mask
        steps = 0
        while keys[slot] != np.uint64(0) and keys[slot] != codes[i] and steps < farthest:
            slot = (slot + _ONE) & mask
            steps += 1
        if keys[slot] != np.uint64(0) or codes[i] == np.uint64(0):
            return i
        keys[slot] = codes[i]
        values[slot] = ids[i]
    return codes.shape[0]


@kernel
def renumber(ids, new):
    """ids[i] = new[ids[i]] in place, -1 stays."""
    for i in range(ids.shape[0]):
        if ids[i] >= 0:
            ids[i] = new[ids[i]]


@kernel
def hash_codes(codes, start, count, seed, window, out):
    """out[i] = the gram code of codes[start[i]] .. codes[start[i] + count - 1], 0 if one of these is."""
    for i in range(start.shape[0]):
        code = seed
        for j in range(start[i], start[i] + count):
            if codes[j] == np.uint64(0):
                code = np.uint64(0)
                break
            code = mix(code, codes[j])
        out[i] = of_window(code, window)


def windows_of(codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how many tokens see each gram."""
    return (codes >> _WINDOW).astype(np.int64)


_EMPTY = np.int64(-1)


@inner
def _enter(table, code):
    """Add a code; returns 1 if it is new. The table is a power of two long and never full."""
    slots = np.uint64(table.shape[0])
    slot = ((np.uint64(code) * _MULTIPLIER) >> np.uint64(20)) & (slots - np.uint64(1))
    while table[slot] != _EMPTY:
        if table[slot] == code:
            return 0
        slot = (slot + np.uint64(1)) & (slots - np.uint64(1))
    table[slot] = code
    return 1


@kernel
def rehash(old, table):
    """Move all codes to a larger, empty table."""
    for code in old:
        if code != _EMPTY:
            _enter(table, code)


@kernel
def enter_grams(table, grams, high, low, lead, sentence_ptr, allow, is_evidence, limit, progress):
    """Enter the grams with the label sets of the tokens that see them, from sentence progress[0] on.

    A code is gram * width + position * sets + set. limit int64[2] holds the most codes of the table, and the width.
    Stops before a sentence that might exceed it (progress[1] counts codes) and leaves the number of that sentence in
    progress[0]. is_evidence bool[sets]: whether a set excludes anything; the others are not entered.
    """
    sets, width = is_evidence.shape[0], limit[1]
    extra = (grams.shape[0] - sentence_ptr[-1]) // max(1, sentence_ptr.shape[0] - 1)
    families = grams.shape[1]
    windows = 0
    for k in range(families):
        windows += high[k] - low[k] + 1
    for s in range(progress[0], sentence_ptr.shape[0] - 1):
        first, last = sentence_ptr[s], sentence_ptr[s + 1]
        progress[0] = s
        if progress[1] + (last - first) * windows > limit[0]:
            return
        row0 = first + s * extra
        for row in range(row0, last + (s + 1) * extra):
            for k in range(families):
                g = grams[row, k]
                if g < 0:
                    continue
                start = first + (row - row0 - lead) - high[k]
                for t in range(max(first, start), min(last, start + high[k] - low[k] + 1)):
                    if is_evidence[allow[t]]:
                        progress[1] += _enter(table, np.int64(g) * width + (t - start) * sets + allow[t])
    progress[0] = sentence_ptr.shape[0] - 1


@kernel
def enter_types(table, type_ptr, features, word_types, sets, is_evidence, limit, progress):
    """Enter the features of word_types[i] with the label set sets[i] as `enter_grams`, from i = progress[0] on."""
    width = limit[1]
    for i in range(progress[0], word_types.shape[0]):
        progress[0] = i
        low, high = type_ptr[word_types[i]], type_ptr[word_types[i] + 1]
        if progress[1] + high - low > limit[0]:
            return
        for f in range(low, high):
            if features[f] >= 0 and is_evidence[sets[i]]:
                progress[1] += _enter(table, np.int64(features[f]) * width + sets[i])
    progress[0] = word_types.shape[0]


@kernel
def expand(codes, positions, masks, counts, cells):
    """The labels of the sets that each feature has at each position of its window.

    codes int64 are feature * positions * sets + position * sets + set, rising. Sets counts int64[F] and, unless it is
    empty, cells, position * Y + label by feature, rising.
    """
    sets, Y = masks.shape
    counts[:] = 0
    seen = np.zeros(Y, np.uint8)
    filled = 0
    i = 0
    while i < codes.shape[0]:
        place = codes[i] // sets
        seen[:] = 0
        while i < codes.shape[0] and codes[i] // sets == place:
            mask = masks[codes[i] % sets]
            for y in range(Y):
                seen[y] |= mask[y]
            i += 1
        feature, position = place // positions, place % positions
        for y in range(Y):
            if seen[y]:
                counts[feature] += 1
                if cells.shape[0]:
                    cells[filled] = position * Y + y
                    filled += 1
