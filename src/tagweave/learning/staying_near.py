"""Training that goes on from weights of earlier text, and stays near them: what it keeps of before, and its learner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.learning.trainer import TrainerAround, TrainerState

Floats = NDArray[Any]

RATE = 0.3
_EPOCHS = 3
_SQUARE = 0.1  # of the gradient of a weight at an occurrence of its feature in earlier text, about
"""Chosen on development data: of CoNLL-2003 in two halves, in which other types are marked, F of the old and the new
types with squares of 0.1 and 0.3 was 89.3 and 89.4, 83.1 and 82.0; on every tenth sentence of texts that came in ten
parts, with 0.03, 0.3, 1 and 3 80.7, 82.4, 82.7 and 82.2 (Spanish entities, without merging). UAS of parsers, in ten
parts of 500 English sentences, with 0, 0.1, 0.3 and 1 84.6, 85.0, 85.2 and 85.0 (85.5 with all at once)."""


_MERGED = 0.5
"""Chosen on every tenth sentence of texts that came in ten parts. Spanish entities (CoNLL-2002): F with 0, 0.5 and 0.9
was 82.6, 83.2 and 82.0 (85.0 with all at once); English tags (EWT): with 0.5 and 0.9 95.0 and 94.6 (95.7). UAS of a
Chinese parser, of ten parts of 300 sentences, with 0 and 0.5: 79.6 and 80.0 (79.9)."""


@dataclass(frozen=True)
class Before:
    """What training keeps of the weights that it goes on from, in the layout of the new weights.

    Attributes:
        weights: [size], those of before; 0 where there were none.
        occurrences: [size], how often the feature of each weight occurred in earlier text.
        share: [size], of the earlier weight in the mean of both.
    """

    weights: Floats = field(repr=False)
    occurrences: Floats = field(repr=False)
    share: Floats = field(repr=False)

    @classmethod
    def of(cls, weights: Floats, occurrences: Floats, ratio: Floats, has_new_labels: bool) -> Before:
        """Return it for features that occurred n times before, and m times in new text, with the ratio n / (n + m).

        The share is half of that (Fisher merging, Matena and Raffel 2022). It is 0 if there are new labels, for which
        weights of the others have to make room.
        """
        share = ratio * (0 if has_new_labels else _MERGED)
        dtype = weights.dtype
        return cls(weights[: len(share)].copy(), occurrences.astype(dtype), share.astype(dtype))

    def merged(self, weights: Floats) -> Floats:
        """Return the mean of new weights and those of before; a network stays as it is."""
        merged = np.array(weights)
        merged[: len(self.share)] += self.share * (self.weights - merged[: len(self.share)])
        return merged


@dataclass(frozen=True)
class StayingNear(TrainerAround):
    """A learner whose sums of squared gradients begin with those of earlier text.

    AdaGrad divides a step of weight i by the root of s_i, the sum of its squared gradients. If s_i begins with what
    n_i earlier occurrences of its feature added, about 0.1 n_i, weights that much text depends on hardly move. That is
    the proximal term sum_i sqrt(s_i) (w_i - w'_i)^2 (Duchi et al. 2011, 1.1) around the weights w' of before. Learners
    without such sums only begin with the weights.

    Attributes:
        occurrences: [size], n_i.
    """

    occurrences: Floats = field(repr=False)

    @property
    def epochs(self) -> int:
        return _EPOCHS

    def iterations(self, objective: Any, with_dev: bool) -> int:
        """Return how many iterations there are at most; development data select the best of them."""
        return _EPOCHS

    def start(self, objective: Any, weights: Floats) -> TrainerState:
        """Return the state of the learner, with larger sums."""
        state = super().start(objective, weights)
        if "squares" in state.arrays:
            state.arrays["squares"] += np.asarray(_SQUARE * self.occurrences, objective.dtype)
        return state
