"""The label sets that occur with each feature: a hash set of codes, filled from encoded sentences, and expanded."""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.int64(-1)


@inner
def _enter(table, code):
    """Add a code; returns 1 if it is new. The table is a power of two long and never full."""
    slots = np.uint64(table.shape[0])
    slot = ((np.uint64(code) * _SPREAD) >> np.uint64(20)) & (slots - np.uint64(1))
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
