"""A model that learned from sources, held against the plain one of TRAIN alone: nobody gets a worse one unaware."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tagweave.cli.guidelines import TrainingData
    from tagweave.learning.loop import Schedule

PLAIN = "plain"
"""The part of a schedule that trains the plain model."""


class Work(Protocol):
    """A training run from loaded corpora to a model: `methods.Work`, or that of parsers."""

    @property
    def data(self) -> TrainingData:
        """The training corpora, and the method."""
        ...

    @property
    def schedule(self) -> Schedule:
        """When training stops, and checkpoints."""
        ...

    def identity(self) -> tuple[Any, ...]:
        """What, beside the corpora, decides which weights an iteration reaches."""
        ...

    def check(self) -> None:
        """Refuse corpora from which some step of the training could not learn, before the first one begins."""
        ...

    def fitted(self) -> Any:
        """The model, with its `outcome`."""
        ...

    def about(self, fitted: Any) -> dict[str, Any]:
        """What the model keeps of the way in which it was trained."""
        ...

    def save(self, fitted: Any, about: dict[str, Any], path: Path) -> None:
        """Write the model, with what it tells of itself, and say what it came to."""
        ...

    @property
    def incomparable(self) -> str:
        """Why the model is not held against the plain one; "" where it is."""
        ...

    def alone(self) -> Work:
        """The run that makes the plain model."""
        ...

    def beside(self, plain: Any) -> Work:
        """The same run, after that of the plain model."""
        ...


class Kept(NamedTuple):
    """The model that is handed over, the run that made it, and the development scores of all that might have been."""

    work: Work
    fitted: Any
    scores: dict[str, float]


def better(work: Work, say: Callable[[str], None]) -> Kept:
    """The model of a run or, where that does better on the development data, the one of TRAIN alone.

    A method that was asked for by name is not overruled, but it is said that it did worse. The plain model comes first
    and has a checkpoint of its own.

    Raises:
        KeyboardInterrupt: the user stopped it before the model itself was begun.
    """
    work.check()
    if why := work.incomparable:
        fitted = work.fitted()
        if work.data.has_sources:
            say(f"{why}: nothing tells whether the sources made the model better or worse than one of TRAIN alone")
        return Kept(work, fitted, {})
    alone = work.alone()
    say(f"first a plain model of {work.data.target}, of TRAIN alone, to compare with")
    plain = alone.fitted()
    if plain.outcome.interrupted:
        raise KeyboardInterrupt
    fitted = work.beside(plain).fitted()
    if fitted.outcome.score is None:  # interrupted in the first iteration
        return Kept(work, fitted, {})
    method = "with the sources" if work.data.method == alone.data.method else work.data.method
    scores = {PLAIN: plain.outcome.score, method: fitted.outcome.score}
    say(f"on the development data: {', '.join(f'{name} {score:.4f}' for name, score in scores.items())}")
    if fitted.outcome.score >= plain.outcome.score:
        return Kept(work, fitted, scores)
    if work.data.is_asked_for:
        say(f"warning: the sources made the model worse; it is kept because of --method {work.data.method}")
        return Kept(work, fitted, scores)
    say(f"the plain model is kept: the sources made it worse (--method {work.data.method} would keep the other)")
    outcome = replace(plain.outcome, interrupted=fitted.outcome.interrupted)
    return Kept(alone, replace(plain, outcome=outcome), scores)
