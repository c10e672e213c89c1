"""Label sets: the labels that a position still allows. They are interned, because few of them are different."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tagweave.labels.space import LabelSpace, View

ALL = 0
"""The number of the set of all labels: no evidence."""


class LabelSets:
    """A growing table of label sets over a space of Y labels. Set 0 is the set of all labels.

    Two pieces of evidence about a position are joined by intersection, so a token that is annotated under several
    guidelines allows the labels that agree with all of them.
    """

    def __init__(self, space: LabelSpace) -> None:
        self.space = space
        self._masks: list[NDArray[np.uint8]] = []
        self._number: dict[bytes, int] = {}
        self._cache: dict[tuple[str, tuple[str, ...]], int] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self._intern(np.ones(len(space), np.uint8))

    def __len__(self) -> int:
        return len(self._masks)

    @property
    def masks(self) -> NDArray[np.uint8]:
        """uint8[sets, Y]: 1 where the set has the label."""
        return np.stack(self._masks)

    def projected(self, view: View) -> NDArray[np.uint8]:
        """uint8[sets, tags]: 1 where the set has a label that projects to the tag."""
        tags = np.zeros((len(self), len(view.names)), np.uint8)
        sets, labels = np.nonzero(self.masks)
        tags[sets, view.projection[labels]] = 1
        return tags

    def labels(self, number: int) -> NDArray[np.int64]:
        """The labels of a set, rising."""
        return np.flatnonzero(self._masks[number])

    def _intern(self, mask: NDArray[np.uint8]) -> int:
        key = mask.tobytes()
        if key not in self._number:
            self._number[key] = len(self._masks)
            self._masks.append(mask)
        return self._number[key]

    def of_labels(self, labels: Iterable[int]) -> int:
        """The set of these labels.

        Raises:
            ValueError: no labels; evidence never excludes everything.
        """
        mask = np.zeros(len(self.space), np.uint8)
        mask[list(labels)] = 1
        if not mask.any():
            raise ValueError("an empty label set: evidence must allow at least one label")
        return self._intern(mask)

    def of_candidates(self, guideline: str, candidates: tuple[str, ...] | None) -> int:
        """The set that a position of a layer allows; `None` allows all.

        Raises:
            UnknownLabelError: a candidate that the guideline does not have.
        """
        if candidates is None:
            return ALL
        key = (guideline, candidates)
        if key not in self._cache:
            self._cache[key] = self.of_labels(self.space.allow(guideline, candidates))
        return self._cache[key]

    def join(self, first: int, second: int) -> int:
        """The intersection of two sets.

        Raises:
            ValueError: they have no label in common.
        """
        if ALL in (first, second):
            return first or second
        if (first, second) not in self._joined:
            self._joined[first, second] = self.of_labels(np.flatnonzero(self._masks[first] & self._masks[second]))
        return self._joined[first, second]
