"""The options of the aggregation methods, which help and plans list without loading the methods themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tagweave.options import Validated, option

SILENCE = "Sources are silent where they find nothing, as labelling functions are: silence is evidence, too."


_SMOOTHING = "Pseudo-answers of every source for every pair of a true label and an answer."
_TRANSITIONS = "Pseudo-counts of every transition between true labels."


@dataclass(frozen=True)
class MajorityOptions(Validated):
    """Options of the method `majority`."""

    whole: bool = option(False, "Vote on whole spans: one is taken if more than half of those who answered mark it.")


@dataclass(frozen=True)
class TurnOptions(Validated):
    """When to stop taking turns between true labels and the reliability of sources."""

    iterations: int = option(100, "How many turns at most.", "N", 1)
    tolerance: float = option(1e-5, "Stop once a turn gains less than this for each answer, in nats.", "GAIN", 0)


@dataclass(frozen=True)
class DawidSkeneOptions(TurnOptions):
    """Options of the method `dawid-skene`."""

    silence: bool = option(False, SILENCE)
    smoothing: float = option(1.0, _SMOOTHING, "N", 1e-9)


@dataclass(frozen=True)
class MaceOptions(TurnOptions):
    """Options of the method `mace`."""

    iterations: int = option(50, "How many turns at most.", "N", 1)
    restarts: int = option(3, "How many times to start from random values.", "N", 1)
    guessing: float = option(0.5, "Pseudo-answers of every source for guessing, and for not guessing.", "N", 1e-9)
    guesses: float = option(10.0, "Pseudo-guesses of every label.", "N", 1e-9)


@dataclass(frozen=True)
class HiddenMarkovOptions(DawidSkeneOptions):
    """Options of the method `hmm`."""

    transitions: float = option(1.0, _TRANSITIONS, "N", 1e-9)


@dataclass(frozen=True)
class BayesianSequenceOptions(TurnOptions):
    """Options of the method `bsc`."""

    silence: bool = option(False, SILENCE)
    right: float = option(
        10.0, "Pseudo-answers with the true label, beside `wrong`, for every label and answer before.", "N", 0
    )
    wrong: float = option(1.0, "Pseudo-answers for every pair of a true label and an answer.", "N", 1e-9)
    transitions: float = option(1.0, _TRANSITIONS, "N", 1e-9)


@dataclass(frozen=True)
class BlendOptions(TurnOptions):
    """Options of the method `blend`."""

    iterations: int = option(40, "How many turns of the first model at most.", "N", 1)


@dataclass(frozen=True)
class AggregationRun:
    """The input of every method beside its options."""

    # by name, sources of known reliability: the probability that one of their answers is right
    known: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0  # of everything random
    tell: Callable[[str], None] = lambda _: None  # receives a line of text after every iteration


class Aggregation(NamedTuple):
    """What is known of a method before it runs: its assumption in a few words, and the frozen class of its options."""

    summary: str
    options: type


_CONFUSION = "a confusion matrix for every source"
_BEFORE = "a confusion matrix that depends on the answer before, and transitions of true labels"

AGGREGATIONS = {
    "majority": Aggregation("every source counts the same", MajorityOptions),
    "dawid-skene": Aggregation(_CONFUSION, DawidSkeneOptions),
    "mace": Aggregation("every source either knows the label or guesses", MaceOptions),
    "hmm": Aggregation(f"{_CONFUSION}, and transitions of true labels", HiddenMarkovOptions),
    "bsc": Aggregation(_BEFORE, BayesianSequenceOptions),
    "blend": Aggregation("sources know or guess; then as bsc, and the mean of both", BlendOptions),
}
"""Methods by name, from the weakest assumptions to the strongest, and the blend of two."""

DEFAULT = "blend"
