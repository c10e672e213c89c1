"""Soft candidates: candidates of a position with a number for each.

What the numbers mean is for whoever learns from them to say: the probability of the label given what was said (a
posterior), or of what was said given the label (a likelihood).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_DIGITS = 4
Value = TypeVar("Value")


class Soft(tuple[Value, ...]):
    """Candidates with a number for each, or for each group of them: a tuple of the candidates that also has numbers.

    It equals another only if the numbers are the same, and never plain candidates. Whatever makes new tuples of its
    candidates makes plain sets.

    Attributes:
        numbers: a non-negative number for each group.
        groups: the group of each candidate; candidates that spell one label in another coding share a number.

    Raises:
        CorpusError: another number of numbers than of groups, a negative or infinite one, or nothing but zeros.
    """

    numbers: tuple[float, ...]
    groups: tuple[int, ...]

    def __new__(cls, candidates: Iterable[Value], numbers: Iterable[float], groups: Iterable[int] = ()) -> Soft[Value]:
        """The candidates with numbers; by default each is a group of its own."""
        soft = super().__new__(cls, candidates)
        soft.numbers = tuple(map(float, numbers))
        soft.groups = tuple(groups) or tuple(range(len(soft)))
        if len(soft.groups) != len(soft) or {*soft.groups} != {*range(len(soft.numbers))}:
            raise CorpusError(f"{len(soft.numbers)} numbers for {len(soft)} candidates", "one for each")
        if not all(0 <= number < math.inf for number in soft.numbers) or not any(soft.numbers):
            raise CorpusError(f"the numbers {soft.numbers}", "numbers that are not negative, and not all 0")
        return soft

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.numbers, self.groups

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Soft) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Soft{self._key()}"

    def numbered(self) -> Iterator[tuple[Value, float]]:
        """The candidates, each with the number of its group."""
        return ((each, self.numbers[group]) for each, group in zip(self, self.groups, strict=True))

    def _key(self) -> tuple[tuple[Value, ...], tuple[float, ...], tuple[int, ...]]:
        return tuple(self), self.numbers, self.groups

    def spelled(self, candidates: Iterable[Value], own: Iterable[Value]) -> Soft[Value]:
        """The candidates under other names; `own` gives each the candidate of this tuple that it spells."""
        names = tuple(candidates)
        group = dict(zip(self, self.groups, strict=True))
        groups = [group[each] for each in own]
        kept = sorted({*groups})
        return Soft(names, (self.numbers[each] for each in kept), (kept.index(each) for each in groups))


def with_probabilities(names: Sequence[str], probabilities: Sequence[float], first: str | None = None) -> Soft[str]:
    """The names with probabilities of at least half a ten-thousandth, the most probable one in front, or `first`."""
    rounded = [round(each, _DIGITS) for each in probabilities]
    order = sorted((at for at, each in enumerate(rounded) if each), key=lambda at: (names[at] != first, -rounded[at]))
    return Soft((names[at] for at in order), (rounded[at] for at in order))
