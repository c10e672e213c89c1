"""The methods that are compared, by the names that they have in the tables."""

from __future__ import annotations

from dataclasses import dataclass

WAYS_BACK = tuple(round(0.1 * step, 1) for step in range(11))
"""The values of lambda."""
ROUNDS = 4
"""How often both corpora are transformed."""
TREE_WAYS_BACK = (0.0, 0.3, 0.6, 1.0)
TREE_ROUNDS = 2
"""The same of trees, whose trainings take longer."""


@dataclass(frozen=True)
class Method:
    """A way to a model of the target guideline.

    Attributes:
        name: in the tables.
        kind: what is done with the source corpus: `baseline` (nothing), `source` (it alone is trained on), `merging`,
            `guided` (Model 1), `transformed`, or `best` (transformed as is best on dev: Model 3). In `relabelled` text
            heads have the probabilities that the transfer model gives them. `decoding` trains nothing, and measures the
            time of all others.
        round: how often the corpora are transformed.
    """

    name: str
    kind: str
    round: int = 1


BASELINE = Method("baseline", "baseline")
SOURCE = Method("source model", "source")
MERGING = Method("merging", "merging")
MODEL_1 = Method("Model 1", "guided")
MODEL_2 = Method("Model 2", "transformed")
MODEL_3 = Method("Model 3", "best")
PROBABILITIES = (
    Method("Model 2, probabilities", "relabelled"),
    Method("two rounds, probabilities", "relabelled", 2),
)
"""What `tagweave train --method transform` does with trees, with `--set rounds=1` and by default."""
DEFAULT = PROBABILITIES[1]
DECODING = Method("decoding", "decoding")
TIMED = (BASELINE, MERGING, MODEL_1, MODEL_2, MODEL_3)
