"""The methods that are compared, by the names that they have in the tables."""

from __future__ import annotations

from dataclasses import dataclass

WAYS_BACK = tuple(round(0.1 * step, 1) for step in range(11))
"""The values of lambda (Figure 9)."""
ROUNDS = 4
"""How often both corpora are transformed (Figures 7 and 11)."""
_WAY_BACK = 0.3  # where no lambda is looked for
TREE_WAYS_BACK = (0.0, 0.3, 0.6, 1.0)
TREE_ROUNDS = 2
"""The same of trees (Figures 8, 10 and 12), whose trainings take longer."""
TARGET_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Of the target's training data (Figure 13)."""


@dataclass(frozen=True)
class Method:
    """A way to a model of the target guideline.

    Attributes:
        name: in the tables.
        kind: what is done with the source corpus: `baseline` (nothing), `source` (it alone is trained on), `merging`,
            `guided` (Model 1), `transformed`, or `best` (transformed as is best on dev: Model 3). In `relabelled` text
            heads have the probabilities that the transfer model gives them. A `conversion` is a transfer model, given
            gold annotation of the source guideline, `parallel` one that gold annotation of both guidelines has taught.
            `decoding` trains nothing, and measures the time of all others.
        round: how often the corpora are transformed.
        way_back: lambda of predict-self re-estimation; `None` is the one that is best on dev after one transformation.
        filter: instead, sentences that do not lead back are dropped.
    """

    name: str
    kind: str
    round: int = 1
    way_back: float | None = 0.0
    filter: bool = False


def way_back(share: float) -> Method:
    """One transformation, with predict-self re-estimation."""
    return Method(f"lambda {share:g}", "transformed", way_back=share) if share else MODEL_2


def in_rounds(number: int, re_estimation: bool) -> Method:
    """So many transformations, without predict-self or with its best lambda."""
    name = f"{number} round{'s' if number > 1 else ''}{', re-estimation' if re_estimation else ''}"
    return Method(name, "transformed", number, None if re_estimation else 0.0)


BASELINE = Method("baseline", "baseline")
SOURCE = Method("source model", "source")
MERGING = Method("merging", "merging")
MODEL_1 = Method("Model 1", "guided")
MODEL_2 = Method("Model 2", "transformed")
MODEL_3 = Method("Model 3", "best")
FILTERED = Method("filtering", "transformed", filter=True)
ONE_ROUND = Method("Model 3, 1 round", "transformed", way_back=_WAY_BACK)
PROBABILITIES = (
    Method("Model 2, probabilities", "relabelled"),
    Method("two rounds, probabilities", "relabelled", 2),
)
"""What `tagweave train --method transform` does with trees, with `--rounds 1` and by default."""
DEFAULT = PROBABILITIES[1]
CONVERSIONS = (
    Method("conversion, 1 round", "conversion"),
    Method("conversion, 2 rounds", "conversion", 2),
    Method("conversion, taught by gold", "parallel"),
)
CONVERSION = CONVERSIONS[1]
DECODING = Method("decoding", "decoding")
TIMED = (BASELINE, MERGING, MODEL_1, MODEL_2, MODEL_3)
