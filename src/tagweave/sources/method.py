"""An aggregation method: its name, its options, and the function that estimates true labels from answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagweave.sources.answers import Answers
    from tagweave.sources.estimate import Estimate


@dataclass(frozen=True)
class Run:
    """What every method is told beside its options.

    Attributes:
        known: by name, sources of known reliability: the probability that one of their answers is right.
        seed: of everything random.
        tell: is given a line of text after every iteration.
    """

    known: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    tell: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class Aggregation:
    """A way to combine answers.

    Attributes:
        name: how the user calls it.
        summary: what it assumes, in a few words.
        options: the frozen class of its options.
        estimate: takes answers, options and a run to an estimate; imports what it needs, so that listing is cheap.
    """

    name: str
    summary: str
    options: type
    estimate: Callable[[Answers, Any, Run], Estimate]
