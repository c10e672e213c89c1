"""Candidate sets as integers, and when a system's labels agree with the gold evidence.

The policy for positions without one label is stated here once, and every metric follows it:

| gold | system | verdict |
| --- | --- | --- |
| unknown | anything | not scored |
| one label or several | one label, among them | right |
| one label or several | one label, not among them | wrong |
| one label or several | unknown or several labels | wrong (undecided) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.sentence import Candidates

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateCodes:
    """The candidate sets of N gold positions and M system positions, each distinct set kept once.

    Attributes:
        sets: the K distinct sets.
        sizes: K sizes; 0 for unknown.
        labels: the L labels that stand alone in some set, in the order of their first occurrence.
        alone: K label numbers: the only label of the set, or -1.
        gold: N set numbers.
        system: M set numbers.
    """

    sets: tuple[Candidates, ...]
    sizes: Integers
    labels: tuple[str, ...]
    alone: Integers
    gold: Integers
    system: Integers

    def agree(self, gold: Integers, system: Integers) -> Booleans:
        """Whether each system set is one label that the gold set beside it holds; both are arrays of set numbers.

        The Python look-up runs once per distinct pair of sets, which are few.
        """
        size = max(len(self.sets), 1)
        pairs, places = np.unique(gold * size + system, return_inverse=True)
        verdicts = [agrees(self.sets[pair // size], self.sets[pair % size]) for pair in pairs.tolist()]
        return np.asarray(verdicts, dtype=np.bool_)[places]


def agrees(gold: Candidates, system: Candidates) -> bool:
    """Whether the system chose one label and the gold evidence, if there is any, holds it."""
    return gold is not None and system is not None and len(system) == 1 and system[0] in gold


def encode(gold: Iterable[Candidates], system: Iterable[Candidates]) -> CandidateCodes:
    """Number the candidate sets of gold and system positions, in one pass over each."""
    codes: dict[Candidates, int] = {}
    gold_codes = np.fromiter((codes.setdefault(item, len(codes)) for item in gold), dtype=np.int64)
    system_codes = np.fromiter((codes.setdefault(item, len(codes)) for item in system), dtype=np.int64)
    labels: dict[str, int] = {}
    alone = [labels.setdefault(item[0], len(labels)) if item and len(item) == 1 else -1 for item in codes]
    sizes = [len(item) if item else 0 for item in codes]
    return CandidateCodes(
        tuple(codes),
        np.array(sizes, dtype=np.int64),
        tuple(labels),
        np.array(alone, dtype=np.int64),
        gold_codes,
        system_codes,
    )
