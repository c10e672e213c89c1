"""Longest words of a lexicon in a text: a trie of code points, and maximum matching along it.

The nodes of the trie are numbered breadth first, words in sorted order, so the children of a node are adjacent and in
order: node i has the children child[i] .. child[i + 1] - 1, and the code point label[j] leads to node j.
The nodes of depth 1 are found by `root[code point]`, the others by binary search. That is 12 bytes a node: the trie of
a dictionary of 350,000 words (500,000 nodes) stays near the processor.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel

NONE = -1
"""No node, no word."""


@kernel
def count_nodes(points, ptr, common, counts):
    """counts[d] = the nodes of depth d: words that differ from the word before them within their first d points.

    Word i is points[ptr[i]:ptr[i + 1]]; common[i] (out) is how many points it shares with word i - 1.
    """
    for i in range(ptr.shape[0] - 1):
        length = ptr[i + 1] - ptr[i]
        shared = 0
        if i > 0:
            most = min(length, ptr[i] - ptr[i - 1])
            while shared < most and points[ptr[i] + shared] == points[ptr[i - 1] + shared]:
                shared += 1
        common[i] = shared
        for d in range(shared + 1, length + 1):
            counts[d] += 1


@kernel
def grow(points, ptr, common, following, words, label, child, word, root):
    """The trie of sorted, different, non-empty words.

    following int64[D + 2]   the first node of every depth; advances as nodes are made
    words     int32[W]       the value of word[node] at the end of word i
    label     int32[N]       (out)
    child     int32[N + 1]   (out)
    word      int32[N]       (out) NONE where no word ends
    root      int32[points]  (out) NONE where no word begins
    """
    for i in range(ptr.shape[0] - 1):
        length = ptr[i + 1] - ptr[i]
        for d in range(common[i] + 1, length + 1):
            node = following[d]
            following[d] += 1
            label[node] = points[ptr[i] + d - 1]
            child[node] = following[d + 1]
            word[node] = NONE
            if d == 1:
                root[label[node]] = node
        word[following[length] - 1] = words[i]
    child[label.shape[0]] = label.shape[0]


@inner
def _child(label, child, node, point):
    """The child of a node that a code point leads to, NONE if there is none."""
    low, high, wanted = np.int64(child[node]), np.int64(child[node + 1]), np.int64(point)
    end = high
    while low < high:
        middle = (low + high) >> 1
        if label[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and label[low] == wanted else NONE


@kernel
def match(points, joined, root, label, child, word, starts, stops, words):
    """Maximum matching: from left to right, the longest word at each position, then on after it. Returns how many.

    No word begins or ends between two points that are both `joined` (letters of one run).

        points uint32[n]
        joined bool[code points]
        starts, stops, words (out): points[starts[k]:stops[k]] is the word words[k]
    """
    n = points.shape[0]
    found = 0
    i = 0
    while i < n:
        node = root[points[i]]
        if node < 0 or (i > 0 and joined[points[i]] and joined[points[i - 1]]):
            i += 1
            continue
        stop, longest = i, NONE
        j = i + 1
        while True:
            if word[node] >= 0 and not (j < n and joined[points[j - 1]] and joined[points[j]]):
                stop, longest = j, word[node]
            if j == n:
                break
            node = _child(label, child, node, points[j])
            if node < 0:
                break
            j += 1
        if longest >= 0:
            starts[found], stops[found], words[found] = i, stop, longest
            found += 1
            i = stop
        else:
            i += 1
    return found


@kernel
def occurrences(points, joined, root, label, child, word, starts, stops, words):
    """Every occurrence of each word by rising start, also inside or across another one; arguments as for `match`.

    Returns how many there are; only as many are written as the arrays can hold.
    """
    n = points.shape[0]
    found = 0
    for i in range(n):
        node = root[points[i]]
        if node < 0 or (i > 0 and joined[points[i]] and joined[points[i - 1]]):
            continue
        j = i + 1
        while node >= 0:
            if word[node] >= 0 and not (j < n and joined[points[j - 1]] and joined[points[j]]):
                if found < starts.shape[0]:
                    starts[found], stops[found], words[found] = i, j, word[node]
                found += 1
            if j == n:
                break
            node = _child(label, child, node, points[j])
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
