"""Brute-force twins of the tree kernels: every tree over n words, one by one.

Heads are 1-based, 0 the root; a tree is the tuple of the heads of words 1 .. n. Nothing here imports the package.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

Heads = tuple[int, ...]
Rows = Sequence[Sequence[float]]
Cube = Sequence[Rows]
NEVER = -math.inf


def ancestors(heads: Sequence[int], word: int) -> list[int]:
    """The words above `word` up to the root, or up to the first that comes again."""
    above: list[int] = []
    while word > 0 and heads[word - 1] not in above:
        word = heads[word - 1]
        above.append(word)
    return above


def is_tree(heads: Sequence[int]) -> bool:
    """Whether every word is below the root."""
    return all(0 in ancestors(heads, m) for m in range(1, len(heads) + 1))


def is_projective(heads: Sequence[int]) -> bool:
    """Whether all that stands between a head and its modifier is below the head."""
    return all(
        h in ancestors(heads, between) for m, h in enumerate(heads, 1) for between in range(min(h, m) + 1, max(h, m))
    )


@lru_cache
def trees(n: int, projective: bool, single_root: bool) -> tuple[Heads, ...]:
    """Every tree of n words."""
    choices = [[h for h in range(n + 1) if h != m] for m in range(1, n + 1)]
    return tuple(
        heads
        for heads in product(*choices)
        if (not single_root or heads.count(0) == 1 or n == 0)
        and is_tree(heads)
        and (not projective or is_projective(heads))
    )


def sibling(heads: Heads, m: int) -> int:
    """The modifier of the head of m that is nearest to it between the two; the head itself if there is none."""
    h = heads[m - 1]
    between = range(h + 1, m) if h < m else range(m + 1, h)
    return min((s for s in between if heads[s - 1] == h), key=lambda s: abs(m - s), default=h)


def pairs_of(heads: Heads) -> list[tuple[int, int, int]]:
    """Head, sibling and modifier of every word."""
    return [(h, sibling(heads, m), m) for m, h in enumerate(heads, 1)]


def score(scores: Rows, heads: Heads, pairs: Cube | None = None) -> float:
    """The sum of the scores [h][m] of its arcs, and [h][s][m] of its pairs of siblings."""
    own = [float(scores[h][m]) for m, h in enumerate(heads, 1)]
    return math.fsum(own + [float(pairs[h][s][m]) for h, s, m in pairs_of(heads) if pairs is not None])


def tree_scores(scores: Rows, projective: bool, single_root: bool, pairs: Cube | None = None) -> dict[Heads, float]:
    """The scores of all trees that are allowed at all; excluded arcs score -inf."""
    found: dict[Heads, float] = {}
    for heads in trees(len(scores) - 1, projective, single_root):
        if all(scores[h][m] > NEVER for m, h in enumerate(heads, 1)):
            found[heads] = score(scores, heads, pairs)
    return found


def under_evidence(weights: Mapping[Heads, float], shares: Rows) -> dict[Heads, float]:
    """The trees that evidence leaves, less what it takes from their potentials: shares [h][m], 0 to 1, of each arc."""
    found: dict[Heads, float] = {}
    for heads, weight in weights.items():
        share = math.prod(float(shares[h][m]) for m, h in enumerate(heads, 1))
        if share > 0:
            found[heads] = weight + math.log(share)
    return found


def log_partition(weights: Mapping[Heads, float]) -> float:
    """log Z; -inf of no tree."""
    if not weights:
        return NEVER
    top = max(weights.values())
    return top + math.log(math.fsum(math.exp(weight - top) for weight in weights.values()))


def marginals(weights: Mapping[Heads, float], n: int) -> list[list[float]]:
    """[n + 1][n + 1]: the probability of every arc."""
    log_z = log_partition(weights)
    table = [[0.0] * (n + 1) for _ in range(n + 1)]
    for heads, weight in weights.items():
        for m, h in enumerate(heads, 1):
            table[h][m] += math.exp(weight - log_z)
    return table


def pair_marginals(weights: Mapping[Heads, float], n: int) -> list[list[list[float]]]:
    """[n + 1][n + 1][n + 1]: the probability of every pair of siblings, by head, sibling and modifier."""
    log_z = log_partition(weights)
    cube = [[[0.0] * (n + 1) for _ in range(n + 1)] for _ in range(n + 1)]
    for heads, weight in weights.items():
        for h, s, m in pairs_of(heads):
            cube[h][s][m] += math.exp(weight - log_z)
    return cube


def expected_loss(weights: Mapping[Heads, float], q: Mapping[Heads, float]) -> float:
    """E_q[-log p(tree)], q in any order."""
    log_z = log_partition(weights)
    return math.fsum(mass * (log_z - weights[heads]) for heads, mass in q.items())


def entropy(weights: Mapping[Heads, float]) -> float:
    """The entropy of the trees, in nats."""
    log_z = log_partition(weights)
    return -math.fsum((weight - log_z) * math.exp(weight - log_z) for weight in weights.values())
