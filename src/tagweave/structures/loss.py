"""The loss, the same for every structure.

    loss  =  sum over sentences of weight * (log Z(all) - log Z(allowed by the evidence))
    d loss / d scores  =  sum over sentences of weight * (E[counts | all] - E[counts | allowed by the evidence])

(tsuboi-2008, equations 3 and 4; li-2015, equations 5 and 6). The regulariser belongs to the trainer.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from tagweave.corpus.errors import InputError
from tagweave.structures.structure import Structure

Scores = TypeVar("Scores")
Batch = TypeVar("Batch")
Sums = TypeVar("Sums")
Gradient = TypeVar("Gradient")


class ContradictionError(InputError):
    """Evidence that excludes every output of the structure."""


def add_loss(
    structure: Structure[Scores, Batch, Sums, Gradient], scores: Scores, batch: Batch, gradient: Gradient
) -> float:
    """The loss of a batch of sentences; puts its gradient with respect to the scores into `gradient`.

    The loss is nan if the weights have grown out of bounds; the trainer reports it.

    Raises:
        ContradictionError: the evidence of a sentence excludes every output.
    """
    free = structure.sums(scores, batch)
    everything = structure.add_expectations(free, scores, batch, +1, gradient)
    restricted = structure.restricted_sums(scores, batch)
    allowed = structure.add_expectations(restricted, scores, batch, -1, gradient)
    if not np.isfinite(everything):
        return float("nan")
    if not np.isfinite(allowed):  # not only -inf: a contradiction of weight 0 gives nan
        raise ContradictionError(structure.contradiction)
    return everything - allowed
