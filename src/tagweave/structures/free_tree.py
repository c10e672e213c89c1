"""Dependency trees whose arcs may cross: the structure of `structures.tree` over all trees, with their own kernels.

The loss is log det of the Laplacian of the potentials, less the same of those that the evidence leaves (Koo et al.
2007, Structured Prediction Models via the Matrix-Tree Theorem).
"""

from __future__ import annotations

from typing import ClassVar

from tagweave.kernels import arborescence_sums
from tagweave.kernels.arborescence import best_arborescence
from tagweave.kernels.k_best_arborescences import k_best
from tagweave.structures.tree import Tree


class FreeTree(Tree):
    """The structure of all dependency trees; arguments as those of `Tree`."""

    contradiction: ClassVar[str] = "no tree agrees with the annotation"
    projective: ClassVar[bool] = False

    _set_sums = staticmethod(arborescence_sums.marginals)
    _set_best = staticmethod(best_arborescence)
    _set_k_best = staticmethod(k_best)


def tree_structure(single_root: bool, projective: bool) -> Tree:
    """The structure of projective trees, or of all."""
    return Tree(single_root) if projective else FreeTree(single_root)
