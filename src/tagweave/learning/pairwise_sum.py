"""Sums of losses and gradients in the order of a binary tree, so that they do not depend on who adds which part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


class Part(NamedTuple):
    """The sum over consecutive leaves of the tree.

    Attributes:
        first, leaves: the first leaf, and how many.
        loss, gradient: their sums.
    """

    first: int
    leaves: int
    loss: float
    gradient: Floats


class PairwiseSum:
    """Adds parts, given from the first leaf to the last.

    Two parts are added as soon as they are the two halves of a node of the tree. So whoever adds a run of leaves has at
    most twice as many parts as the tree has levels, and all of them together give the same sum, bit for bit, however
    the leaves were shared out. The number of leaves is a power of two.
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def add(self, part: Part) -> None:
        """Add a part; its gradient may be overwritten if it is writable."""
        self.parts.append(part)
        while len(self.parts) > 1 and _are_halves(*self.parts[-2:]):
            right, left = self.parts.pop(), self.parts.pop()
            out = left.gradient if left.gradient.flags.writeable else np.empty_like(left.gradient)
            np.add(left.gradient, right.gradient, out=out)
            self.parts.append(Part(left.first, 2 * left.leaves, left.loss + right.loss, out))

    def total(self) -> tuple[float, Floats]:
        """The sums over all leaves; the gradient can be written."""
        [part] = self.parts
        return part.loss, part.gradient if part.gradient.flags.writeable else part.gradient.copy()


def _are_halves(left: Part, right: Part) -> bool:
    return left.leaves == right.leaves and left.first % (2 * left.leaves) == 0
