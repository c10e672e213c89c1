"""The share of tokens inside spans that a model is to expect, to learn from annotation of spans alone.

See `tagweave.models.label_share` for the penalty, which is that of Effland and Collins (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.features.evidence import OUTSIDE
from tagweave.models.label_share import LabelShare


@dataclass(frozen=True)
class EntityRatio:
    """The share and how strictly a model keeps to it.

    Attributes:
        target: the share of tokens that are inside spans, 0..1.
        margin: how far the expected share may be from it at no cost.
        weight: of the penalty for each token.
    """

    target: float
    margin: float = 0.02
    weight: float = 1.0

    def penalty(self, names: Sequence[str]) -> LabelShare:
        """The penalty on labels of these names."""
        inside = np.array([name != OUTSIDE for name in names])
        return LabelShare(inside, self.target, self.margin, self.weight)


def ratio_of(corpus: Corpus) -> float:
    """The share of tokens inside spans in a completely annotated corpus.

    Raises:
        CorpusError: a token without one label, or no token.
    """
    inside = total = 0
    for sentence in corpus.sentences:
        for candidates in sentence.layers.get(corpus.guideline, (None,) * len(sentence)):
            if candidates is None or len(candidates) > 1:
                found = "a token without one label"
                raise CorpusError(found, "complete annotation, to count the share of spans", *sentence.location)
            inside, total = inside + (candidates[0] != OUTSIDE), total + 1
    if not total:
        raise CorpusError("no token", "sentences, to count the share of spans", corpus.path)
    return inside / total
