"""Clusters of words by their vectors: paths through a binary tree, as Brown clusters have them.

Bisecting 2-means (Steinbach et al. 2000) divides the vectors of the most frequent words, and every word follows its
planes. Nothing is drawn, and sums do not depend on threads: `einsum` has none, unlike BLAS.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_DEPTH = 12  # bits of a path
_FREQUENT = 50_000  # the first words of a file
_ROUNDS = 10  # of 2-means, at most
_BLOCK = 1 << 13  # vectors

Floats = NDArray[np.float32]


def paths_of(table: NDArray[Any]) -> NDArray[np.uint16]:
    """Return uint16[V]: for each vector of a table [V, H], the most frequent words first, a 1 and the bits of its path.

    Nodes are numbered like those of a heap, so a path is the number of its leaf.
    """
    normals, offsets = _planes(table[:_FREQUENT].astype(np.float32))
    paths = np.ones(len(table), np.uint16)
    for low in range(0, len(table), _BLOCK):
        block, at = table[low : low + _BLOCK].astype(np.float32), paths[low : low + _BLOCK]
        for _ in range(_DEPTH):
            at[:] = 2 * at + (np.einsum("rh,rh->r", block, normals[at]) > offsets[at])
    return paths


def _planes(vectors: Floats) -> tuple[Floats, Floats]:
    """Return the normals [nodes, H] and the offsets [nodes] of the planes; 0 where nothing is to be divided."""
    nodes = 1 << _DEPTH
    normals, offsets = np.zeros((nodes, vectors.shape[1]), np.float32), np.zeros(nodes, np.float32)
    parts = {1: vectors}
    for node in range(1, nodes):
        members = parts.pop(node)
        is_second = np.zeros(len(members), bool)
        if len(members) > 1:
            widest = members.var(axis=0).argmax()
            is_second = members[:, widest] > members[:, widest].mean()
        for _ in range(_ROUNDS):
            if not is_second.any():  # all are alike
                break
            first, second = members[~is_second].mean(axis=0), members[is_second].mean(axis=0)
            normals[node] = second - first
            offsets[node] = np.einsum("h,h->", normals[node], first + second) / 2
            before = is_second
            is_second = np.einsum("rh,h->r", members, normals[node]) > offsets[node]
            if (is_second == before).all():
                break
        if 2 * node < nodes:
            parts[2 * node], parts[2 * node + 1] = members[~is_second], members[is_second]
    return normals, offsets
