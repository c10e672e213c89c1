"""Label sets: the labels that a position still allows. They are interned, because few of them are different.

Candidates with numbers (`Soft`) are read in one of two ways. A likelihood, P(observation | label), is a row of
numbers instead of the zeros and ones of a set. A posterior, P(label | observation), is the set of its labels together
with the probabilities that these are to have (`Posteriors`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from tagweave.corpus.candidates import Soft
from tagweave.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tagweave.labels.space import LabelSpace, View

ALL = 0
"""The number of the set of all labels: no evidence."""

Reading = Literal["posterior", "likelihood"]
"""How the numbers of candidates are read."""
READINGS: tuple[Reading, ...] = get_args(Reading)
"""Both of them."""


def reading(name: str) -> Reading:
    """Return the reading of this name. Raises ValueError if there is none."""
    for choice in READINGS:
        if choice == name:
            return choice
    raise ValueError(f"found soft labels read as {name!r}, expected {' or '.join(READINGS)}")


def sums_to_one(numbers: Iterable[float]) -> bool:
    """Return whether these can be rounded probabilities."""
    return abs(sum(numbers) - 1) <= _ROUNDING


_ROUNDING = 0.02  # by how much rounded probabilities may miss 1


@dataclass(frozen=True)
class Posteriors:
    """The probabilities that evidence gives the labels of P of the sets.

    Candidates that stand for several labels, a group, say nothing of each of them.
    """

    of_set: NDArray[np.int32]  # [sets], the posterior of each set, -1 for sets without one
    group: NDArray[np.int32]  # [P, Y], of each label, -1 for excluded labels
    share: NDArray[np.float64]  # [P, G], the probability of each group


@dataclass(frozen=True)
class LabelRows:
    """The table of label sets to which evidence refers by number."""

    masks: NDArray[Any]  # [R, Y], 1 where a set has the label, else 0; or likelihoods
    posteriors: Posteriors | None = None  # of some of the sets
    log_scales: NDArray[np.float64] | None = None  # [R], the logarithms of the divisors of likelihoods; `None`: 0

    @cached_property
    def only(self) -> NDArray[np.int32]:
        """int32[R]: the label of each set of one label, -1 for the others."""
        is_single = (self.masks > 0).sum(axis=1) == 1
        return np.where(is_single, self.masks.argmax(axis=1), -1).astype(np.int32)

    def in_precision(self, dtype: Any) -> LabelRows:
        """Return the table with masks of this type, for which kernels are compiled."""
        return self if self.masks.dtype == dtype else replace(self, masks=self.masks.astype(dtype))


class _Posterior(NamedTuple):
    """int32[Y], the group of each label, and float64[G], the probability of each group."""

    group: NDArray[np.int32]
    share: NDArray[np.float64]


class LabelSets:
    """A growing table of label sets over a space of Y labels. Set 0 is the set of all labels.

    Two pieces of evidence about a position are joined by intersection, so a token that is annotated under several
    guidelines allows the labels that agree with all of them. Likelihoods are multiplied, and a posterior is conditioned
    on a set. `reading` says how the numbers of candidates are read.
    """

    def __init__(self, space: LabelSpace, reading: Reading = "likelihood") -> None:
        self.space, self.reading = space, reading
        self._masks: list[NDArray[Any]] = []
        self._number: dict[bytes, int] = {}
        self._cache: dict[tuple[str, tuple[str, ...]], int] = {}
        self._allowed: dict[tuple[str, str], list[int]] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self._posteriors: dict[int, _Posterior] = {}
        self._log_scales: list[float] = []
        self._intern(np.ones(len(space), np.uint8))

    def __len__(self) -> int:
        return len(self._masks)

    @property
    def masks(self) -> NDArray[Any]:
        """uint8[sets, Y], 1 where the set has the label; float64, divided by the largest, with likelihoods."""
        return np.stack(self._masks)

    @property
    def log_scales(self) -> NDArray[np.float64]:
        """float64[sets]: the logarithm of the divisor of each likelihood."""
        return np.array(self._log_scales)

    @property
    def rows(self) -> LabelRows:
        log_scales = self.log_scales
        return LabelRows(self.masks, self.posteriors, log_scales if log_scales.any() else None)

    @property
    def has_numbers(self) -> bool:
        return bool(self._posteriors) or any(mask.dtype != np.uint8 for mask in self._masks)

    @property
    def posteriors(self) -> Posteriors | None:
        if not self._posteriors:
            return None
        of_set = np.full(len(self), -1, np.int32)
        of_set[list(self._posteriors)] = np.arange(len(self._posteriors))
        share = np.zeros((len(self._posteriors), max(len(numbers) for _, numbers in self._posteriors.values())))
        for row, (_, numbers) in zip(share, self._posteriors.values(), strict=True):
            row[: len(numbers)] = numbers
        return Posteriors(of_set, np.stack([group for group, _ in self._posteriors.values()]), share)

    def projected(self, view: View) -> NDArray[np.uint8]:
        """Return uint8[sets, tags]: 1 where the set has a label that projects to the tag."""
        tags = np.zeros((len(self), len(view.names)), np.uint8)
        sets, labels = np.nonzero(self.masks)
        tags[sets, view.projection[labels]] = 1
        return tags

    def labels(self, number: int) -> NDArray[np.int64]:
        return np.flatnonzero(self._masks[number])

    def is_level(self, number: int, labels: NDArray[np.bool_]) -> bool:
        """Return whether a set tells none of these labels (bool[Y]) from another."""
        row = self._masks[number][labels]
        return number not in self._posteriors and (not len(row) or bool(row.min() == row.max() > 0))

    def _intern(self, mask: NDArray[Any], posterior: _Posterior | None = None, log_scale: float = 0.0) -> int:
        key = b"".join(array.tobytes() for array in (mask, np.float64(log_scale), *(posterior or ())))
        if key not in self._number:
            self._number[key] = len(self._masks)
            if posterior is not None:
                self._posteriors[len(self._masks)] = posterior
            self._masks.append(mask)
            self._log_scales.append(log_scale)
        return self._number[key]

    def of_labels(self, labels: Iterable[int]) -> int:
        mask = np.zeros(len(self.space), np.uint8)
        mask[list(labels)] = 1
        return self._of_row(mask)

    def _of_row(self, row: NDArray[Any], log_scale: float = 0.0) -> int:
        """Return the set with these numbers times exp(log_scale); equal numbers of all labels are no evidence."""
        if not row.any():
            raise ValueError("an empty label set: evidence must allow at least one label")
        if row.dtype != np.uint8:
            log_scale, row = log_scale + math.log(row.max()), row / row.max()
            row = row if ((row > 0) & (row < 1)).any() else (row > 0).astype(np.uint8)
        return ALL if self._masks and np.array_equal(row, self._masks[ALL]) else self._intern(row, None, log_scale)

    def believed_in_part(self, number: int, share: float) -> int:
        """Return the likelihood in which labels that a likelihood excludes have a share, the number of the others."""
        row, log_scale = self._masks[number].astype(np.float64), self._log_scales[number]
        return self._of_row(np.where(row > 0, row, share * math.exp(-log_scale)), log_scale)

    @property
    def are_likelihoods(self) -> NDArray[np.bool_]:
        """bool[sets]: whether the candidates of a set have numbers that are likelihoods."""
        pairs = zip(self._masks, self._log_scales, strict=True)
        return np.array([mask.dtype != np.uint8 or scale != 0 for mask, scale in pairs])

    def of_candidates(self, guideline: str, candidates: tuple[str, ...] | None) -> int:
        """Return the set that a position of a layer allows; `None` allows all."""
        if candidates is None:
            return ALL
        key = (guideline, candidates)
        if key not in self._cache:
            if isinstance(candidates, Soft):
                self._cache[key] = self._of_soft(guideline, candidates)
            else:
                self._cache[key] = self.of_labels(self.space.allow(guideline, candidates))
        return self._cache[key]

    def _of_soft(self, guideline: str, candidates: Soft[str]) -> int:
        labels: list[int] = []
        groups: list[int] = []
        for candidate, number in zip(candidates, candidates.groups, strict=True):
            key = guideline, candidate
            if key not in self._allowed:
                self._allowed[key] = self.space.allow(guideline, (candidate,)).tolist()
            labels += self._allowed[key]
            groups += [number] * len(self._allowed[key])
        if len(set(labels)) < len(labels):
            raise CorpusError(f"a label that two of {', '.join(candidates)} stand for", "a number for each")
        if self.reading == "likelihood":
            row = np.zeros(len(self.space))
            row[labels] = [candidates.numbers[group] for group in groups]
            return self._of_row(row)
        if not sums_to_one(candidates.numbers):
            listed = ", ".join(f"{number:g}" for number in candidates.numbers)
            expected = "a sum of 1: `!A:0.3` is 0.3 for every label but A, or read them as likelihoods"
            raise CorpusError(f"the probabilities {listed}", expected)
        group = np.full(len(self.space), -1, np.int32)
        group[labels] = groups
        if len({*groups}) == len(candidates.numbers) > 1 and all(candidates.numbers):
            numbers = np.array(candidates.numbers)
            return self._intern((group >= 0).view(np.uint8), _Posterior(group, numbers / numbers.sum()))
        return self._posterior(group, np.array(candidates.numbers))

    def _posterior(self, group: NDArray[np.int32], numbers: NDArray[np.float64]) -> int:
        """Return the posterior of groups of labels, without those that have no label or no probability."""
        kept = np.flatnonzero((np.bincount(group + 1, minlength=len(numbers) + 1)[1:] > 0) & (numbers > 0))
        if len(kept) < len(numbers):
            renumbered = np.full(len(numbers) + 1, -1, np.int32)
            renumbered[kept] = np.arange(len(kept))
            group, numbers = renumbered[group], numbers[kept]
        mask = (group >= 0).view(np.uint8)
        if len(kept) < 2:
            return self._of_row(mask)
        return self._intern(mask, _Posterior(group, numbers / numbers.sum()))

    def join(self, first: int, second: int) -> int:
        """Return the intersection of two sets, or the product of two likelihoods."""
        if ALL in (first, second):
            return first or second
        if (first, second) not in self._joined:
            self._joined[first, second] = self._multiply(first, second)
        return self._joined[first, second]

    def _multiply(self, first: int, second: int) -> int:
        row = self._masks[first] * self._masks[second]
        with_posterior = [number for number in (first, second) if number in self._posteriors]
        if not with_posterior:
            return self._of_row(row, self._log_scales[first] + self._log_scales[second])
        if len(with_posterior) == 2:
            raise ValueError("probabilities of labels in two layers")
        if not row.any():
            raise ValueError("an empty label set: evidence must allow at least one label")
        group, share = self._posteriors[with_posterior[0]]
        return self._posterior(np.where(row > 0, group, -1).astype(np.int32), share)
