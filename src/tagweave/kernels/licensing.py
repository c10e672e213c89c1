"""Which (feature, cell) pairs occur: a hash set of codes feature * width + cell, filled from encoded sentences."""

from __future__ import annotations

import numpy as np

from tagweave.kernels import kernel

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.int64(-1)


@kernel
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
def enter_grams(table, grams, high, low, lead, sentence_ptr, allow, listed, limit, progress):
    """Enter the pairs of grams with the labels of the tokens that see them, from sentence progress[0] on.

    limit int64[2] is how many codes the table may hold and the width. Stops before a sentence that might exceed it
    (progress[1] counts codes) and leaves the number of that sentence in progress[0]. listed int32[sets, 1 + Y]: how
    many labels a set licenses, and which.
    """
    Y = listed.shape[1] - 1
    width = limit[1]
    extra = (grams.shape[0] - sentence_ptr[-1]) // max(1, sentence_ptr.shape[0] - 1)
    families = grams.shape[1]
    windows = 0
    for k in range(families):
        windows += high[k] - low[k] + 1
    for s in range(progress[0], sentence_ptr.shape[0] - 1):
        first, last = sentence_ptr[s], sentence_ptr[s + 1]
        progress[0] = s
        most = 0
        for t in range(first, last):
            most += listed[allow[t], 0]
        if progress[1] + most * windows > limit[0]:
            return
        row0 = first + s * extra
        for row in range(row0, last + (s + 1) * extra):
            for k in range(families):
                g = grams[row, k]
                if g < 0:
                    continue
                start = first + (row - row0 - lead) - high[k]
                for t in range(max(first, start), min(last, start + high[k] - low[k] + 1)):
                    labels = listed[allow[t]]
                    for j in range(1, 1 + labels[0]):
                        progress[1] += _enter(table, np.int64(g) * width + (t - start) * Y + labels[j])
    progress[0] = sentence_ptr.shape[0] - 1


@kernel
def enter_kinds(table, kind_ptr, features, kinds, sets, listed, limit, progress):
    """Enter the pairs of the features of kinds[i] with the labels of sets[i] as `enter_grams`, from i = progress[0]."""
    width = limit[1]
    for i in range(progress[0], kinds.shape[0]):
        progress[0] = i
        labels = listed[sets[i]]
        low, high = kind_ptr[kinds[i]], kind_ptr[kinds[i] + 1]
        if progress[1] + labels[0] * (high - low) > limit[0]:
            return
        for f in range(low, high):
            if features[f] >= 0:
                for j in range(1, 1 + labels[0]):
                    progress[1] += _enter(table, np.int64(features[f]) * width + labels[j])
    progress[0] = kinds.shape[0]
