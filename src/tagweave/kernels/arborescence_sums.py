"""Sum-product over all dependency trees, projective or not, under evidence: log Z and the probability of every arc.

With p[h, m] of `kernels.tree_sums`, 0 where the evidence excludes an arc, Z is the determinant of the Laplacian of the
words (the matrix-tree theorem; Koo et al. 2007, Smith and Smith 2007, McDonald and Satta 2007):

    Lap[m, m] = sum_h p[h, m]        Lap[h, m] = -p[h, m]        Z = det Lap

Eliminating word k leaves the Laplacian of the other words, with an arc for each path through k:

    D[k] = sum_h p[h, k]        jump[k, h] = p[h, k] / D[k]        p[h, m] += jump[k, h] p[k, m]        Z = prod_k D[k]

The diagonal is always summed anew, so nothing is subtracted (Grassmann, Taksar and Heyman 1985), and every number is as
exact as the potentials, also where words that govern each other make the determinant 1e-100 of its terms. Differences
of entries of the inverse, the usual way to probabilities, would be noise there. The trees with the arc h -> m are
p[h, m] times the forests in which m is a root and h not below it, and their share is a probability of walks:

    q[h] = P(a walk from h, from words to heads by `jump`, comes to the root before m) = sum_h' jump[h, h'] q[h']
    P(h -> m) = p[h, m] q[h] / sum_h' p[h', m] q[h']

If the root may have only one child, its potentials are lowered by exp(-150), so that trees with two have no share (as
in `kernels.arborescence`), and log Z is raised again. Underflow does no harm unless Z is very small beside the
product of all sums of potentials, by the bound of `kernels.tree_sums`; then the same elimination runs on logarithms.

The probabilities of the arcs into a word take the elimination of all others. Halving does so for all words in O(n^3):
eliminate the right half of the words and go on with the left half in the same way, then the other way round. The words
that are left are always neighbours, a window, so that loops run along rows. A window is a copy of its part of the one
that it was cut from.

Row m of `into` has the arcs into word m, from 0: column 0 from the root, column 1 + h from word h.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tagweave.kernels import inlined, inner, kernel
from tagweave.kernels.projective import only_heads, shifted, take_only_heads
from tagweave.kernels.tree import longest_of, plus
from tagweave.kernels.tree_sums import LOG_SHARE, times

_U = np.uintp
_DEPTH = 24  # of windows in windows: for at most 2^23 words
_FIRST, _WIDTH, _START, _LOW, _HIGH, _GONE = range(6)  # of a window
_BEGIN, _END, _SHIFT = range(3)  # of a jump: columns, and the shift of their numbers


_over = inlined(lambda a, b: a / b if b > 0 else 0.0)
_log_over = inlined(lambda a, b: a - b if b > -np.inf else -np.inf)
_log, _exp = inlined(lambda a: math.log(a) if a > 0 else -np.inf), inlined(lambda a: math.exp(a))  # noqa: PLW0108
_same = inlined(lambda a: a)


@inlined
def _log_plus(a, b):
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high)) if low > -np.inf else high


@inner
def _cut(space, outer, mine):
    """Copy the words that are left of the window `outer` to the memory of their own window, and return it."""
    width, outer_width = mine[_WIDTH], outer[_WIDTH]
    source = space[outer[_START] : outer[_START] + outer_width * (outer_width + 1)].reshape(outer_width, -1)
    window = space[mine[_START] : mine[_START] + width * (width + 1)].reshape(width, -1)
    shift = mine[_FIRST] - outer[_FIRST]
    for m in range(width):
        window[m, 0] = source[shift + m, 0]
        for h in range(1, width + 1):
            window[m, h] = source[shift + m, shift + h]
    return window


def _removal(plus, times, over, zero):
    """Make a kernel for the elimination of a word from a window, on numbers with this arithmetic."""

    @partial(inlined, reassociate=True)
    def total_of(window, m, begin, end):
        total = window[m, 0]
        for h in range(_U(begin), _U(end)):
            total = plus(total, window[m, h])
        return total

    @inlined
    def add(window, m, jump, factor, begin, end):
        for h in range(_U(begin), _U(end)):
            window[m, h] = plus(window[m, h], times(jump[h], factor))

    @inner
    def remove(k, begin, end, window, jump):
        """Eliminate word k of a window, where the words in columns begin .. end - 1 are left. Returns D."""
        d = total_of(window, k, begin, end)
        jump[0] = over(window[k, 0], d)
        for h in range(_U(begin), _U(end)):
            jump[h] = over(window[k, h], d)
        for m in range(begin - 1, end - 1):
            factor = window[m, k + 1]
            if factor > zero:
                window[m, 0] = plus(window[m, 0], times(jump[0], factor))
                add(window, m, jump, factor, begin, end)
                window[m, m + 1] = zero
        return d

    return remove


def _walking(plus, times, over, zero, one, number):
    """Make a kernel for the walks through eliminated words, on numbers with this arithmetic, where 1 is `number`."""

    @partial(inlined, reassociate=True)
    def dot(total, weights, values, shift, begin, end):
        for h in range(_U(begin), _U(end)):
            total = plus(total, times(weights[h], values[h + _U(shift)]))
        return total

    @inner
    def walk(m, order, left, into, jump, q, marginal):
        """Set the marginals of the arcs into word m, after all others were eliminated in this order. Returns the
        root's."""
        q[0], q[1 + m] = one, zero
        for back in range(order.shape[0]):
            k = order[order.shape[0] - 1 - back]
            q[1 + k] = dot(jump[k, 0], jump[k], q, left[k, _SHIFT], left[k, _BEGIN], left[k, _END])
        total = dot(zero, into[m], q, 0, 0, q.shape[0])
        for h in range(q.shape[0]):
            marginal[h, 1 + m] = number(over(times(into[m, h], q[h]), total))
        return number(over(into[m, 0], total))

    return walk


def _elimination(remove, walk, log):
    """`eliminate` by these kernels; `log` is the logarithm of a number."""

    @inner
    def narrow(low, high, first, window, order, left, jump):
        """Eliminate all words but low .. high - 1 of a window that begins with word `first`.

        Returns the sum of log D. Enters the words in `order`, and in `left` the columns that were left to each.
        """
        begin, end, log_d = first, first + window.shape[0], 0.0
        for at in range(window.shape[0] - (high - low)):
            if begin < low:
                k = begin
                begin += 1
            else:
                end -= 1
                k = end
            order[at] = k
            left[k, _BEGIN], left[k, _END], left[k, _SHIFT] = begin - first + 1, end - first + 1, first
            log_d += log(remove(k - first, begin - first + 1, end - first + 1, window, jump[k]))
        return log_d

    @inner
    def eliminate(n, space, jump, marginal):
        """Set marginal float[n + 1, n + 1] from `into`, float64[n, n + 1] at the beginning of `space`.

        The rest of `space`, 3 (n + 1)^2 in all, and jump float64[n, n + 1] are working memory. Returns log Z, -inf if
        there is no tree or it underflows, and the expected number of children of the root.
        """
        into, q = space[: n * (n + 1)].reshape((n, n + 1)), np.empty(n + 1)
        order, left = np.empty(n, np.int64), np.empty((n, 3), np.int64)
        windows, waiting = np.zeros((_DEPTH, 6), np.int64), np.zeros((2 * _DEPTH, 3), np.int64)
        windows[0, _WIDTH] = waiting[0, 1] = n
        size, log_z, children, is_first = 1, 0.0, 0.0, True
        while size > 0:
            size -= 1
            low, high, depth = waiting[size]
            window, mine = into, windows[depth]
            if depth > 0:
                outer = windows[depth - 1]
                mine[_FIRST], mine[_WIDTH] = outer[_LOW], outer[_HIGH] - outer[_LOW]
                mine[_START] = outer[_START] + outer[_WIDTH] * (outer[_WIDTH] + 1)
                window = _cut(space, outer, mine)
                log_d = narrow(low, high, mine[_FIRST], window, order[outer[_GONE] :], left, jump)
                mine[_GONE] = outer[_GONE] + mine[_WIDTH] - (high - low)
                log_z += log_d if is_first else 0.0
            mine[_LOW], mine[_HIGH] = low, high
            if high - low > 1:
                middle = (low + high) // 2
                for a, b in ((middle, high), (low, middle)):
                    waiting[size, 0], waiting[size, 1], waiting[size, 2] = a, b, depth + 1
                    size += 1
                continue
            if is_first:
                log_z += log(window[low - mine[_FIRST], 0])
                is_first = False
                if log_z == -np.inf:
                    return log_z, children
            children += walk(low, order[: n - 1], left, into, jump, q, marginal)
        return log_z, children

    return eliminate


eliminate_potentials = _elimination(
    _removal(plus, times, _over, 0.0), _walking(plus, times, _over, 0.0, 1.0, _same), _log
)
eliminate_logarithms = _elimination(
    _removal(_log_plus, plus, _log_over, -np.inf), _walking(_log_plus, plus, _log_over, -np.inf, 0.0, _exp), _same
)


_OF_ROOT = 150.0  # nats
_SECOND_CHILD = 1e-9  # a share of trees with two children of the root above which logarithms are used


@kernel
def marginals(scores, allowed, ptr, lengths, single_root, marginal, log_z):
    """As `kernels.tree_sums.marginals`, over all trees."""
    longest = longest_of(lengths)
    memory = np.empty(5 * (longest + 1) ** 2)
    best = np.empty((1, longest + 1))
    for s in range(lengths.shape[0]):
        n = lengths[s]
        cells = slice(ptr[s], ptr[s] + (n + 1) * (n + 1))
        evidence = allowed[cells] if allowed.shape[0] else allowed
        log_z[s] = _sentence(scores[cells], evidence, n, single_root, memory, best, marginal[cells])


@inner
def _sentence(scores, allowed, n, single_root, memory, best, marginal):
    """Set the marginals of one sentence. Return its log Z."""
    marginal[:] = 0
    if n == 0:
        return 0.0
    N = (n + 1) * (n + 1)
    p, out = memory[:N].reshape((n + 1, n + 1)), marginal.reshape((n + 1, n + 1))
    jump, space = memory[N : N + n * (n + 1)].reshape((n, n + 1)), memory[2 * N :]
    shift, allows = shifted(scores, allowed, n, p, best)
    if shift == -np.inf:  # a word without any head
        return shift
    if allows == n:
        return shift if take_only_heads(only_heads(n, p), single_root, False, out) else -np.inf
    into = space[: n * (n + 1)].reshape((n, n + 1))
    gauge = _OF_ROOT if single_root else 0.0
    log_product = _potentials(p, gauge, into)
    log_z, children = eliminate_potentials(n, space, jump, out)
    if log_z - log_product > LOG_SHARE and not (single_root and children - 1 > _SECOND_CHILD):
        return shift + log_z + gauge
    gauge = _of_root(p) if single_root else 0.0
    _logarithms(p, gauge, into)
    log_z, children = eliminate_logarithms(n, space, jump, out)
    if log_z == -np.inf or (single_root and children > 1.5):  # no tree has less than two
        marginal[:] = 0
        return -np.inf
    return shift + log_z + gauge


@inner
def _potentials(p, gauge, into):
    """Set into[m, h] to the potential of h -> word 1 + m, 0 the root. Returns log of the product of all sums."""
    log_product = 0.0
    for m in range(into.shape[0]):
        total = 0.0
        for h in range(into.shape[1]):
            into[m, h] = math.exp(p[h, m + 1] - (gauge if h == 0 else 0.0))
            total += into[m, h]
        log_product += math.log(total)
    return log_product


@inner
def _logarithms(p, gauge, into):
    """As `_potentials`, in logarithms."""
    for m in range(into.shape[0]):
        for h in range(into.shape[1]):
            into[m, h] = p[h, m + 1] - (gauge if h == 0 else 0.0)


@inner
def _of_root(p):
    """More than all trees with two children of the root, and any with one, can differ in logarithms."""
    n, least = p.shape[0] - 1, 0.0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if p[h, m] > -np.inf:
                least = min(least, p[h, m])
    return n * (math.log(n + 1.0) - least) + 50.0
