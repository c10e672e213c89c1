"""Words of a lexicon in a text, or phrases among tokens: a trie of symbols, and maximum matching along it.

A symbol is a small number: the code point of a character, or the number of a word in a vocabulary; -1 is in no entry.
The nodes of the trie are numbered breadth first, entries in sorted order, so the children of a node are adjacent and in
order: node i has the children child[i] .. child[i + 1] - 1, and the symbol label[j] leads to node j.
The nodes of depth 1 are found by `root[symbol]`, the others by binary search. That is 12 bytes a node: the trie of
a dictionary of 350,000 words (500,000 nodes) stays near the processor.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel

NONE = -1
"""No node, no entry."""


@kernel
def count_nodes(symbols, ptr, common, counts):
    """counts[d] = the nodes of depth d: entries that differ from the one before them within their first d symbols.

    Entry i is symbols[ptr[i]:ptr[i + 1]]; common[i] (out) is how many symbols it shares with entry i - 1.
    """
    for i in range(ptr.shape[0] - 1):
        length = ptr[i + 1] - ptr[i]
        shared = 0
        if i > 0:
            most = min(length, ptr[i] - ptr[i - 1])
            while shared < most and symbols[ptr[i] + shared] == symbols[ptr[i - 1] + shared]:
                shared += 1
        common[i] = shared
        for d in range(shared + 1, length + 1):
            counts[d] += 1


@kernel
def grow(symbols, ptr, common, following, entries, label, child, entry, root):
    """The trie of sorted, different, non-empty entries.

    following int64[D + 2]   the first node of every depth; advances as nodes are made
    entries   int32[W]       the value of entry[node] at the end of entry i
    label     int32[N]       (out)
    child     int32[N + 1]   (out)
    entry     int32[N]       (out) NONE where no entry ends
    root      int32[symbols + 1]  (out) NONE where no entry begins; the last one is that of symbol -1
    """
    for i in range(ptr.shape[0] - 1):
        length = ptr[i + 1] - ptr[i]
        for d in range(common[i] + 1, length + 1):
            node = following[d]
            following[d] += 1
            label[node] = symbols[ptr[i] + d - 1]
            child[node] = following[d + 1]
            entry[node] = NONE
            if d == 1:
                root[label[node]] = node
        entry[following[length] - 1] = entries[i]
    child[label.shape[0]] = label.shape[0]


@inner
def _child(label, child, node, symbol):
    """The child of a node that a symbol leads to, NONE if there is none."""
    low, high, wanted = np.int64(child[node]), np.int64(child[node + 1]), np.int64(symbol)
    end = high
    while low < high:
        middle = (low + high) >> 1
        if label[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and label[low] == wanted else NONE


@kernel
def match(symbols, border, root, label, child, entry, starts, stops, entries):
    """Maximum matching: from left to right, the longest entry at each position, then on after it. Returns how many.

    symbols int32[n]
    border  bool[n + 1]   whether an entry may begin or end before symbol i
    starts, stops, entries (out): symbols[starts[k]:stops[k]] is the entry entries[k]
    """
    n = symbols.shape[0]
    found = 0
    i = 0
    while i < n:
        node = root[symbols[i]]
        if node < 0 or not border[i]:
            i += 1
            continue
        stop, longest = i, NONE
        j = i + 1
        while True:
            if entry[node] >= 0 and border[j]:
                stop, longest = j, entry[node]
            if j == n:
                break
            node = _child(label, child, node, symbols[j])
            if node < 0:
                break
            j += 1
        if longest >= 0:
            starts[found], stops[found], entries[found] = i, stop, longest
            found += 1
            i = stop
        else:
            i += 1
    return found


@kernel
def occurrences(symbols, border, root, label, child, entry, starts, stops, entries):
    """Every occurrence of each entry by rising start, also inside or across another one; arguments as for `match`.

    Returns how many there are; only as many are written as the arrays can hold.
    """
    n = symbols.shape[0]
    found = 0
    for i in range(n):
        node = root[symbols[i]]
        if node < 0 or not border[i]:
            continue
        j = i + 1
        while node >= 0:
            if entry[node] >= 0 and border[j]:
                if found < starts.shape[0]:
                    starts[found], stops[found], entries[found] = i, j, entry[node]
                found += 1
            if j == n:
                break
            node = _child(label, child, node, symbols[j])
            j += 1
    return found


@kernel
def longest(starts, stops, most, lengths):
    """The length of the longest word that begins at, strictly contains, and ends at each character; 0 for none.

    starts, stops int64[K]       words, overlapping or not: those of two points and more
    most                         longer words count as this long
    lengths       int32[3, n]    (out) zeros before
    """
    for k in range(starts.shape[0]):
        length = min(stops[k] - starts[k], most)
        lengths[0, starts[k]] = max(lengths[0, starts[k]], length)
        lengths[2, stops[k] - 1] = max(lengths[2, stops[k] - 1], length)
        for i in range(starts[k] + 1, stops[k] - 1):
            lengths[1, i] = max(lengths[1, i], length)


@kernel
def cover(starts, stops, entries, first, last, entry):
    """The longest of the spans that contain each position; of equal ones the first.

    starts, stops int64[K]       spans by rising start, overlapping or not
    entries       int32[K]       what they are
    first, last   int64[n]       (out) the first position of the longest span, and the last
    entry         int32[n]       (in) NONE everywhere (out) what it is; NONE where there is no span
    """
    for k in range(starts.shape[0]):
        length = stops[k] - starts[k]
        for i in range(starts[k], stops[k]):
            if entry[i] < 0 or length > last[i] - first[i] + 1:
                first[i], last[i], entry[i] = starts[k], stops[k] - 1, entries[k]


@kernel
def run_borders(points, joined, border):
    """border[i] = whether a word may begin or end before points[i]: not between two points that are both `joined`.

    points int32[n]
    joined bool[code points]   letters and digits of runs
    border bool[n + 1]         (out)
    """
    n = points.shape[0]
    border[0] = border[n] = True
    for i in range(1, n):
        border[i] = not (joined[points[i]] and joined[points[i - 1]])
