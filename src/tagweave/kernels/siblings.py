"""Pairs of siblings in projective trees: where their numbers stand, and which of them a tree has.

The sibling of a modifier m of head h is the modifier of h that is nearest to m between the two; h itself stands for
none. With i < x the ends of the arc, and i <= k < x,

    right(i, k, x) is the pair of head i, sibling k and modifier x,    left(i, k, x) that of modifier i and head x,

where k = i means no sibling in both. The numbers of a sentence of n words are the rows (i, k), one behind the other, of
x = k + 1 .. n; first those of all pairs to the right, then those to the left.

Kernels read the row (i, k) at stride * row(n, i, k). In a sentence whose pairs have no numbers the stride is 0, and all
rows are the same one, which is neutral.
"""

from __future__ import annotations

from tagweave.kernels import inner, kernel


@inner
def block(n):
    """How many pairs there are to one side."""
    return n * (n + 1) * (n + 2) // 6


@inner
def row(n, i, k):
    """Where the row (i, k) begins in its block."""
    return block(n) - block(n - i) + (n - i) * (n - i + 1) // 2 - (n - k) * (n - k + 1) // 2


@inner
def stride(pair_ptr, s):
    """1 if the pairs of sentence s have numbers, else 0."""
    return 1 if pair_ptr[s + 1] > pair_ptr[s] else 0


@inner
def most_pairs(pair_ptr, lengths):
    """The room that the pairs of any sentence need, or one neutral row."""
    most = 1
    for s in range(lengths.shape[0]):
        most = max(most, lengths[s] + 1, pair_ptr[s + 1] - pair_ptr[s])
    return most


@inner
def pair(heads, m):
    """Where the pair of word m, 1 .. n, in the tree `heads` stands among those of the sentence."""
    n, h = heads.shape[0], heads[m - 1]
    step = -1 if h < m else 1
    k = m + step
    while k != h and heads[k - 1] != h:
        k += step
    if h < m:
        return row(n, h, k) + m - k - 1
    if k == h:
        k = m
    return block(n) + row(n, m, k) + h - k - 1


@kernel
def pair_cells(heads, token_ptr, pair_ptr, cells):
    """Set cells int64[tokens]: where the pair of every token of whole trees stands; -1 if pairs have no numbers."""
    for s in range(token_ptr.shape[0] - 1):
        own = heads[token_ptr[s] : token_ptr[s + 1]]
        for m in range(1, own.shape[0] + 1):
            at = -1
            if pair_ptr[s + 1] > pair_ptr[s] and own[m - 1] >= 0:
                at = pair_ptr[s] + pair(own, m)
            cells[token_ptr[s] + m - 1] = at
