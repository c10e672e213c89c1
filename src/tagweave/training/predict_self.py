"""Predict-self: prefer transformations that lead back to the original annotation (jiang-2015, 4.4).

Of the k best transformations y of a sentence x with the annotation s, re-estimation takes the one with the greatest

    (1 - lambda) score(y | x, s) + lambda score(s | x, y)

under the transfer models of both directions. The alternative, filtering, drops a sentence if its best y is not
transformed back to s; the paper finds that this loses difficult sentences, which could teach the most (5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.training.system import Annotation, Floats, KBest, Model, Parallel, System

SHARES = (0.0, 0.3)
"""The values of lambda to try in every round."""
BEST = 5
"""The number of candidates per sentence."""
_BLOCK = 1000  # sentences whose candidates are in memory at a time


@dataclass(frozen=True)
class PredictSelf:
    """How to choose among candidates y of a sentence x with the annotation s by the way back (section 4.4).

    Attributes:
        shares: values of lambda; the y with the greatest (1 - lambda) score(y | x, s) + lambda score(s | x, y) is
            taken, and of several lambdas the best on the development data of each round. 0 ignores the way back.
        filter: instead, drop the sentences whose best y is not transformed back to s.
        k: the number of candidates.

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
        """The shares to try in every round."""
        return (0.0,) if self.filter else self.shares


class Ranking(NamedTuple, Generic[Annotation]):
    """Candidates y of a sentence with the annotation s, with falling score(y | x, s) and rising score(s | x, y).

    No other candidate can be the best for any share, because one of these is at least as good both ways.
    """

    annotations: Sequence[Annotation]
    there: Floats
    back: Floats

    @classmethod
    def of(cls, candidates: KBest[Annotation], back: Floats) -> Ranking[Annotation]:
        """The ranking of candidates, best first, with the scores of the way back."""
        before = np.concatenate([[-np.inf], np.maximum.accumulate(back)[:-1]])
        kept = np.flatnonzero((back > before) | (np.arange(len(back)) == 0))
        return cls([candidates.annotations[i] for i in kept.tolist()], candidates.scores[kept], back[kept])

    def best(self, share: float) -> Annotation:
        """The candidate with the greatest (1 - share) there + share back; of equal ones the first."""
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
    """For every sentence, the candidates among its k best that predict-self re-estimation may take.

    Args:
        system: the system.
        there: the transfer model.
        back: the reverse transfer model, to the guideline of the corpus.
        corpus: text with its own annotation.
        given: the same annotation, complete.
        k: the number of candidates.
    """
    results: list[Ranking[Annotation]] = []
    for start in range(0, len(corpus), _BLOCK):
        block = corpus.with_sentences(corpus.sentences[start : start + _BLOCK])
        candidates = system.candidates(there, Parallel(block, given[start : start + _BLOCK]), k)
        scores = system.scores(back, block, [each.annotations for each in candidates])
        results += [Ranking.of(each, own) for each, own in zip(candidates, scores, strict=True)]
    return results
