"""Projectivity of given trees, and the projectivisation of others.

Heads are int32, of words 1 .. n in heads[0 .. n-1]: 0 is the root, -1 unknown. An arc is projective if all words
between its ends are below its head. A tree whose root stands before its first word is projective if, and only if, no
two of its arcs cross.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel


@kernel
def is_tree(heads, single_root):
    """Whether all heads are known and every word is below the root, which has one child if `single_root`."""
    n = heads.shape[0]
    children = 0
    for m in range(n):
        if heads[m] < 0 or heads[m] > n:
            return False
        children += heads[m] == 0
    if single_root and children != 1 and n > 0:
        return False
    return not has_cycle(heads)


@kernel
def has_cycle(heads):
    """Whether a word is its own ancestor."""
    n = heads.shape[0]
    seen = np.zeros(n, np.int32)  # the word from which a word was first reached
    for start in range(1, n + 1):
        word = start
        while word > 0 and seen[word - 1] == 0:
            seen[word - 1] = start
            word = heads[word - 1]
        if word > 0 and seen[word - 1] == start:
            return True
    return False


@kernel
def is_projective(heads):
    """Whether no two known arcs cross; for a tree, whether it is projective."""
    m = 1
    while m <= heads.shape[0] and not (heads[m - 1] >= 0 and _is_crossed(heads, m)):
        m += 1
    return m > heads.shape[0]


@inner
def _is_crossed(heads, m):
    """Whether the arc into m crosses another."""
    low, high = min(m, heads[m - 1]), max(m, heads[m - 1])
    for k in range(low + 1, high):
        other = heads[k - 1]
        if other >= 0 and (other < low or other > high):
            return True
    inner = False  # an arc from between its ends to a word outside
    for k in range(1, heads.shape[0] + 1):
        inner |= (k < low or k > high) and low < heads[k - 1] < high
    return inner


@kernel
def are_whole_trees(heads, lengths, single_root, projective, are_trees):
    """Set are_trees bool[S]: whether each sentence, heads int32[sum of lengths], is a whole tree, and if `projective`
    one without arcs that cross."""
    token = 0
    for s in range(lengths.shape[0]):
        own = heads[token : token + lengths[s]]
        are_trees[s] = is_tree(own, single_root) and (not projective or is_projective(own))
        token += lengths[s]


@inner
def _is_lifted(heads, m):
    """Whether a word between the ends of the arc into m is certainly not below its head."""
    head = heads[m - 1]
    for k in range(min(m, head) + 1, max(m, head)):
        word = k
        while word > 0 and word != head:
            word = heads[word - 1]
        if word == 0 and head != 0:
            return True
    return False


@kernel
def projectivise(heads):
    """Lift arcs, in place, until none is crossed. Returns how often; -1 (and changes nothing) if there is a cycle.

    Lifting gives a word the head of its head; the shortest arc that is not projective is lifted first, among equal ones
    the one into the leftmost word (Nivre and Nilsson 2005, "Pseudo-projective dependency parsing", section 2, without
    their labels). A tree with one child of the root keeps one. A word lifted to an unknown head becomes unknown, and so
    does the shortest of arcs that still cross: evidence gets weaker, never contradictory.
    """
    if has_cycle(heads):
        return -1
    n = heads.shape[0]
    lifts = 0
    while not is_projective(heads):
        shortest, at, sure = n + 1, 0, False
        for m in range(1, n + 1):
            head = heads[m - 1]
            if head < 0 or not _is_crossed(heads, m):
                continue
            lifted = _is_lifted(heads, m)
            if (lifted and not sure) or (lifted == sure and abs(head - m) < shortest):
                shortest, at, sure = abs(head - m), m, lifted
        head = heads[at - 1]
        heads[at - 1] = heads[head - 1] if sure else -1
        lifts += 1
    return lifts
