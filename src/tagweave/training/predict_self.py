"""Predict-self: the better transformation is the one that leads back to where it came from (jiang-2015, 4.4).

Of the k best transformations y of a sentence x with the annotation s, re-estimation takes the one of the greatest

    (1 - lambda) score(y | x, s) + lambda score(s | x, y)

by the transfer models of both directions. Filtering is the alternative: a sentence is dropped if its best y is not
transformed back to s; the paper finds that it costs difficult sentences, from which most could be learned (5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.training.system import Annotation, Floats, KBest, Model, Parallel, System

SHARES = (0.0, 0.3)
"""The values of lambda that are tried in every round."""
BEST = 5
"""How many candidates a sentence has."""
_BLOCK = 1000  # sentences whose candidates are held at a time


@dataclass(frozen=True)
class PredictSelf:
    """How the way back chooses among candidates y of a sentence x with the annotation s (section 4.4).

    Attributes:
        shares: values of lambda; the y of the greatest (1 - lambda) score(y | x, s) + lambda score(s | x, y) is taken,
            and of several lambdas that which is best on the development data of each round. 0 is no way back.
        filter: instead, drop the sentences whose best y is not transformed back to s.
        k: how many candidates.

    Raises:
        ValueError: no share, or one outside 0 to 1.
    """

    shares: tuple[float, ...] = SHARES
    filter: bool = False
    k: int = BEST

    def __post_init__(self) -> None:
        if not self.shares or not all(0 <= share <= 1 for share in self.shares):
            raise ValueError(f"found shares of the way back {self.shares}, expected numbers from 0 to 1")

    @property
    def choices(self) -> tuple[float, ...]:
        """What is tried in every round."""
        return (0.0,) if self.filter else self.shares


class Ranking(NamedTuple, Generic[Annotation]):
    """Candidates y of a sentence with the annotation s: score(y | x, s) falls, and score(s | x, y) rises.

    Others cannot be the best for any share: one of these is better both ways.
    """

    annotations: Sequence[Annotation]
    there: Floats
    back: Floats

    @classmethod
    def of(cls, candidates: KBest[Annotation], back: Floats) -> Ranking[Annotation]:
        """From candidates, the best first, and the scores of the way back."""
        before = np.concatenate([[-np.inf], np.maximum.accumulate(back)[:-1]])
        kept = np.flatnonzero((back > before) | (np.arange(len(back)) == 0))
        return cls([candidates.annotations[i] for i in kept.tolist()], candidates.scores[kept], back[kept])

    def best(self, share: float) -> Annotation:
        """The candidate of the greatest (1 - share) there + share back; of equal ones the first."""
        if share == 0:
            return self.annotations[0]
        with np.errstate(invalid="ignore"):  # 0 * -inf
            total = np.where(share < 1, (1 - share) * self.there, 0) + share * self.back
        return self.annotations[int(np.argmax(total))]


def rankings(
    system: System[Model, Annotation],
    there: Model,
    back: Model,
    corpus: Corpus,
    given: Sequence[Annotation],
    k: int,
) -> list[Ranking[Annotation]]:
    """Of every sentence the candidates among its k best that predict-self re-estimation may take.

    Args:
        system: the kind of structure.
        there: the transfer model.
        back: the reverse transfer model, to the guideline of the corpus.
        corpus: text with its own annotation.
        given: the same annotation, complete.
        k: how many candidates.
    """
    found: list[Ranking[Annotation]] = []
    for start in range(0, len(corpus), _BLOCK):
        block = corpus.with_sentences(corpus.sentences[start : start + _BLOCK])
        candidates = system.candidates(there, Parallel(block, given[start : start + _BLOCK]), k)
        scores = system.scores(back, block, [each.annotations for each in candidates])
        found += [Ranking.of(each, own) for each, own in zip(candidates, scores, strict=True)]
    return found
