"""The path from a modifier to a head through another tree of the sentence: how far up, then how far down.

    up(h, m), down(h, m) = steps from m to the lowest token (or root) above both, and from there to h

Tokens enter one by one, a head before its modifiers. Then the path from m to any h entered before begins with the step
to m's head p, and the path back is its reverse:

    up(h, m) = up(h, p) + 1      down(h, m) = down(h, p)      up(m, h) = down(h, m)      down(m, h) = up(h, m)

Steps beyond the third count as three. So (1, 0): h is m's head in that tree, (0, 1): its modifier, (1, 1): they have
one head, (2, 0): h is the head of m's head, (2, 1): h has the same head as m's head.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel

FARTHEST = 3
PATHS = (FARTHEST + 1) ** 2 + 1
"""How many paths there are: number 0 for no path, else 1 + up * 4 + down."""


@kernel
def tree_paths(heads, ptr, paths):
    """Set paths uint8[cells] (by head and modifier, as in `kernels.arcs`) to the number of the path through a tree.

    heads int32[P] by position (those of roots are ignored), ptr int64[S + 1] the first position of every sentence.
    Heads may be anything: a token whose head is unknown (negative) or outside the sentence, that is on a cycle, or that
    is below such a token, has no path to any other.
    """
    cell = 0
    for s in range(ptr.shape[0] - 1):
        n = ptr[s + 1] - ptr[s]
        own = heads[ptr[s] : ptr[s + 1]]
        entered = np.empty(n, np.int64)
        count = _top_down(own, entered)
        table = paths[cell : cell + n * n].reshape((n, n))
        table[:] = 0
        table[0, 0] = 1
        for at in range(1, count):
            m = entered[at]
            parent = own[m]
            table[m, m] = 1
            for before in range(at):
                h = entered[before]
                path = table[h, parent] - 1
                up, down = min(path // (FARTHEST + 1) + 1, FARTHEST), path % (FARTHEST + 1)
                table[h, m] = 1 + up * (FARTHEST + 1) + down
                table[m, h] = 1 + down * (FARTHEST + 1) + up
        cell += n * n


@inner
def _top_down(heads, order):
    """The root and all tokens below it, every one after its head. Returns how many they are."""
    n = heads.shape[0]
    first, following = np.full(n, -1, np.int64), np.full(n, -1, np.int64)  # modifiers of every position, as a list
    for m in range(1, n):
        h = heads[m]
        if 0 <= h < n:
            following[m] = first[h]
            first[h] = m
    order[0] = 0
    count, at = 1, 0
    while at < count:
        m = first[order[at]]
        while m >= 0:
            order[count] = m
            count += 1
            m = following[m]
        at += 1
    return count
