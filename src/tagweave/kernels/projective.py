"""Projectivity of given trees, the projectivisation of others, and scores of trees made ready for sums.

Heads are int32, of words 1 .. n in heads[0 .. n-1]: 0 is the root, -1 unknown. An arc is projective if all words
between its ends are below its head. A tree whose root stands before its first word is projective if, and only if, no
two of its arcs cross.

For sums, scores are shifted so that the best potential of each word is 1: every tree has one head for every word, so a
shift of all arcs into a word changes Z by a factor. The best score of the pairs of siblings of an arc is added to the
arc's, so that no potential q of a pair is above 1.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.instructions import put
from tagweave.kernels.tree import block, pair, row


@kernel
def is_tree(heads, single_root):
    """Return whether all heads are known and every word is below the root, which has one child if `single_root`."""
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
    """Return whether a word is its own ancestor."""
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
    """Return whether no two known arcs cross; for a tree, whether it is projective."""
    m = 1
    while m <= heads.shape[0] and not (heads[m - 1] >= 0 and _is_crossed(heads, m)):
        m += 1
    return m > heads.shape[0]


@inner
def _is_crossed(heads, m):
    """Return whether the arc into m crosses another."""
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
        of_sentence = heads[token : token + lengths[s]]
        are_trees[s] = is_tree(of_sentence, single_root) and (not projective or is_projective(of_sentence))
        token += lengths[s]


@inner
def _is_lifted(heads, m):
    """Return whether a word between the ends of the arc into m is certainly not below its head."""
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


_U = np.uintp


@inner
def shifted(scores, allowed, n, p, rows):
    """Set p[h, m] = s[h, m] - the best score into m, -inf where an arc is excluded.

    Returns the sum of the best scores, -inf if a word has no head, and the number of arcs that are not excluded.
    """
    best = rows[0]
    put(best[: n + 1], -np.inf)
    allows = 0
    for h in range(n + 1):
        for m in range(n + 1):
            a = h * (n + 1) + m
            value = -np.inf
            if m > 0 and m != h and (allowed.shape[0] == 0 or allowed[a]):
                value = np.float64(scores[a])
            p[h, m] = value
            allows += value > -np.inf
            best[m] = max(best[m], value)
    total = 0.0
    for m in range(1, n + 1):
        total += best[m]
    if total > -np.inf:
        best[0] = 0.0
        for h in range(n + 1):
            for m in range(n + 1):
                p[h, m] -= best[m]
    return total, allows


@inner
def shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q):
    """As `shifted`, with the best score of the pairs of each arc moved to the arc; q = the rest of the pairs."""
    p, folded = charts[0], charts[1].reshape(-1)[: (n + 1) * (n + 1)]
    for a in range((n + 1) * (n + 1)):
        folded[a] = scores[a]
    for a in range(_U(q.shape[0])):
        q[a] = pairs[a]
    if step:
        _fold(n, q, folded.reshape((n + 1, n + 1)), charts[2])
    return shifted(folded, allowed, n, p, rows)


@inner
def _fold(n, q, arcs, best):
    """arcs += the best score of each arc's pairs; q -= it."""
    for side in range(2):
        begin = side * block(n)
        for i in range(n):
            put(best[i, i + 1 : n + 1], -np.inf)
            for k in range(i, n):
                at = begin + row(n, i, k) - k - 1
                for x in range(_U(k + 1), _U(n + 1)):
                    best[i, x] = max(best[i, x], q[at + x])
            for k in range(i, n):
                at = begin + row(n, i, k) - k - 1
                for x in range(_U(k + 1), _U(n + 1)):
                    q[at + x] -= best[i, x]
            for x in range(i + 1, n + 1):
                if side == 0:
                    arcs[i, x] += best[i, x]
                else:
                    arcs[x, i] += best[i, x]


@inner
def potentials(n, gauge, p, rows):
    """p = exp(p - gauge). Returns log of the product of all A, and the least (of allowed arcs) and the largest p."""
    totals = rows[0]
    put(totals, 0.0)
    least, largest = np.inf, 0.0
    for h in range(n + 1):
        for m in range(n + 1):
            if p[h, m] > -np.inf:
                value = math.exp(p[h, m] - gauge)
                p[h, m] = value
                totals[m] += value
                least, largest = min(least, value), max(largest, value)
            else:
                p[h, m] = 0.0
    log_product = 0.0
    for m in range(1, n + 1):
        log_product += math.log(totals[m])
    return log_product, least, largest


@inner
def only_heads(n, p):
    """Return int32[n]: the heads of the words, where every word has one left."""
    heads = np.empty(n, np.int32)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if p[h, m] > -np.inf:
                heads[m - 1] = h
    return heads


@inner
def take_only_heads(heads, single_root, projective, marginal):
    """Set the marginals of the only heads to 1 if they form a tree, without arcs that cross if `projective`. Returns
    whether."""
    if not is_tree(heads, single_root) or (projective and not is_projective(heads)):
        return False
    for m in range(1, heads.shape[0] + 1):
        marginal[heads[m - 1], m] = 1
    return True


@inner
def take_only_pairs(heads, step, q, of_pairs):
    """Set the marginals of the pairs of the only tree to 1. Returns the sum of their q."""
    total = 0.0
    if step:
        for m in range(1, heads.shape[0] + 1):
            at = pair(heads, m)
            total += q[at]
            of_pairs[at] = 1
    return total
