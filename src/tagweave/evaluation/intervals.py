"""Bootstrap intervals of scores: sentences are drawn with replacement, and every sample is scored."""

from __future__ import annotations

import numpy as np

from tagweave.evaluation.score import Measure

SAMPLES = 1000
LEVEL = 0.95
_BLOCK = 4_000_000  # draws (samples x sentences) in memory at a time


def interval(measure: Measure, samples: int = SAMPLES, level: float = LEVEL, seed: int = 0) -> tuple[float, float]:
    """The percentile interval of a score (Efron 1979).

    Args:
        measure: counts of sentences, (S, K), and the metric of their sum.
        samples: how many samples of S sentences are drawn.
        level: the share of samples whose scores lie in the interval, 0..1.
        seed: seed of the draws.

    Returns:
        The ends of the interval; `nan` where the score is undefined in all samples.
    """
    counts = np.asarray(measure.counts, float)
    generator, size = np.random.default_rng(seed), len(counts)
    if not size:
        return np.nan, np.nan
    step = max(1, _BLOCK // size)
    blocks = [min(step, samples - first) for first in range(0, samples, step)]
    scores = [measure.metric(generator.multinomial(size, np.full(size, 1 / size), block) @ counts) for block in blocks]
    found = np.concatenate(scores)
    if np.isnan(found).all():
        return np.nan, np.nan
    low, high = np.nanquantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
