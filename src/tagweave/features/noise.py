"""Uncertain annotation: an excluded label keeps 1 - confidence of its potential."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence


def token_noise(sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """float64[N]: 1 - confidence of every token, 0 for sentences without confidences; empty if no sentence has any."""
    if not any(sentence.confidence for sentence in sentences):
        return np.zeros(0)
    confidences = (sentence.confidence or (1.0,) * len(sentence) for sentence in sentences)
    return 1 - np.fromiter(chain.from_iterable(confidences), np.float64)
