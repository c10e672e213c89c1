"""The methods `transform` and `iterate` of `tagweave train`: their options, and what is told of their steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tagweave.adapt.fit import Fitted
from tagweave.adapt.parsing import FittedParser
from tagweave.adapt.predict_self import SHARES, PredictSelf
from tagweave.adapt.system import Annotation, Announce, Step, System
from tagweave.adapt.transform import ROUNDS, Iterated, fit_iterated, fit_transformed
from tagweave.cli.errors import OptionError, as_option_error
from tagweave.corpus.corpus import Corpus

Trained = TypeVar("Trained", Fitted, FittedParser)


@dataclass(frozen=True)
class Transformation:
    """How sources are transformed in rounds.

    Attributes:
        rounds: how many at most.
        predict_self: how the way back chooses.
    """

    rounds: int = ROUNDS
    predict_self: PredictSelf = field(default_factory=PredictSelf)

    def to_json(self) -> dict[str, Any]:
        """What decides on the weights that a step comes to: more rounds do not."""
        return {"predict_self": list(self.predict_self.choices), "filter": self.predict_self.filter}

    def iterated(
        self,
        system: System[Trained, Annotation],
        targets: Sequence[Corpus],
        sources: Sequence[Corpus],
        dev: Corpus | None,
        say: Say,
    ) -> Trained:
        """The best model of all rounds, which tells of them.

        Raises:
            OptionError: no development data, by which a round is judged.
        """
        if dev is None:
            raise OptionError("found no --dev with the method iterate, expected one: it tells which round is best")
        found = fit_iterated(system, targets, sources, dev, self.predict_self, self.rounds, announce=told(say))
        say(f"round {found.best.number} is the best")
        outcome = replace(found.model.outcome, interrupted=found.interrupted)
        about = {**found.model.model.about, **self._about(found)}
        return replace(found.model, model=replace(found.model.model, about=about), outcome=outcome)

    def _about(self, found: Iterated[Trained]) -> dict[str, Any]:
        rounds = [{"round": n, "predict_self": share, "dev_score": score} for n, share, score in found.rounds]
        best = {"round": found.best.number, "predict_self": found.best.share, "filter": self.predict_self.filter}
        return {**best, "rounds": rounds}


Say = Callable[[str], None]


def transformed(
    system: System[Trained, Annotation],
    targets: Sequence[Corpus],
    sources: Sequence[Corpus],
    dev: Corpus | None,
    say: Say,
) -> Trained:
    """The model of the target corpora and the transformed source corpora."""
    return fit_transformed(system, targets, sources, dev, announce=told(say))


def transformation(rounds: int | None, shares: str | None, is_filter: bool) -> Transformation:
    """From options of the command line.

    Raises:
        OptionError: shares that are no numbers from 0 to 1, or shares and filtering both.
    """
    if shares and is_filter:
        raise OptionError("found --predict-self and --filter, expected one of them: filtering has no lambda")
    with as_option_error():
        values = tuple(float(part) for part in shares.split(",")) if shares else SHARES
        return Transformation(rounds or ROUNDS, PredictSelf(values, is_filter))


def told(say: Say) -> Announce:
    """Tells of every step, with the time that has passed."""
    begin = time.perf_counter()

    def announce(step: Step) -> None:
        say(f"{step.number}/{step.of} {step.what} (after {time.perf_counter() - begin:.0f} s)")

    return announce
