"""What a position of a layer allows: one label, several, several with numbers, or anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tagweave.display.markup import Html, element
from tagweave.display.numbers import LEAST, share

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Candidates

_SHOWN = 3  # candidates
_HINT = 60  # candidates in the text that appears under the mouse


def numbered(candidates: tuple[str, ...]) -> list[tuple[str, float | None]]:
    """The candidates with their numbers, if they have any, the largest first."""
    pairs = getattr(candidates, "numbered", None)  # of `corpus.soft.Soft`, a room above this one
    if pairs is None:
        return [(each, None) for each in candidates]
    return sorted(pairs(), key=lambda pair: -pair[1])


def probable(candidates: Candidates) -> Candidates:
    """The candidates without those whose number is written as 0; the only one that is left needs no number."""
    pairs = [pair for pair in numbered(candidates or ()) if pair[1] is None or pair[1] >= LEAST]
    if not candidates or not pairs or len(pairs) == len(candidates):
        return candidates
    names, numbers = zip(*pairs, strict=True)
    return names if len(names) == 1 else type(candidates)(names, numbers)  # type: ignore[call-arg]


def with_number(name: str, number: float | None) -> str:
    """A candidate and its number."""
    return name if number is None else f"{name} {share(number)}"


def evidence(candidates: Candidates) -> Html:
    """A position in one line; what does not fit appears under the mouse."""
    if candidates is None:
        return element("span", "?", class_="unknown", title="unknown: any label")
    pairs = numbered(probable(candidates) or ())
    if len(pairs) == 1 and pairs[0][1] is None:
        return element("span", pairs[0][0])
    several = [with_number(*pair) for pair in pairs]
    shown = several if len(several) <= _SHOWN + 1 else [*several[:_SHOWN], f"+{len(several) - _SHOWN}"]
    return element("span", " | ".join(shown), class_="several", title=hint(several))


def hint(lines: Iterable[str]) -> str:
    """Candidates as the text that appears under the mouse."""
    several = list(lines)
    return "\n".join(several if len(several) <= _HINT else [*several[:_HINT], f"and {len(several) - _HINT} more"])
