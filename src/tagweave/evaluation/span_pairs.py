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

from tagweave.evaluation.score import Score, number, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.evaluation.candidates import Booleans, Integers


@dataclass(frozen=True, slots=True)
class PartialScore:
    """Spans found in whole or in part.

    Attributes:
        exact: pairs of a gold and a system span with the same boundaries.
        overlapping: other pairs, which count half.
        gold: gold spans.
        system: spans of the system.
    """

    exact: int
    overlapping: int
    gold: int
    system: int

    @property
    def right(self) -> float:
        """What the pairs count together, in spans."""
        return self.exact + self.overlapping / 2

    @property
    def precision(self) -> float:
        """That of the system's spans, 0..1."""
        return ratio(self.right, self.system)

    @property
    def recall(self) -> float:
        """That of the gold spans, 0..1."""
        return ratio(self.right, self.gold)

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall, 0..1; 0 if exactly one of them is undefined."""
        return ratio(2 * self.right, self.gold + self.system)

    def to_json(self) -> dict[str, Any]:
        """Counts and ratios as a plain dict."""
        ratios = {"precision": number(self.precision), "recall": number(self.recall), "f": number(self.f)}
        counts = {"exact": self.exact, "overlapping": self.overlapping, "gold": self.gold, "system": self.system}
        return {**ratios, **counts}


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
    partial = PartialScore(int(same.sum()), _paired(pairs[~same].tolist()), *sizes)
    return partial, Score(int((same & agree).sum()) + _paired(pairs[~same & agree].tolist()), *sizes)


def _paired(overlaps: Iterable[tuple[int, int]]) -> int:
    """How many pairs are left, if each span is paired with the first that is free."""
    count, last, last_other = 0, -1, -1
    for one, other in overlaps:  # rising, so what is taken is the last pair's
        if one > last and other > last_other:
            count, last, last_other = count + 1, one, other
    return count
