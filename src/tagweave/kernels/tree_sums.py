"""Sum-product over projective dependency trees, under evidence: log Z and the probability of every arc and pair.

The recurrence of `kernels.tree` with sums for maxima and products for sums; with p[h, m] = exp(s[h, m] - shift[h, m]),
exactly 0 where the evidence excludes an arc, for s, and potentials q of pairs of siblings, 1 if these have no scores,
for b. So S[i, j] = sum_k R[i, k] L[k+1, j], and Z takes the place of `best`.

The derivative of log Z with respect to each cell comes from running the pushes backwards; times the cell of an arc it
is the arc's probability; a pair's probability is the product of its parts and the derivative of their whole. The
evidence is in p alone: one recurrence gives Z of all trees, and Z of the allowed ones.

Range. The best score of the pairs of an arc is added to the arc's, so that q is at most 1. Every tree has one head for
every word, so a shift of the scores of all its arcs changes Z by a factor, which is added back to log Z: it makes
the best potential of each word 1. With A[m] = sum_h p[h, m], a cell is at most the product of A over its words, and the
sum of its completions to trees at most that over all others. So underflow is harmless unless Z is as small compared
with the product of all A; and there is none if no cell is very small. If neither holds, because strong scores disagree
with every tree, the sentence is summed again with shifts that make Z about 1; and if that does not help, in logarithms.

Logarithms are slower, for any range of scores: the same recurrence, with the logarithm of the sum of exponentials for
maxima. There, o[i, j] = r[i, j] - s[i, j] and e[i, j] = l[i, j] - s[j, i] are the cells without their arcs.
Downwards, a cell passes its probability to its parts: R[i, j], for example, passes the share
exp(r[i, m] + R[m, j] - R[i, j]), which is at most 1, to its parts at m. So there are no differences of two infinities,
and nothing can overflow; probabilities below 1e-30 are treated as 0.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tagweave.kernels import inlined, inner, kernel, merged
from tagweave.kernels.instructions import put
from tagweave.kernels.projective import (
    only_heads,
    potentials,
    shifted_with_pairs,
    take_only_heads,
    take_only_pairs,
)
from tagweave.kernels.tree import (
    ROWS,
    block,
    fill,
    longest_of,
    most_pairs,
    plus,
    plus_both,
    read,
    recurrence,
    row,
    row_of,
    stride,
)

_NO_SUMMAND = -50.0  # negligible in a sum whose largest summand is 0
_NO_PROBABILITY, _NO_SHARE = 1e-30, -70.0


@kernel
def log_marginals(n, single_root, step, pairs, charts, marginal, of_pairs):
    """Set marginal float[n + 1, n + 1] and of_pairs of a sentence. Return log Z; -inf, and all 0, if it allows no tree.

    charts float64[10, n + 2, n + 2] has the scores s[h, m] in charts[0], -inf where an arc is excluded and in column 0.
    pairs are the scores b, whose rows begin at `step` times `kernels.tree.row`.
    """
    marginal[:] = 0
    of_pairs[:] = 0
    log_z = _log_fill(n, charts[0], pairs, step, single_root, charts[1:6], np.empty((2 * ROWS, n + 2)))
    if log_z > -np.inf:
        _log_outside(n, single_root, step, pairs, log_z, charts, marginal, of_pairs)
    return log_z


@inner
def _add(sums, x, value):
    """Add exp(value) to the sum exp(tops[x]) totals[x], which is 0 at first, where totals[x] does not count."""
    tops, totals = sums
    gap = value - tops[x]
    if gap <= 0:
        if gap > _NO_SUMMAND:
            totals[x] += math.exp(gap)
    elif value > -np.inf:
        totals[x] = totals[x] * math.exp(-gap) + 1 if tops[x] > -np.inf else 1.0
        tops[x] = value


@inner
def _log(sums, x):
    """Return the logarithm of the sum exp(tops[x]) totals[x]."""
    tops, totals = sums
    return tops[x] + math.log(totals[x]) if tops[x] > -np.inf else -np.inf


_tops_and_totals = inlined(lambda rows, k: (rows[k], rows[k + ROWS]))
_log_fill = recurrence(_tops_and_totals, _add, _log, plus, plus_both, -np.inf, 0.0)


@inner
def _log_outside(n, single_root, step, pairs, log_z, charts, marginal, of_pairs):
    """Pass probabilities from whole cells down to their parts; charts[6:10] receive them for R, L, l and S."""
    s, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    PR, PL, Pl, PS = charts[6], charts[7], charts[8], charts[9]
    charts[6:10] = 0.0
    split, left, right = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2)
    outward, inward = np.zeros(n + 2), np.zeros(n + 2)  # probabilities of arcs
    of_outward, of_inward = np.zeros(n + 2), np.zeros(n + 2)  # o and e
    unused, zeros = np.zeros(n + 2), np.zeros(n + 2)
    if single_root:
        for m in range(1, n + 1):
            marginal[0, m] = math.exp(s[0, m] + pairs[m - 1] + L[1, m] + R[m, n] - log_z)
            of_pairs[m - 1] = marginal[0, m]
            PL[1, m] += marginal[0, m]
            PR[m, n] += marginal[0, m]
    else:
        PR[0, n] = 1.0
    N, to_left = _U(n + 1), step * block(n)
    for at in range(1 if single_root else 0, n):
        i = _U(at)
        alone = step * row(n, at, at)
        for back in range(n - at):
            j = _U(n - back)
            first, pair_row, none = j + _ONE, step * row(n, at, j), alone + j - i - _ONE
            right[j] = PR[i, j] + _hand_down(R[i, j], S[i], split, L[first], zeros, PL[first], unused, first, N)
            if first < N:
                share = _share(inward[first], R[i, j] + pairs[to_left + none + _ONE] - of_inward[first])
                of_pairs[to_left + none + _ONE] = share
                right[j] += share
            left[j] = PL[i, j] + _hand_down(L[i, j], L[i], left, l[j], zeros, Pl[j], unused, first, N)
            split[j] = PS[i, j] + _hand_down(
                S[i, j],
                of_inward,
                inward,
                l[j],
                pairs[to_left + pair_row :],
                Pl[j],
                of_pairs[to_left + pair_row :],
                first,
                N,
            )
            outward[j] = _share(right[j], r[i, j] - R[i, j])
            outward[j] += _hand_down(r[i, j], R[i], right, R[j], zeros, PR[j], unused, first, N)
            outward[j] += _hand_down(
                r[i, j], of_outward, outward, S[j], pairs[pair_row:], PS[j], of_pairs[pair_row:], first, N
            )
            inward[j] = Pl[i, j] + _share(left[j], l[i, j] - L[i, j])
            marginal[i, j], marginal[j, i] = outward[j], inward[j]
            of_outward[j], of_inward[j] = r[i, j] - s[i, j], l[i, j] - s[j, i]
            of_pairs[none] = _share(outward[j], L[i + _ONE, j] + pairs[none] - of_outward[j])
            PL[i + _ONE, j] += of_pairs[none]
            if back == n - at - 1:
                of_pairs[to_left + none] = _share(inward[j], pairs[to_left + none] - of_inward[j])
        for x in range(i + _ONE, N):
            PL[i + _ONE, x] += _share(split[x], L[i + _ONE, x] - S[i, x])


@inner
def _share(probability, gap):
    """Return the probability times exp(gap); 0 if the probability is 0, whatever the gap."""
    return probability * math.exp(gap) if probability > _NO_PROBABILITY and gap > _NO_SHARE else 0.0


@inner
def _hand_down(cell, wholes, probabilities, second_parts, pairs, of_second_parts, of_pairs, first, N):
    """Pass the probabilities of cells x >= first to their parts: one cell, shared by all, second_parts[x], and their
    pair.

    Returns the probability that the shared cell gets.
    """
    total = 0.0
    for x in range(first, N):
        share = 0.0
        if probabilities[x] > _NO_PROBABILITY:
            share = _share(probabilities[x], cell + second_parts[x] + pairs[x - first] - wholes[x])
            total += share
            of_second_parts[x] += share
        of_pairs[x - first] = share
    return total


_U = np.uintp
_ONE = np.uintp(1)
_LOG_TREES = math.log(6.75)  # n words have fewer projective trees than exp(n times this)
_LARGEST = 1e200  # largest cell: if its derivative underflows, at most 1e-100 of its probability is lost
_LEAST = 1e-100  # least nonzero cell: products of three such cells are not 0
LOG_SHARE = -575.0  # log 1e-250, the least share of Z in the product of all A
_CHARTS = 10


def marginals(scores, allowed, ptr, pair_ptr, lengths, single_root, marginal, log_z):
    """Set marginal[arc] = P(arc), marginal[pair] = P(pair), and log_z float64[B]; -inf and all 0 where no tree is
    allowed.

    scores float32 or float64 (flat), single_root, ptr, pair_ptr and lengths as in `kernels.tree`; a score of -inf
    excludes an arc, too. allowed uint8 or bool, for all arcs, or empty if all are allowed. marginal float (flat), 0 in
    column 0 and on the diagonal. The gradient of log Z(all) - log Z(allowed) is the difference of two such marginals.
    """
    _marginals(scores, allowed, ptr, pair_ptr, lengths, single_root, marginal, log_z)
    for s in np.flatnonzero(np.isnan(log_z)).tolist():  # rare, and compiled when one is met
        n, step = int(lengths[s]), int(pair_ptr[s + 1] > pair_ptr[s])
        cells, of_sentence = slice(ptr[s], ptr[s] + (n + 1) ** 2), slice(pair_ptr[s], pair_ptr[s + 1])
        pairs = scores[of_sentence] if step else np.zeros(n + 1, scores.dtype)
        of_pairs = marginal[of_sentence] if step else np.empty(n + 1, marginal.dtype)
        evidence = allowed[cells] if len(allowed) else allowed
        log_z[s] = _careful(scores[cells], pairs, evidence, n, step, single_root, marginal[cells], of_pairs)


@kernel
def _marginals(scores, allowed, ptr, pair_ptr, lengths, single_root, marginal, log_z):
    """As `marginals`; log Z is nan, and marginals are 0, of sentences whose potentials leave their range."""
    longest = longest_of(lengths)
    space, rows = np.empty(_CHARTS * (longest + 2) ** 2), np.empty((ROWS, longest + 2))
    room = np.empty(most_pairs(pair_ptr, lengths))
    neutral, unused = np.zeros(longest + 1, scores.dtype), np.empty(longest + 1, marginal.dtype)
    for s in range(lengths.shape[0]):
        n, step = lengths[s], stride(pair_ptr, s)
        cells = slice(ptr[s], ptr[s] + (n + 1) * (n + 1))
        of_sentence = slice(pair_ptr[s], pair_ptr[s + 1])
        evidence = allowed[cells] if allowed.shape[0] else allowed
        pairs, of_pairs = (scores[of_sentence], marginal[of_sentence]) if step else (neutral, unused)
        q = room[: pairs.shape[0]]
        put(marginal[cells], 0)
        put(of_pairs, 0)
        log_z[s] = _sentence(
            scores[cells], pairs, evidence, n, step, single_root, space, rows, q, marginal[cells], of_pairs
        )


@kernel
def entropies(scores, ptr, pair_ptr, lengths, marginal, log_z, entropy):
    """Set entropy float64[B], in nats, of the trees of each sentence, from its log Z and marginals; nan of no tree.

    H = log Z - sum over arcs and pairs of P times score, since the score of a tree is the sum of theirs.
    """
    for s in range(lengths.shape[0]):
        expected = 0.0
        for first, last in ((ptr[s], ptr[s] + (lengths[s] + 1) ** 2), (pair_ptr[s], pair_ptr[s + 1])):
            for a in range(first, last):
                if marginal[a] > 0:
                    expected += marginal[a] * scores[a]
        entropy[s] = log_z[s] - expected if log_z[s] > -np.inf else np.nan


@merged
def _sentence(scores, pairs, allowed, n, step, single_root, space, rows, q, marginal, of_pairs):
    """Set the marginals of one sentence, which are 0. Return its log Z, or nan."""
    if n == 0:
        return 0.0
    charts = space[: _CHARTS * (n + 2) * (n + 2)].reshape((_CHARTS, n + 2, n + 2))
    p, out = charts[0], marginal.reshape((n + 1, n + 1))
    shift, allows = shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q)
    if shift == -np.inf:  # a word without any head
        return shift
    if allows == n:
        heads = only_heads(n, p)
        if not take_only_heads(heads, single_root, True, out):
            return -np.inf
        return shift + take_only_pairs(heads, step, q, of_pairs)
    total, is_exact = _sums(n, step, single_root, 0.0, charts, rows, q)
    if not is_exact:
        return np.nan
    if total > 0:
        _outside(n, step, single_root, total, charts, rows, q, out, of_pairs)
    return shift + math.log(total)


@kernel
def _careful(scores, pairs, allowed, n, step, single_root, marginal, of_pairs):
    """Set the marginals of one sentence, which are 0, by shifts that make Z about 1, or in logarithms. Return log Z.

    `_sums` and `_gauge` overwrite the charts, so the scores are shifted again after each.
    """
    charts, rows, q = np.empty((_CHARTS, n + 2, n + 2)), np.empty((ROWS, n + 2)), np.empty(pairs.shape[0])
    out = marginal.reshape((n + 1, n + 1))
    shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q)
    total, _ = _sums(n, step, single_root, 0.0, charts, rows, q)
    shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q)
    gauge = _gauge(n, step, single_root, total, charts, rows, q)
    shift, _ = shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q)
    total, is_exact = _sums(n, step, single_root, gauge, charts, rows, q)
    if is_exact:
        if total > 0:
            _outside(n, step, single_root, total, charts, rows, q, out, of_pairs)
        return shift + n * gauge + math.log(total)
    shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q)
    return shift + log_marginals(n, single_root, step, q, charts, out, of_pairs)


@inner
def _sums(n, step, single_root, gauge, charts, rows, q):
    """Return Z of the scores in charts[0], each less the gauge, and q, in potentials; and whether it is exact."""
    log_product, least, largest = potentials(n, gauge, charts[0], rows)
    if not largest < _LARGEST:
        return np.inf, False
    for a in range(_U(q.shape[0])):
        q[a] = math.exp(q[a])
        least = min(least, q[a])
    total = _fill(n, charts[0], q, step, single_root, charts[1:6], rows)
    for cells in charts[1:6]:
        for i in range(1 if single_root else 0, n):
            for j in range(i + 1, n + 1):
                largest = max(largest, cells[i, j])
                if cells[i, j] > 0:
                    least = min(least, cells[i, j])
    is_exact = least > _LEAST or (total > 0 and math.log(total) - log_product > LOG_SHARE)
    return total, is_exact and largest < _LARGEST


@inner
def _gauge(n, step, single_root, total, charts, rows, q):
    """Return the number to subtract from all scores in charts[0] for a Z near 1, from the last Z and the best tree."""
    if not total < np.inf:
        return _LOG_TREES
    best = fill(n, charts[0], q, step, single_root, charts[1:6], rows)
    if best == -np.inf:
        return 0.0
    return max(best, math.log(total)) / n


@inlined
def _plus_in_place(row, x, value):
    row[x] += value


times, _times_both = inlined(lambda a, b: a * b), inlined(lambda a, b, c: a * (b * c))
_fill = recurrence(row_of, _plus_in_place, read, times, _times_both, 0.0, 1.0)


@inner
def _outside(n, step, single_root, total, charts, rows, q, marginal, of_pairs):
    """From the charts of `_sums`, set marginal float[n + 1, n + 1] and of_pairs. dR, dL, dl, dS = charts[6:10] are
    derivatives.

    The derivative of a cell that no tree reaches is unbounded: it may be inf, and inf * 0 is nan, so it is never used.
    """
    p, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    dR, dL, dl, dS = charts[6], charts[7], charts[8], charts[9]
    split, left, right, outward, inward = rows[0], rows[1], rows[2], rows[3], rows[4]
    for i in range(n + 1):
        put(dR[i, i : n + 1], 0.0)
        put(dL[i, i : n + 1], 0.0)
        put(dl[i, i : n + 1], 0.0)
        put(dS[i, i : n + 1], 0.0)
    if single_root:
        for m in range(1, n + 1):
            share = p[0, m] * q[m - 1] / total
            if share > 0:
                dL[1, m] += share * R[m, n]
                dR[m, n] += share * L[1, m]
                marginal[0, m] = share * L[1, m] * R[m, n]
                of_pairs[m - 1] = marginal[0, m]
    else:
        dR[0, n] = 1.0 / total
    N, to_left = _U(n + 1), step * block(n)
    for at in range(1 if single_root else 0, n):
        i = _U(at)
        alone = step * row(n, at, at)
        for back in range(n - at):
            j = _U(n - back)
            first, pair_row, none = j + _ONE, step * row(n, at, j), alone + j - i - _ONE
            a = _pull(R[i, j], split, L[first], dL[first], first, N)
            b = _pull(L[i, j], left, l[j], dl[j], first, N)
            c = _pull(r[i, j], right, R[j], dR[j], first, N)
            c += _pull_pair(r[i, j], outward, q[pair_row:], S[j], dS[j], of_pairs[pair_row:], first, N)
            pair_row += to_left
            d = _pull_pair(S[i, j], inward, q[pair_row:], l[j], dl[j], of_pairs[pair_row:], first, N)
            if first < N:
                a += inward[first] * q[to_left + alone + j - i]
            right[j] = dR[i, j] + a if R[i, j] > 0 else 0.0
            left[j] = dL[i, j] + b if L[i, j] > 0 else 0.0
            split[j] = dS[i, j] + d if S[i, j] > 0 else 0.0
            of_arc = right[j] + c if r[i, j] > 0 else 0.0
            marginal[i, j] = r[i, j] * of_arc
            outward[j] = p[i, j] * of_arc
            of_arc = left[j] + dl[i, j] if l[i, j] > 0 else 0.0
            marginal[j, i] = l[i, j] * of_arc
            inward[j] = p[j, i] * of_arc
            of_pairs[none] = outward[j] * q[none] * L[i + _ONE, j]
            dL[i + _ONE, j] += outward[j] * q[none]
            of_pairs[to_left + none] = inward[j] * q[to_left + none] * R[i, j - _ONE]
        for x in range(i + _ONE, N):
            dL[i + _ONE, x] += split[x]


@partial(inner, reassociate=True)
def _pull(cell, grown, second_part, derivative, first, N):
    """One push backwards: derivative += cell * grown.

    Returns sum grown * second_part, the derivative of the cell itself.
    """
    total = 0.0
    for x in range(first, N):
        total += grown[x] * second_part[x]
        derivative[x] += cell * grown[x]
    return total


@partial(inner, reassociate=True)
def _pull_pair(cell, grown, q, second_part, derivative, of_pairs, first, N):
    """As `_pull`, of a push with pairs, whose probabilities are set."""
    total = 0.0
    for x in range(first, N):
        share = grown[x] * q[x - first]
        total += share * second_part[x]
        derivative[x] += cell * share
        of_pairs[x - first] = cell * share * second_part[x]
    return total
