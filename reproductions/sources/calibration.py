"""How far probabilities of labels are to be believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BINS = 10


def calibration_error(probabilities: NDArray[np.floating], gold: NDArray[np.integer]) -> float:
    """The expected calibration error of the best label, in percent (Guo et al. 2017).

    Args:
        probabilities: [N, Y].
        gold: int[N].
    """
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == gold
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    error = 0.0
    for number in range(BINS):
        own = bins == number
        if own.any():
            error += float(own.mean()) * abs(float(confidence[own].mean()) - float(right[own].mean()))
    return 100 * error
