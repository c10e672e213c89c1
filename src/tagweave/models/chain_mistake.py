"""The mistake of a sentence: what its best label sequence has, and the best one that the evidence allows has not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import decode
from tagweave.models.chain_scorer import ChainScorer
from tagweave.structures.chain import Chain, ChainGradient
from tagweave.structures.lockstep import Batch
from tagweave.structures.loss import ContradictionError

Floats = NDArray[Any]
Labels = NDArray[np.int32]


def add_mistake(scorer: ChainScorer, encoded: Encoded, masks: Floats, sentence: int, gradient: Floats) -> int:
    """Add features(best) - features(best allowed) of a sentence to the gradient, to which the scorer adds.

    Returns:
        At how many positions the evidence excludes the best label; 0: nothing was added.

    Raises:
        ContradictionError: no label sequence agrees with the evidence, and the sentence is mistaken.
    """
    batch = Batch.of(encoded, sentence, sentence + 1)
    allow = encoded.allow[batch.tokens]
    best = Chain.best(scorer.scores(batch), batch)
    errors = int(((best < 0) | (masks[allow, best] == 0)).sum())
    if not errors:
        return 0
    scores = scorer.scores(batch)  # again: decoding has overwritten them
    decode.exclude(scores.emission, allow, masks)
    target = Chain.best(scores, batch)
    if min(best.min(), target.min()) < 0:
        raise ContradictionError(f"training sentence {sentence + 1}: {Chain.contradiction}")
    difference = scorer.gradient(batch)
    _add_path(difference, best, 1)
    _add_path(difference, target, -1)
    scorer.add_gradient(batch, difference)
    scorer.finish(gradient)
    return errors


def _add_path(gradient: ChainGradient, labels: Labels, times: int) -> None:
    """Count the labels and transitions of a sequence."""
    gradient.emission[np.arange(len(labels)), labels] += times
    np.subtract.at(gradient.paths, (labels[:-1], labels[1:]), times)
