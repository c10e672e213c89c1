"""Transition scores of labels as sums over views, and gradients back into the views.

With p the projection of a view, A its transition weights:

    score[i, j] += A[p[i], p[j]]          A'[p[i], p[j]] += pairs[i, j]
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import kernel

_U = np.uintp


@kernel
def spread_pairs(transition, projection, score):
    """Add transition float[tags, tags] to score float[Y, Y]."""
    for i in range(_U(projection.shape[0])):
        row = transition[_U(projection[i])]
        for j in range(_U(projection.shape[0])):
            score[i, j] += row[_U(projection[j])]


@kernel
def collect_pairs(pairs, projection, transition):
    """The transpose of `spread_pairs`: add pairs float[Y, Y] to transition float[tags, tags]."""
    tags = transition.shape[0]
    folded = np.zeros(pairs.shape[1], pairs.dtype)
    for tag in range(tags):  # rows first: adding whole rows is fast, and leaves few columns to scatter
        folded[:] = 0
        for i in range(_U(projection.shape[0])):
            if projection[i] == tag:
                for j in range(_U(pairs.shape[1])):
                    folded[j] += pairs[i, j]
        for j in range(_U(pairs.shape[1])):
            transition[tag, _U(projection[j])] += folded[j]
