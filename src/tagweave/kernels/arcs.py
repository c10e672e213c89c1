"""Scores of dependency arcs from hashed features, and their gradient.

    score(h, m) = sum_t W[row, 0] + W[row, bin(|h - m|)],    row = H_t[h] + M_t[m] + D[direction]   (mod rows)

over the templates t that look at head and modifier. The hash of a feature is the sum of a code of the head's side and
one of the modifier's, so each side is hashed once per token and an arc costs an addition. A feature and the same
feature with the distance of the arc share a row of W, inside a cache line. Templates of one side alone are summed
beforehand, for each token, direction and distance. Templates over a token between the two (McDonald et al. 2005) count
once for each distinct value, and have one weight, without distance: W is read as one vector, at H + B + M + D.

A guide, another tree of the sentence, adds G templates, joined to the path from modifier to head through that tree
(jiang-2015, 4.1); without one G = 0:

    score(h, m) += sum_g W[row, 0] + W[row, bin(|h - m|)],    row = H_g[h] + M_g[m] + D[direction] + K[path]

The G templates are the T templates, the templates of one side alone with a constant for the other side, and the path
alone with two constants.

A sentence of L tokens has L + 1 positions, 0 is the root, and (L + 1)^2 arcs; scores[h, m] are stored row by row,
sentence by sentence.

    columns  uint64[P, C]    the values that templates look at, by position
    codes    uint64[P, R]    by position: A = max(T, G) head sides, A modifier sides, U templates of the head alone, V
                             of the modifier alone, B heads, B tokens between and B modifiers
    sizes    int64[5]        T, U, V, B, G
    paths    uint8[cells]    the numbers of paths; empty if G = 0
    weights  float[rows, 8]  rows a power of two
    ptr      int64[S + 1]    the first position (the root) of every sentence

A path goes up from the modifier, then down to the head:

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
from tagweave.kernels.hashing import OUTSIDE, join
from tagweave.kernels.instructions import prefetch, put

_U = np.uintp
_ONE = np.uint64(1)
LEFT = np.uint64(0xA0761D6478BD642F)
_PATH = np.uint64(0x9FB21C651E98DF25)
BINS = 8
"""Floats of a row: the feature itself, and with each distance: 1, 2, 3, 4, 5, 6 to 10, more."""


@inner
def distance_bin(distance):
    """Return the entry of a row that a distance adds to the feature itself."""
    if distance <= 5:
        return distance
    return 6 if distance <= 10 else 7


@kernel
def side_codes(columns, ptr, terms, seeds, codes):
    """codes[p, r] = the hash chain from seeds[r] over the values that terms int64[R, J, 2] = (column, offset from p)
    name; column -1 ends the list. Outside the sentence, a value encodes the distance from its edge."""
    for s in range(ptr.shape[0] - 1):
        low, high = ptr[s] - ptr[0], ptr[s + 1] - ptr[0]
        for p in range(low, high):
            for r in range(terms.shape[0]):
                code = seeds[r]
                for j in range(terms.shape[1]):
                    if terms[r, j, 0] < 0:
                        break
                    q = p + terms[r, j, 1]
                    if q < low:
                        value = OUTSIDE + np.uint64(low - q)
                    elif q >= high:
                        value = OUTSIDE + np.uint64(1000 + q - high)
                    else:
                        value = columns[ptr[0] + q, terms[r, j, 0]]
                    code = join(code, value)
                codes[p, r] = code


@inner
def longest_between(ptr):
    """Return the largest difference of neighbours, 0 of none: `max` takes 0.3 s to compile."""
    longest = 0
    for s in range(ptr.shape[0] - 1):
        longest = max(longest, ptr[s + 1] - ptr[s])
    return longest


@inner
def _single_scores(weights, codes, sizes, low, high, single):
    """single[p, role, direction, bin] = the sum over templates of one side alone; role 0 head, 1 modifier; direction 1
    where the modifier stands left of the head."""
    rows = np.uint64(weights.shape[0] - 1)
    for p in range(low, high):
        for role in range(2):
            first = 2 * max(sizes[0], sizes[4]) + role * sizes[1]
            last = first + sizes[1 + role]
            for left in range(2):
                out = single[p - low, role, left]
                put(out, 0)
                for r in range(first, last):
                    row = weights[_U((codes[p, r] + np.uint64(left) * LEFT) & rows)]
                    for b in range(BINS):
                        out[b] += row[b]
                for b in range(1, BINS):
                    out[b] += out[0]


@inner
def _add_between(codes, sizes, p, between, count):
    """Add the codes of position p to the tokens between, without repeats."""
    first = 2 * max(sizes[0], sizes[4]) + sizes[1] + sizes[2] + sizes[3]
    for b in range(sizes[3]):
        code = codes[p, first + b]
        for i in range(count[b]):
            if between[b, i] == code:
                break
        else:
            between[b, count[b]] = code
            count[b] += 1


@inner
def _path_code(paths, cell):
    return _PATH * (np.uint64(paths[cell]) + _ONE)


@kernel
def score_arcs(weights, codes, sizes, ptr, paths, scores):
    """Set the scores of all arcs of the sentences of `ptr`; cells that are no arcs (loops, heads of the root) get 0.

    The rows of the next arc are prefetched while an arc is summed.
    """
    T, B, G = sizes[0], sizes[3], sizes[4]
    A = max(T, G)
    rows = np.uint64(weights.shape[0] - 1)
    flat = weights.reshape(-1)
    cells = np.uint64(flat.shape[0] - 1)
    longest = longest_between(ptr)
    single = np.empty((longest, 2, 2, BINS), weights.dtype)
    between, count = np.empty((B, longest), np.uint64), np.zeros(B, np.int64)
    first_between = 2 * A + sizes[1] + sizes[2]
    places = np.empty(T, np.uintp)
    cell = 0
    for s in range(ptr.shape[0] - 1):
        low, high = ptr[s] - ptr[0], ptr[s + 1] - ptr[0]
        n = high - low
        _single_scores(weights, codes, sizes, low, high, single)
        for h in range(n):
            out = scores[cell + h * n : cell + h * n + n]
            out[0] = 0
            out[h] = 0
            of_head = codes[low + h, :A]
            for left in range(2):
                direction = np.uint64(left) * LEFT
                put(count, 0)
                step = -1 if left else 1
                m = h + step
                of_modifier = codes[low + min(max(m, 0), n - 1), A : 2 * A]
                for t in range(_U(T)):
                    places[t] = _U((of_head[t] + of_modifier[t] + direction) & rows) * _U(BINS)
                while 0 < m < n:
                    distance = _U(distance_bin(abs(h - m)))
                    of_modifier = codes[low + m, A : 2 * A]
                    of_next = codes[low + min(max(m + step, 0), n - 1), A : 2 * A]
                    total = single[h, 0, left, distance] + single[m, 1, left, distance]
                    for t in range(_U(T)):
                        row = places[t]
                        places[t] = _U((of_head[t] + of_next[t] + direction) & rows) * _U(BINS)
                        prefetch(flat, places[t])
                        total += flat[row] + flat[row + distance]
                    for g in range(_U(G)):
                        joined = direction + _path_code(paths, cell + h * n + m)
                        row = _U((of_head[g] + of_modifier[g] + joined) & rows) * _U(BINS)
                        total += flat[row] + flat[row + distance]
                    for b in range(B):
                        outer = codes[low + h, first_between + b] + codes[low + m, first_between + 2 * B + b]
                        for i in range(count[b]):
                            total += flat[_U((outer + between[b, i] + direction) & cells)]
                    out[m] = total
                    _add_between(codes, sizes, low + m, between, count)
                    m += step
        cell += n * n


@kernel
def add_arc_gradient(gradient, codes, sizes, ptr, paths, difference, threshold):
    """gradient += the features of every arc, times difference[h, m]; differences up to `threshold` are left out.

    Returns int64: the rows that were 0 before, possibly with repeats.
    """
    T, U, V, B, G = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    A = max(T, G)
    rows = np.uint64(gradient.shape[0] - 1)
    flat = gradient.reshape(-1)
    cells = np.uint64(flat.shape[0] - 1)
    longest = longest_between(ptr)
    single = np.empty((longest, 2, 2, BINS), gradient.dtype)
    between, count = np.empty((B, longest), np.uint64), np.zeros(B, np.int64)
    first_between = 2 * A + U + V
    written, size = np.empty(codes.shape[0] * max(1, T + G), np.int64), 0
    cell = 0
    for s in range(ptr.shape[0] - 1):
        low, high = ptr[s] - ptr[0], ptr[s + 1] - ptr[0]
        n = high - low
        single[:n] = 0
        for h in range(n):
            from_head = difference[cell + h * n : cell + h * n + n]
            for left in range(2):
                direction = np.uint64(left) * LEFT
                put(count, 0)
                step = -1 if left else 1
                m = h + step
                while 0 < m < n:
                    d = gradient.dtype.type(from_head[m])
                    if abs(d) > threshold:
                        written = enlarge(written, size + T + G + count.sum())
                        distance = _U(distance_bin(abs(h - m)))
                        single[h, 0, left, 0] += d
                        single[h, 0, left, distance] += d
                        single[m, 1, left, 0] += d
                        single[m, 1, left, distance] += d
                        for t in range(T):
                            row = _U((codes[low + h, t] + codes[low + m, A + t] + direction) & rows) * _U(BINS)
                            size = note(flat, row, written, size)
                            flat[row] += d
                            flat[row + distance] += d
                        for g in range(G):
                            joined = direction + _path_code(paths, cell + h * n + m)
                            row = _U((codes[low + h, g] + codes[low + m, A + g] + joined) & rows) * _U(BINS)
                            size = note(flat, row, written, size)
                            flat[row] += d
                            flat[row + distance] += d
                        for b in range(B):
                            outer = codes[low + h, first_between + b] + codes[low + m, first_between + 2 * B + b]
                            for i in range(count[b]):
                                at = _U((outer + between[b, i] + direction) & cells)
                                size = note(flat, at, written, size)
                                flat[at] += d
                    _add_between(codes, sizes, low + m, between, count)
                    m += step
        written = enlarge(written, size + 2 * n * (U + V))
        size = _add_single_gradient(gradient, codes, sizes, low, high, single, written, size)
        cell += n * n
    return written[:size]


@inner
def _add_single_gradient(gradient, codes, sizes, low, high, single, written, size):
    """gradient += the features of one side alone, as `_single_scores` has them. Returns how many rows are entered."""
    rows = np.uint64(gradient.shape[0] - 1)
    for p in range(low, high):
        for role in range(2):
            first = 2 * max(sizes[0], sizes[4]) + role * sizes[1]
            for left in range(2):
                by_distance = single[p - low, role, left]
                if not by_distance.any():
                    continue
                for r in range(first, first + sizes[1 + role]):
                    row = _U((codes[p, r] + np.uint64(left) * LEFT) & rows)
                    written[size] = row
                    size += 1
                    for b in range(BINS):
                        gradient[row, b] += by_distance[b]
    return size


@inner
def note(flat, at, written, size):
    """Enter the row of an entry that is 0. Returns the new number of rows."""
    if flat[at] == 0:
        written[size] = at // _U(BINS)
        return size + 1
    return size


@inner
def enlarge(written, size):
    """Return the rows, in an array of at least this size."""
    if size <= written.shape[0]:
        return written
    larger = np.empty(2 * size, np.int64)
    for i in range(written.shape[0]):
        larger[i] = written[i]
    return larger


@kernel
def touched_rows(codes, sizes, ptr, paths, seen, stamp):
    """int64: the distinct rows that `add_arc_gradient` may write to.

    seen int32[rows] holds, for every row, the stamp of the last call that met it.
    """
    T, U, V, B, G = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    A = max(T, G)
    rows = np.uint64(seen.shape[0] - 1)
    cells = np.uint64(seen.shape[0] * BINS - 1)
    longest = longest_between(ptr)
    between, count = np.empty((B, longest), np.uint64), np.zeros(B, np.int64)
    first_between = 2 * A + U + V
    touched = np.empty(seen.shape[0], np.int64)
    cell, size = 0, 0
    for s in range(ptr.shape[0] - 1):
        low, n = ptr[s] - ptr[0], ptr[s + 1] - ptr[s]
        for h in range(n):
            for left in range(2):
                direction = np.uint64(left) * LEFT
                put(count, 0)
                step = -1 if left else 1
                m = h + step
                while 0 < m < n:
                    for t in range(T):
                        row = (codes[low + h, t] + codes[low + m, A + t] + direction) & rows
                        size = enter(row, seen, stamp, touched, size)
                    for g in range(G):
                        joined = direction + _path_code(paths, cell + h * n + m)
                        row = (codes[low + h, g] + codes[low + m, A + g] + joined) & rows
                        size = enter(row, seen, stamp, touched, size)
                    for r in range(2 * A, first_between):
                        row = (codes[low + (h if r < 2 * A + U else m), r] + direction) & rows
                        size = enter(row, seen, stamp, touched, size)
                    for b in range(B):
                        outer = codes[low + h, first_between + b] + codes[low + m, first_between + 2 * B + b]
                        for i in range(count[b]):
                            row = ((outer + between[b, i] + direction) & cells) // np.uint64(BINS)
                            size = enter(row, seen, stamp, touched, size)
                    _add_between(codes, sizes, low + m, between, count)
                    m += step
        cell += n * n
    return touched[:size]


@inner
def enter(row, seen, stamp, touched, size):
    """Enter a row, unless this call has met it. Returns the new number of rows."""
    if seen[row] == stamp:
        return size
    seen[row] = stamp
    touched[size] = row
    return size + 1


FARTHEST = 3
PATHS = (FARTHEST + 1) ** 2 + 1
"""How many paths there are: number 0 for no path, else 1 + up * 4 + down."""


@kernel
def tree_paths(heads, ptr, paths):
    """Set paths uint8[cells] (by head and modifier, as in `kernels.arcs`) to the number of the path through a tree.

    heads int32[P] by position (ignored at roots), ptr int64[S + 1] the first position of every sentence.
    Heads may be anything: a token whose head is unknown (negative) or outside the sentence, that is on a cycle, or that
    is below such a token, has no path to any other.
    """
    cell = 0
    for s in range(ptr.shape[0] - 1):
        n = ptr[s + 1] - ptr[s]
        of_sentence = heads[ptr[s] : ptr[s + 1]]
        entered = np.empty(n, np.int64)
        count = _top_down(of_sentence, entered)
        table = paths[cell : cell + n * n].reshape((n, n))
        table[:] = 0
        table[0, 0] = 1
        for at in range(1, count):
            m = entered[at]
            parent = of_sentence[m]
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
    """List the root and all tokens below it, every one after its head. Returns how many they are."""
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
