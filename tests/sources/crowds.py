"""Random answers of sources for tests."""

from __future__ import annotations

import numpy as np

from tagweave.sources.answers import Answers

SPANS = ("B-X", "I-X", "O")


def random_answers(seed: int, labels: tuple[str, ...] = SPANS, sources: int = 3, soft: bool = True) -> Answers:
    """Sentences of 1 to 4 positions, where every source answers two thirds, some of them with shares."""
    random = np.random.default_rng(seed)
    ptr = np.cumsum([0, *random.integers(1, 5, 6)])
    rows = []
    for t in range(ptr[-1]):
        for k in range(sources):
            if random.random() < 0.67:
                several = soft and random.random() < 0.3
                given = random.choice(len(labels), 2 if several else 1, replace=False)
                shares = (0.75, 0.25) if several else (1.0,)
                rows += [(t, k, label, share) for label, share in zip(given, shares, strict=True)]
    position, source, label, share = np.array(rows).T
    names = [f"source{k}" for k in range(sources)]
    whole = (each.astype(np.int32) for each in (position, source, label))
    return Answers.of_rows(labels, names, ptr, *whole, share.astype(np.float32))


def of_sources(answers: Answers, kept: list[int]) -> Answers:
    """The answers of some sources, by number, in this order."""
    number = np.full(len(answers.sources), -1, np.int32)
    number[kept] = np.arange(len(kept))
    own = number[answers.source] >= 0
    rows = answers.position[own], number[answers.source[own]], answers.label[own], answers.shares[own]
    return Answers.of_rows(answers.labels, [answers.sources[k] for k in kept], answers.sentence_ptr, *rows)
