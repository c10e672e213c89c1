"""Candidate sets as integers, and the rule for when a system's labels agree with the gold evidence.

Every metric follows this rule:

| gold | system | verdict |
| --- | --- | --- |
| unknown | anything | not scored |
| one label or several | one label, among them | right |
| one label or several | one label, not among them | wrong |
| one label or several | unknown or several labels | wrong (undecided) |

A wildcard (`B-*`: any label with this prefix; `!O`: any label but this) counts as several labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.space import is_wildcard

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
        known: K marks, False for the unknown set.
        labels: the L labels that are the only label of some set, in the order of their first occurrence.
        alone: K label numbers: the only label of the set, or -1.
        gold: N set numbers.
        system: M set numbers.
    """

    sets: tuple[Candidates, ...]
    known: Booleans
    labels: tuple[str, ...]
    alone: Integers
    gold: Integers
    system: Integers

    def agree(self, gold: Integers, system: Integers) -> Booleans:
        """Whether each system set is one label that the corresponding gold set allows; both are arrays of set numbers.

        The comparison runs once per distinct pair of sets, of which there are few.
        """
        size = max(len(self.sets), 1)
        pairs, inverse = np.unique(gold * size + system, return_inverse=True)
        verdicts = [agrees(self.sets[pair // size], self.sets[pair % size]) for pair in pairs.tolist()]
        return np.asarray(verdicts, dtype=np.bool_)[inverse]


def agrees(gold: Candidates, system: Candidates) -> bool:
    """Whether the system chose one label, and the gold evidence is known and allows it."""
    label = only_label(system)
    return gold is not None and label is not None and any(_allows(candidate, label) for candidate in gold)


def only_label(candidates: Candidates) -> str | None:
    """The label of a position that allows exactly one, otherwise `None`."""
    if candidates is None or len(candidates) > 1 or is_wildcard(candidates[0]):
        return None
    return candidates[0]


def _allows(candidate: str, label: str) -> bool:
    if not is_wildcard(candidate):
        return candidate == label
    return label != candidate[1:] if candidate.startswith("!") else label.startswith(candidate[:-1])


def encode(gold: Iterable[Candidates], system: Iterable[Candidates]) -> CandidateCodes:
    """Number the candidate sets of gold and system positions, in one pass over each."""
    codes: dict[Candidates, int] = {}
    gold_codes = np.fromiter((codes.setdefault(item, len(codes)) for item in gold), dtype=np.int64)
    system_codes = np.fromiter((codes.setdefault(item, len(codes)) for item in system), dtype=np.int64)
    labels: dict[str, int] = {}
    single = (only_label(item) for item in codes)
    alone = [-1 if label is None else labels.setdefault(label, len(labels)) for label in single]
    return CandidateCodes(
        tuple(codes),
        np.array([item is not None for item in codes], dtype=np.bool_),
        tuple(labels),
        np.array(alone, dtype=np.int64),
        gold_codes,
        system_codes,
    )
