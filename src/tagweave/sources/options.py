"""Options that several aggregation methods share."""

from __future__ import annotations

from dataclasses import dataclass

from tagweave.learning.options import option

SILENCE = "Sources are silent where they find nothing, as labelling functions are: silence is evidence, too."


@dataclass(frozen=True)
class TurnOptions:
    """When to stop taking turns between true labels and the reliability of sources."""

    iterations: int = option(100, "How many turns at most.", "N", 1)
    tolerance: float = option(1e-5, "Stop once a turn gains less than this for each answer, in nats.", "GAIN", 0)


@dataclass(frozen=True)
class ConfusionOptions(TurnOptions):
    """What is estimated of sources."""

    silence: bool = option(False, SILENCE)
