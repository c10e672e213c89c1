"""Brown clustering: the classes of words that lose least of the mutual information of neighbours (Brown et al. 1992).

With n[a, b] the bigrams of a word of class a and a word of class b, l and r the sums of its rows and columns, N their
sum, and f(x) = x log x, the average mutual information of neighbouring classes is

    I = (sum of f(n[a, b]) - sum of f(l[a]) - sum of f(r[b]) + f(N)) / N

Two classes i and j become one by adding their rows, then their columns. With D(x, y) = f(x + y) - f(x) - f(y), which
is 0 if x or y is 0, N I falls by

    loss[i, j] = D(l[i], l[j]) + D(r[i], r[j]) - sum over k of D(n[i, k], n[j, k]) - sum over k of D(n[k, i], n[k, j])
                 - corner[i, j]
    corner[i, j] = D(n[i, i] + n[j, i], n[i, j] + n[j, j]) - D(n[i, i], n[i, j]) - D(n[j, i], n[j, j])

A step (Liang 2005) gives the next most frequent word a class of its own, beside C others, and merges the two of these
C + 1 classes that lose least. The words that are still to come are one more class, the rest, which is never merged; so
I always measures a partition of the whole text. A new word changes only terms of its contexts, and a merger only
terms of the contexts of one of the two classes. So a step takes time O(C) for each of these contexts: O(C^2) at most,
and much less for most words, which are rare.

f is rounded to multiples of 1 / `SCALE`, and all else is sums of integers: losses are exact, whatever the order of
the steps before them. Equal losses are decided by the numbers of the classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import inlined, inner, kernel

SCALE = 1 << 24
"""The units of f in 1. With 2 ** 31 bigrams, sums stay below 2 ** 62."""
_TABLE = 1 << 20  # values of f that are looked up; larger ones are computed


class Neighbours(NamedTuple):
    """The neighbours of V words, on side 0 the following ones, on side 1 those before."""

    ptr: NDArray[np.int64]  # [2, V + 1], the first entry of every word
    word: NDArray[np.int32]  # [2, B], the neighbours; V stands for all words that never get a class of their own
    times: NDArray[np.int32]  # [2, B]


class Classes(NamedTuple):
    """The classes, in the first `size` of C + 1 slots; slot C + 1 is the rest."""

    f: NDArray[np.int64]  # [T], in units of 1 / `SCALE`
    n: NDArray[np.int32]  # [2, C + 2, C + 2], bigrams by slots: n[0, i, j] = n[1, j, i] of class i before class j
    total: NDArray[np.int64]  # [2, C + 2], the sums of their rows
    loss: NDArray[np.int64]  # [C + 1, C + 1], symmetric
    least: NDArray[np.int64]  # [C + 1], the smallest loss of every slot
    least_at: NDArray[np.int32]  # [C + 1], with which slot that is
    is_bound: NDArray[np.bool_]  # [C + 1], whether `least` is only a bound: with `least_at` the loss has risen since
    changed: NDArray[np.bool_]  # [C + 1], the slots all of whose losses may have changed since `least` was found
    parent: NDArray[np.int32]  # [V], the word that represents the class of a word, directly or by way of others
    slot: NDArray[np.int32]  # [V], the slot of a representing word; C + 1 until a word has a class
    representing: NDArray[np.int32]  # [C + 1], the word that represents a slot
    size: NDArray[np.int64]  # [1], the number of slots in use

    @classmethod
    def empty(cls, words: int, classes: int, bigrams: int) -> Classes:
        """Return no class yet, for so many words to come, in texts of so many bigrams."""
        x = np.arange(1, min(bigrams + 1, _TABLE), dtype=np.float64)
        return cls(
            f=np.concatenate([[0], np.rint(x * np.log(x) * SCALE).astype(np.int64)]),
            n=np.zeros((2, classes + 2, classes + 2), np.int32),
            total=np.zeros((2, classes + 2), np.int64),
            loss=np.zeros((classes + 1, classes + 1), np.int64),
            least=np.zeros(classes + 1, np.int64),
            least_at=np.zeros(classes + 1, np.int32),
            is_bound=np.zeros(classes + 1, np.bool_),
            changed=np.zeros(classes + 1, np.bool_),
            parent=np.arange(words, dtype=np.int32),
            slot=np.full(words, classes + 1, np.int32),
            representing=np.zeros(classes + 1, np.int32),
            size=np.zeros(1, np.int64),
        )


@inlined
def _f(c, x):
    if x < c.f.shape[0]:
        return c.f[x]
    return np.int64(np.rint(x * np.log(np.float64(x)) * SCALE))


@inlined
def _joint(c, x, y):
    """D(x, y)"""
    if x == 0 or y == 0:
        return np.int64(0)
    return _f(c, x + y) - _f(c, x) - _f(c, y)


@inlined
def _own(c, i, j):
    """Return the part of loss[i, j] that is not a sum over k."""
    n = c.n[0]
    corner = _joint(c, n[i, i] + n[j, i], n[i, j] + n[j, j]) - _joint(c, n[i, i], n[i, j]) - _joint(c, n[j, i], n[j, j])
    return _joint(c, c.total[0, i], c.total[0, j]) + _joint(c, c.total[1, i], c.total[1, j]) - corner


@inner
def _slot_of(c, word):
    """Return the slot of a word's class."""
    while c.parent[word] != word:
        c.parent[word] = c.parent[c.parent[word]]
        word = c.parent[word]
    return c.slot[word]


@kernel
def step(c, neighbours, first, last):
    """Give the words first .. last - 1 their classes: one each while slots are left, then by mergers."""
    most = c.loss.shape[0]
    for word in range(first, last):
        _add(c, neighbours, word)
        if c.size[0] == most:
            i, j = _cheapest(c)
            _merge(c, i, j)


@kernel
def tree(c, nodes, children):
    """Merge all classes into one, the cheapest pair first.

    nodes int32[C + 1] are the nodes of slots; a merger makes the next one, and sets its children int32[size - 1, 2].
    """
    following = c.size[0]
    for at in range(children.shape[0]):
        i, j = _cheapest(c)
        children[at, 0], children[at, 1] = nodes[i], nodes[j]
        nodes[i], nodes[j] = following, nodes[c.size[0] - 1]
        following += 1
        _merge(c, i, j)


@kernel
def slots_of(c, slots):
    """slots[w] = the slot of the class of every word w, int32[V]."""
    for word in range(slots.shape[0]):
        slots[word] = _slot_of(c, word)


@inner
def _add(c, neighbours, word):
    """Give a word of the rest a slot of its own."""
    w, rest = c.size[0], c.n.shape[1] - 1
    for side in range(2):
        for k in range(rest + 1):
            c.n[side, w, k] = 0
            c.n[1 - side, k, w] = 0
    c.size[0] += 1
    c.representing[w], c.slot[word] = word, w
    c.changed[w] = True
    for side in range(2):
        n = c.n[side]
        for at in range(neighbours.ptr[side, word], neighbours.ptr[side, word + 1]):
            other = neighbours.word[side, at]
            k = rest if other == c.parent.shape[0] else _slot_of(c, other)
            n[w, k] += neighbours.times[side, at]
        total = np.int64(0)
        for k in range(rest + 1):
            total += n[w, k]
        c.total[side, w] = total
    for side in range(2):
        for k in range(w):
            if c.n[side, w, k] > 0:
                _take_from_rest(c, side, w, k)
        c.n[1 - side, rest, w] = c.n[side, w, rest]
    for j in range(w):
        c.loss[w, j] = _own(c, w, j)
    for side in range(2):
        for k in range(rest + 1):
            if c.n[side, w, k] > 0:
                _subtract_shared(c, c.n[side, w, k], c.n[1 - side, k], c.loss[w], w)
    for j in range(w):
        c.loss[j, w] = c.loss[w, j]


@inner
def _subtract_shared(c, x, of_context, loss, stop):
    """loss[j] -= D(x, of_context[j])"""
    of_x = _f(c, x)
    for j in range(stop):
        y = of_context[j]
        if y > 0:
            loss[j] -= _f(c, x + y) - of_x - _f(c, y)


@inner
def _take_from_rest(c, side, w, k):
    """The context of k that is w is no longer part of the rest."""
    rest = c.n.shape[1] - 1
    of_rest, of_w, loss = c.n[side, rest], c.n[side, w], c.loss[k]
    x, before = of_w[k], of_rest[k]
    after = before - x
    fall = _f(c, before) - _f(c, after)
    c.changed[k] = True
    for j in range(w):
        y = of_rest[j]
        change = np.int64(0)
        if y > 0:
            change += _f(c, after + y) - _f(c, before + y) + fall
        if j < k and of_w[j] > 0:  # those after k are still contexts of the rest
            change += _joint(c, x, of_w[j])
        if change != 0 and j != k:
            loss[j] -= change
            c.loss[j, k] -= change
    of_rest[k] = after
    c.n[1 - side, k, rest] = after
    c.n[1 - side, k, w] = x


@inner
def _merge(c, u, v):
    """Add slot v to slot u < v, and move the last slot to v."""
    size, rest = c.size[0], c.n.shape[1] - 1
    loss = c.loss[u]
    for j in range(size):
        loss[j] -= _own(c, u, j)
    for side in range(2):
        for k in range(rest + 1):
            if (k < size or k == rest) and c.n[side, v, k] > 0:
                _merge_entry(c, side, u, v, k)
        c.total[side, u] += c.total[side, v]
    for j in range(size):
        loss[j] += _own(c, u, j)
        c.loss[j, u] = loss[j]
    c.changed[u] = True
    c.parent[c.representing[v]] = c.representing[u]
    _move(c, size - 1, v)
    c.size[0] = size - 1


@inner
def _merge_entry(c, side, u, v, k):
    """Add n[side, v, k] to n[side, u, k], in the sums of u over its contexts, and in the sums of k over u and v."""
    size, rest = c.size[0], c.n.shape[1] - 1
    n = c.n[side]
    x, y = n[u, k], n[v, k]
    fx, fy, fxy = _f(c, x), _f(c, y), _f(c, x + y)
    of_k, loss = c.n[1 - side, k], c.loss[u]
    for j in range(size):
        z = of_k[j]
        if z > 0:
            loss[j] -= _f(c, x + y + z) - _f(c, x + z) - fxy + fx
    if k != rest and k != v:  # noqa: PLR1714 - a set is slow here
        c.changed[k] = True
        of_u, of_v, loss = n[u], n[v], c.loss[k]
        for j in range(size):
            a, b = of_u[j], of_v[j]
            change = np.int64(0)
            if a > 0:
                change += _f(c, x + y + a) - _f(c, x + a) - fxy + fx
            if b > 0:
                change -= _f(c, y + b) - fy - _f(c, b)
            if change != 0 and j != k:
                loss[j] -= change
                if k != u:
                    c.loss[j, k] -= change
    n[u, k], c.n[1 - side, k, u] = x + y, x + y
    n[v, k], c.n[1 - side, k, v] = 0, 0


@inner
def _move(c, old, new):
    """Move a slot."""
    rest = c.n.shape[1] - 1
    if old != new:
        for side in range(2):
            n = c.n[side]
            for k in range(rest + 1):
                n[new, k] = n[old, k]
            n[new, new] = n[old, old]
            for k in range(rest + 1):
                n[k, new] = n[new, k] if k == new else n[k, old]
            c.total[side, new] = c.total[side, old]
        for j in range(old):
            if j != new:
                c.loss[new, j] = c.loss[old, j]
                c.loss[j, new] = c.loss[old, j]
        c.representing[new] = c.representing[old]
        c.slot[c.representing[new]] = new
    c.changed[new], c.changed[old] = True, True


@inner
def _cheapest(c):
    """Return the pair of slots with the smallest loss, of equal ones the first."""
    size = c.size[0]
    for i in range(size):
        if c.changed[i]:
            _find_least(c, i)
        elif not c.is_bound[i]:
            at = c.least_at[i]
            if at >= size or c.loss[i, at] > c.least[i]:
                c.is_bound[i] = True
            else:
                c.least[i] = c.loss[i, at]
    for k in range(size):
        if c.changed[k]:
            loss = c.loss[k]
            for j in range(size):
                if c.changed[j]:
                    continue
                if loss[j] < c.least[j]:
                    c.least[j], c.least_at[j], c.is_bound[j] = loss[j], k, False
                elif loss[j] == c.least[j] and not c.is_bound[j] and k < c.least_at[j]:
                    c.least_at[j] = k
    least = np.int64(np.iinfo(np.int64).max)
    for i in range(size):
        c.changed[i] = False
        if not c.is_bound[i]:
            least = min(least, c.least[i])
    best = -1
    for i in range(size):
        if c.is_bound[i] and c.least[i] <= least:
            _find_least(c, i)
            least = min(least, c.least[i])
    for i in range(size - 1, -1, -1):
        if c.least[i] == least and not c.is_bound[i]:
            best = i
    return best, np.int64(c.least_at[best])


@inner
def _find_least(c, i):
    loss = c.loss[i]
    at = 1 if i == 0 else 0
    for j in range(c.size[0]):
        if loss[j] < loss[at] and j != i:
            at = j
    c.least[i], c.least_at[i], c.is_bound[i] = loss[at], at, False
