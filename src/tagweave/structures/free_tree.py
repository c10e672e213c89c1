"""Dependency trees whose arcs may cross: the structure of `structures.tree` over all trees, with their own kernels.

The loss is log det of the Laplacian of the potentials, less the same of those that the evidence leaves (Koo et al.
2007, Structured Prediction Models via the Matrix-Tree Theorem). Pairs of siblings have no scores.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import arborescence_sums
from tagweave.kernels.arborescence import best_arborescence
from tagweave.kernels.k_best_arborescences import k_best
from tagweave.structures.tree import Tree

Floats = NDArray[np.floating[Any]]


class FreeTree(Tree):
    """The structure of all dependency trees; arguments as those of `Tree`."""

    contradiction: ClassVar[str] = "no tree agrees with the annotation"
    projective: ClassVar[bool] = False

    @staticmethod
    def _set_sums(scores: Floats, allowed: Floats, cells: Any, pair_ptr: Any, *others: Any) -> None:
        arborescence_sums.marginals(scores, allowed, cells, *others)

    @staticmethod
    def _set_best(scores: Floats, cells: Any, pair_ptr: Any, *others: Any) -> None:
        best_arborescence(scores, cells, *others)

    @staticmethod
    def _set_k_best(arcs: Floats, pairs: Floats, *others: Any) -> None:
        k_best(arcs, *others)


def tree_structure(single_root: bool, projective: bool) -> Tree:
    """The structure of projective trees, or of all."""
    return Tree(single_root) if projective else FreeTree(single_root)
