"""How uncertain the annotation of tokens is: what is excluded keeps 1 - confidence of its potential."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence


def token_noise(sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """float64[N]: 1 - confidence of every token, 0 where none is told; empty where no sentence tells any."""
    if not any(sentence.confidence for sentence in sentences):
        return np.zeros(0)
    told = (sentence.confidence or (1.0,) * len(sentence) for sentence in sentences)
    return 1 - np.fromiter(chain.from_iterable(told), np.float64)
