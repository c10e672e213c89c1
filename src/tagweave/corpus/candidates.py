r"""Candidate labels with a number for each, and candidates in one field of a file: `VBG|JJ`, or `VBG:0.7|JJ:0.3`.

A field with nothing on one side of a bar (`|`, `a||b`) is one label that contains bars. Otherwise a bar inside a
label is escaped with a backslash: `\|`. Numbers have a point (`1.0`, `.5`, `2.5e-3`), so that `10:30` is a label. A
label that ends like one with a number has its last colon escaped: `\:`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, TypeVar

from tagweave.corpus.characters import escape, is_escaped, split_unescaped, unescape
from tagweave.errors import CorpusError

Value = TypeVar("Value")
BAR, COLON = "|", ":"
_DIGITS = 4
_KEPT = 1 << 14  # fields in memory; a corpus has few
_NUMBER = re.compile(r":(\d*\.\d+([eE][-+]?\d+)?)\Z")


class Soft(tuple[Value, ...]):
    """A tuple of candidates with a number for each, or for each group of them.

    Whoever learns from the numbers says what they mean: the probability of the label given the observation
    (a posterior), or of the observation given the label (a likelihood). A `Soft` equals another only if the numbers are
    the same, and never plain candidates. Tuples made from it are plain sets.
    """

    numbers: tuple[float, ...]  # a non-negative one for each group
    groups: tuple[int, ...]  # of each candidate; those that spell one label in another coding share a number

    def __new__(cls, candidates: Iterable[Value], numbers: Iterable[float], groups: Iterable[int] = ()) -> Soft[Value]:
        """Make candidates with numbers; by default each is a group of its own."""
        soft = super().__new__(cls, candidates)
        soft.numbers = tuple(map(float, numbers))
        soft.groups = tuple(groups) or tuple(range(len(soft)))
        if len(soft.groups) != len(soft) or {*soft.groups} != {*range(len(soft.numbers))}:
            raise CorpusError(f"{len(soft.numbers)} numbers for {len(soft)} candidates", "one for each")
        if not all(0 <= number < math.inf for number in soft.numbers) or not any(soft.numbers):
            raise CorpusError(f"the numbers {soft.numbers}", "numbers that are not negative, and not all 0")
        return soft

    @classmethod
    def by_number(cls, numbers: Mapping[Value, float]) -> Soft[Value]:
        """Return candidates with their numbers, in six digits, the largest first."""
        ordered = sorted(numbers.items(), key=lambda item: -item[1])
        return Soft((candidate for candidate, _ in ordered), (round(float(number), 6) for _, number in ordered))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self._key()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Soft) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Soft{self._key()}"

    def _key(self) -> tuple[tuple[Value, ...], tuple[float, ...], tuple[int, ...]]:
        return tuple(self), self.numbers, self.groups

    def numbered(self) -> Iterator[tuple[Value, float]]:
        return ((candidate, self.numbers[group]) for candidate, group in zip(self, self.groups, strict=True))

    def spelled(self, candidates: Iterable[Value], spelt: Iterable[Value]) -> Soft[Value]:
        """Return candidates under other names; `own` gives for each the candidate of this tuple that it spells."""
        names = tuple(candidates)
        group = dict(zip(self, self.groups, strict=True))
        groups = [group[candidate] for candidate in spelt]
        kept = sorted({*groups})
        return Soft(names, (self.numbers[number] for number in kept), (kept.index(number) for number in groups))


def with_probabilities(names: Sequence[str], probabilities: Sequence[float], first: str | None = None) -> Soft[str]:
    """Return names with a probability of at least 0.00005, the most probable one in front, or else `first`."""
    rounded = [round(probability, _DIGITS) for probability in probabilities]
    order = sorted(
        (at for at, probability in enumerate(rounded) if probability), key=lambda at: (names[at] != first, -rounded[at])
    )
    return Soft((names[at] for at in order), (rounded[at] for at in order))


def parse_candidates(field: str, special: str = "") -> tuple[str, ...]:
    """Parse a non-empty field, as `Soft` if it has numbers; `special` are more characters that the format escapes."""
    if not field:
        raise CorpusError("an empty label", "a label, or alternatives A|B")
    special += BAR
    pieces = split_unescaped(field, BAR)
    if "" in pieces:
        return (unescape(field, special),)
    texts, numbers = split_numbers(pieces, field)
    candidates = tuple(_plain(text, special) for text in texts)
    if len(set(candidates)) != len(candidates):
        raise CorpusError(f"a repeated alternative in {field!r}", "each alternative once")
    return Soft(candidates, numbers) if numbers else candidates


def split_numbers(pieces: list[str], field: str) -> tuple[list[str], list[float]]:
    """Return candidates without their numbers, and the numbers, which are none or one for each."""
    matches = [
        match
        for piece in pieces
        if (match := _NUMBER.search(piece)) and match.start() and not is_escaped(piece, match.start())
    ]
    if not matches:
        return pieces, []
    if len(matches) < len(pieces):
        raise CorpusError(f"a number for some candidates only in {field!r}", "a number for each: A:0.7|B:0.3")
    return [match.string[: match.start()] for match in matches], [float(match[1]) for match in matches]


def interned(candidates: tuple[str, ...]) -> tuple[str, ...]:
    """Return the same candidates, each text in memory once."""
    texts = map(intern, candidates)
    return Soft(texts, candidates.numbers) if isinstance(candidates, Soft) else tuple(texts)


def _plain(text: str, special: str) -> str:
    """Resolve escapes; a colon is escaped only where a number would stand."""
    match = _NUMBER.search(text) if COLON in text else None
    if match and is_escaped(text, match.start()):
        return unescape(text[: match.start() - 1], special) + match.group()
    return unescape(text, special)


def format_number(number: float) -> str:
    """Format a number as it stands after a candidate: with a point, and no more digits than it needs."""
    text = f"{number:.12g}"
    return text if "." in text else text.replace("e", ".0e") if "e" in text else f"{text}.0"


def number_like(label: str) -> tuple[str, str]:
    """Split off the end of a label that looks like a number (`:0.5`); "" if there is none."""
    match = _NUMBER.search(label) if COLON in label else None
    return (label[: match.start()], match.group()) if match and match.start() else (label, "")


def _escaped(label: str, special: str) -> str:
    plain, number = number_like(label)
    return f"{escape(plain, special)}\\{number}" if number else escape(label, special)


@lru_cache(_KEPT)
def format_candidates(candidates: tuple[str, ...], special: str = "") -> str:
    """Return the field that `parse_candidates` reads as these candidates."""
    if "" in candidates:
        raise CorpusError("an empty label", "labels of at least one character")
    if isinstance(candidates, Soft):
        pairs = (
            (_escaped(candidate, special + BAR), format_number(number)) for candidate, number in candidates.numbered()
        )
        return BAR.join(f"{candidate}{COLON}{number}" for candidate, number in pairs)
    first = candidates[0]
    if len(candidates) == 1 and "\\" not in first and "" in first.split(BAR):
        return escape(first, special) if special else first
    return BAR.join(_escaped(candidate, special + BAR) for candidate in candidates)
