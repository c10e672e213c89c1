"""Sum-product over all dependency trees, projective or not, under evidence: log Z and the probability of every arc.

With p[h, m] of `kernels.tree_sums`, 0 where the evidence excludes an arc, Z is the determinant of the Laplacian of the
words (the matrix-tree theorem; Koo et al. 2007, Smith and Smith 2007, McDonald and Satta 2007):

    Lap[m, m] = sum_h p[h, m]        Lap[h, m] = -p[h, m]        Z = det Lap

Eliminating word k leaves the Laplacian of the other words, with an arc for each path through k (`kernels.elimination`):

    D[k] = sum_h p[h, k]        jump[k, h] = p[h, k] / D[k]        p[h, m] += jump[k, h] p[k, m]        Z = prod_k D[k]

The diagonal is always summed anew, so nothing is subtracted (Grassmann, Taksar and Heyman 1985), and every number is as
exact as the potentials, also where words that govern each other make the determinant 1e-100 of its terms. Differences
of entries of the inverse, the usual way to probabilities, would be noise there. The trees with the arc h -> m are
p[h, m] times the forests in which m is a root and h not below it, and their share is that of walks:

    q[h] = P(a walk from h, from words to heads by `jump`, comes to the root before m) = sum_h' jump[h, h'] q[h']
    P(h -> m) = p[h, m] q[h] / sum_h' p[h', m] q[h']

If the root may have only one child, its potentials are lowered by exp(-150), so that trees with two have no share (as
in `kernels.arborescence`), and log Z is raised again. Underflow does no harm unless Z is very small beside the
product of all sums of potentials, by the bound of `kernels.tree_sums`; then the same elimination runs on logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.elimination import eliminate_logarithms, eliminate_potentials
from tagweave.kernels.tree_potentials import only_heads, shifted, take_only_heads
from tagweave.kernels.tree_sums import LOG_SHARE

_OF_ROOT = 150.0  # nats
_SECOND_CHILD = 1e-9  # a share of trees with two children of the root above which logarithms are used


@kernel
def marginals(scores, allowed, ptr, lengths, single_root, marginal, log_z):
    """As `kernels.tree_sums.marginals`, over all trees."""
    longest = 0
    for s in range(lengths.shape[0]):
        longest = max(longest, lengths[s])
    memory = np.empty(5 * (longest + 1) ** 2)
    best = np.empty((1, longest + 1))
    for s in range(lengths.shape[0]):
        n = lengths[s]
        cells = slice(ptr[s], ptr[s] + (n + 1) * (n + 1))
        evidence = allowed[cells] if allowed.shape[0] else allowed
        log_z[s] = _sentence(scores[cells], evidence, n, single_root, memory, best, marginal[cells])


@inner
def _sentence(scores, allowed, n, single_root, memory, best, marginal):
    """log Z of one sentence; sets its marginals."""
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
    """Set into[m, h] to the potential of the arc from h, 0 the root, into word 1 + m. Returns log of the product of all
    sums."""
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
