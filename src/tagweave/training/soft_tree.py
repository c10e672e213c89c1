"""Trees whose heads have the probabilities that a parser gives them, as training data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Arc, ArcCandidates, HeadLayer
from tagweave.corpus.soft import Soft

_LEAST = 0.001
"""Heads that are less likely are no candidates."""


def with_probabilities(tree: HeadLayer, probabilities: NDArray[Any]) -> HeadLayer:
    """The heads of a tree and all others that are likely enough, with their probabilities.

    The heads of the tree are always candidates, so that there is a tree among these.

    Args:
        tree: L tokens, each with one candidate; a layer with an unknown head is returned as it is.
        probabilities: [(L + 1)^2], of every head and modifier.
    """
    if not all(tree):
        return tree
    by_modifier = probabilities.reshape(len(tree) + 1, -1).T[1:]
    return tuple(_candidates(own, row) for own, row in zip(tree, by_modifier, strict=True))


def _candidates(own: ArcCandidates, row: NDArray[Any]) -> ArcCandidates:
    assert own is not None  # noqa: S101 - the caller has looked
    (arc,) = own
    head = arc.head or 0
    others = [each for each in np.flatnonzero(row >= _LEAST).tolist() if each != head]
    if not others:
        return own
    numbers = np.maximum(row[[head, *others]].astype(np.float64), _LEAST)
    return Soft((arc, *(Arc(each, None) for each in others)), (numbers / numbers.sum()).tolist())
