"""The best dependency tree, projective or not, under evidence: Chu and Liu (1965), Edmonds (1967), Tarjan (1977).

From a word, the best arc into it is followed backwards, then the best arc into the head of that, and so on:

    to the root, or to a word connected to it       the whole path is connected, and the next word starts a new one
    to a word of the path                           this cycle C becomes one word c, with arcs
                                                    s[h, c] = max_{v in C} s[h, v] - s[best(v), v]    into it, and
                                                    s[c, m] = max_{v in C} s[v, m]                    out of it

Each step reads a row or unites rows, so the whole is O(n^2). In the end an arc into a united word breaks the cycle
where it enters. If the root may have only one child, all its arcs are lowered by more than trees can differ, so that
the best tree has as few children of the root as possible (Stanojevic and Cohen 2021, "A root of a problem").

The k best trees: the second-best tree has another head than the best one for some word. For each word m, the best of
the trees that have the best one's heads before m, and another head of m, is a candidate. The best candidate is the next
tree, and divides its own part of all trees in the same way (Lawler 1972, A procedure for computing the k best
solutions).
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.tree import longest_of


@kernel
def best_arborescence(scores, ptr, lengths, single_root, heads):
    """Set heads int32[sum of lengths] to the best trees, -1 for all words of a sentence that allows none.

    Arguments as for `kernels.tree.best_heads`.
    """
    longest = longest_of(lengths)
    arc_scores = np.empty((longest + 1) ** 2)
    arc_ends = np.empty(2 * (longest + 1) ** 2, np.int32)
    token = 0
    for s in range(lengths.shape[0]):
        n = lengths[s]
        if n > 0:
            N = n + 1
            into = arc_scores[: N * N].reshape((N, N))
            ends = arc_ends[: 2 * N * N].reshape((2, N, N))
            _transpose(scores[ptr[s] : ptr[s] + N * N].reshape((N, N)), single_root, into, ends)
            mine = heads[token : token + n]
            if not _connect(into, ends, mine) or (single_root and _root_children(mine) != 1):
                mine[:] = -1
        token += n


@inner
def _root_children(heads):
    children = 0
    for m in range(heads.shape[0]):
        children += heads[m] == 0
    return children


@inner
def _transpose(scores, single_root, into, ends):
    """into[m, h] = the score of h -> m, -inf where there is no such arc; ends[:, m, h] = (h, m), the arc itself."""
    N = scores.shape[0]
    least, largest = np.inf, -np.inf
    for h in range(N):
        for m in range(N):
            value = np.float64(scores[h, m]) if h != m and m > 0 else -np.inf
            into[m, h] = value
            ends[0, m, h], ends[1, m, h] = h, m
            if value > -np.inf:
                least, largest = min(least, value), max(largest, value)
    if single_root:
        for m in range(1, N):
            into[m, 0] -= N * (largest - least) + 1.0


@inner
def _connect(into, ends, heads):
    """Connect all words to the root. Returns whether that is possible. A united word has the row and column of its
    first one."""
    N = into.shape[0]
    # nodes are words, then united cycles; each has the node that it is united in, and the arc chosen into it
    parent = np.full(2 * N, -1, np.int32)
    chosen = np.full((2 * N, 2), -1, np.int32)
    node = np.arange(N).astype(np.int32)  # of every row
    active = np.ones(N, np.bool_)  # whether a row stands for a node
    state = np.zeros(N, np.uint8)  # of a row: 0 untouched, 1 on the path, 2 connected
    state[0] = 2
    path, best = np.empty(N, np.int32), np.empty(N)
    nodes = N
    for start in range(1, N):
        if state[start] or not active[start]:
            continue
        length = 1
        path[0] = start
        state[start] = 1
        while True:
            row = path[length - 1]
            source = _best_source(into[row], row, active)
            if source < 0:
                return False
            best[length - 1] = into[row, source]
            chosen[node[row], 0], chosen[node[row], 1] = ends[0, row, source], ends[1, row, source]
            if state[source] == 2:
                break
            if state[source] == 0:
                state[source] = 1
                path[length] = source
                length += 1
                continue
            begin = length - 1
            while path[begin] != source:
                begin -= 1
            for a in range(begin, length):
                parent[node[path[a]]] = nodes
            _unite(into, ends, path[begin:length], best[begin:length], active)
            node[source] = nodes
            nodes += 1
            length = begin + 1
        for a in range(length):
            state[path[a]] = 2
    _expand(nodes, parent, chosen, heads)
    return True


@inner
def _best_source(scores, row, active):
    """Return the first active column with the largest score, other than the row itself; -1 if all are -inf."""
    at, best = -1, -np.inf
    for h in range(scores.shape[0]):
        if scores[h] > best and active[h] and h != row:
            at, best = h, scores[h]
    return at


@inner
def _unite(into, ends, cycle, best, active):
    """Unite a cycle in the row and column of its first member; best are the scores of its arcs."""
    c = cycle[0]
    for a in range(cycle.shape[0]):
        v = cycle[a]
        for h in range(into.shape[0]):
            value = into[v, h] - best[a]
            if a == 0 or value > into[c, h]:
                into[c, h] = value
                ends[0, c, h], ends[1, c, h] = ends[0, v, h], ends[1, v, h]
        if a > 0:
            active[v] = False
    for m in range(into.shape[0]):
        for a in range(1, cycle.shape[0]):
            v = cycle[a]
            if into[m, v] > into[m, c]:
                into[m, c] = into[m, v]
                ends[0, m, c], ends[1, m, c] = ends[0, m, v], ends[1, m, v]


@inner
def _expand(nodes, parent, chosen, heads):
    """Expand cycles, the last one first: an arc into a united word replaces the arc into the member that it enters."""
    settled = np.zeros(nodes, np.bool_)
    for top in range(nodes - 1, 0, -1):
        if settled[top]:
            continue
        source, word = chosen[top]
        heads[word - 1] = source
        node = word
        while node != top:
            settled[node] = True
            node = parent[node]
        settled[top] = True


@kernel
def k_best(scores, single_root, heads, totals):
    """As `kernels.tree.k_best`, over all trees: k n runs of `best_arborescence`, each in O(n^2)."""
    k, n = heads.shape
    heads[:] = -1
    totals[:] = -np.inf
    if n == 0:
        if k > 0:
            totals[0] = 0.0
        return
    size, room = 1, 1 + k * n
    trees, values = np.empty((room, n), np.int32), np.full(room, -np.inf)
    fixed = np.zeros(room, np.int64)  # so many words, from the first, have their heads fixed
    banned = np.full((room, k), -1, np.int32)  # the heads that the next word may not have
    left = scores.astype(np.float64)
    values[0] = _best(left, single_root, trees[0])
    for rank in range(k):
        top = np.argmax(values[:size])
        if values[top] == -np.inf:
            return
        heads[rank], totals[rank] = trees[top], values[top]
        values[top] = -np.inf
        if rank == k - 1:
            return
        for m in range(fixed[top], n):
            left[:] = scores
            for word in range(m):
                _keep(left, trees[top, word], word)
            next_banned = banned[size]
            if m == fixed[top]:
                next_banned[:] = banned[top]
            for place in range(k):
                if next_banned[place] < 0:
                    next_banned[place] = trees[top, m]
                    break
            for place in range(k):
                if next_banned[place] >= 0:
                    left[next_banned[place], m + 1] = -np.inf
            fixed[size] = m
            values[size] = _best(left, single_root, trees[size])
            size += 1


@inner
def _keep(scores, head, word):
    """Exclude all other heads of a word."""
    for h in range(scores.shape[0]):
        if h != head:
            scores[h, word + 1] = -np.inf


@inner
def _best(scores, single_root, heads):
    """Set the heads of the best tree. Returns its score, -inf if there is none."""
    n = heads.shape[0]
    best_arborescence(scores.reshape(-1), np.zeros(1, np.int64), np.full(1, n, np.int64), single_root, heads)
    total = 0.0
    for m in range(n):
        total += scores[heads[m], m + 1] if heads[m] >= 0 else -np.inf
    return total
