"""Spans of a gold standard and of a system that overlap, and the looser scores that come from them.

Both scores pair spans that share a token, each span with one other at most, from left to right. (Spans with the same
boundaries overlap no others.) They are those of SemEval-2013, task 9.1 (Segura-Bedmar et al. 2013, "SemEval-2013 Task
9: Extraction of Drug-Drug Interactions from Biomedical Texts"), with the half points of MUC-5 (Chinchor and Sundheim
1993, "MUC-5 evaluation metrics"):

- *partial overlap* (there "partial boundary matching"): the types do not matter. A pair with the same boundaries counts
  as one right span, any other pair as half of one.
- *type only* (there "type matching"): only spans of the same type are paired, and every pair counts as one right span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagweave.evaluation.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.evaluation.candidates import Booleans, Integers


@dataclass(frozen=True, slots=True)
class PartialScore(Score):
    """Spans found in whole or in part; `right` counts the latter half.

    Attributes:
        exact: pairs of a gold and a system span with the same boundaries.
        overlapping: other pairs.
    """

    exact: int
    overlapping: int

    @classmethod
    def of(cls, exact: int, overlapping: int, gold: int, system: int) -> PartialScore:
        """The score of so many pairs, among so many spans of the gold standard and of the system."""
        return cls(exact + overlapping / 2, gold, system, exact, overlapping)

    def to_json(self) -> dict[str, Any]:
        """Counts and ratios as a plain dict."""
        return {**Score.to_json(self), "exact": self.exact, "overlapping": self.overlapping}


class TypedSpans(NamedTuple):
    """N spans in rising order, none of which overlap: int64[N] starts and stops, bool[N, T] possible types."""

    starts: Integers
    stops: Integers
    types: Booleans


def overlap_scores(gold: TypedSpans, system: TypedSpans) -> tuple[PartialScore, Score]:
    """The scores for partial overlap, and for the type only."""
    first = np.searchsorted(system.stops, gold.starts, side="right")
    counts = np.maximum(np.searchsorted(system.starts, gold.stops, side="left") - first, 0)
    ours = np.repeat(np.arange(len(gold.starts)), counts)
    theirs = np.arange(len(ours)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    same = (gold.starts[ours] == system.starts[theirs]) & (gold.stops[ours] == system.stops[theirs])
    agree = (gold.types[ours] & system.types[theirs]).any(axis=1)
    pairs = np.stack([ours, theirs], axis=1)
    sizes = len(gold.starts), len(system.starts)
    partial = PartialScore.of(int(same.sum()), _paired(pairs[~same].tolist()), *sizes)
    return partial, Score(int((same & agree).sum()) + _paired(pairs[~same & agree].tolist()), *sizes)


def _paired(overlaps: Iterable[tuple[int, int]]) -> int:
    """How many pairs are left, if each span is paired with the first that is free."""
    count, last, last_other = 0, -1, -1
    for one, other in overlaps:  # rising, so what is taken is the last pair's
        if one > last and other > last_other:
            count, last, last_other = count + 1, one, other
    return count
