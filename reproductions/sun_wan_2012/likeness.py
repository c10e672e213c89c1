"""Which sentences of a relabelled source corpus are like the target's.

`alike`: by their text. A bigram model of the target's characters finds them likely in comparison with one of the
source's own (Moore and Lewis 2010, Intelligent selection of language model training data). `likely`: by their labels.
The tagger of the target finds the new words and tags likely, given the text. Both are logarithms for one character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import log

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.task import Task

RANDOM = "random"
"""Any sentences, drawn by the seed."""
ALIKE, LIKELY = "alike", "likely"
LIKENESS = (ALIKE, LIKELY)
_PRIOR = 10.0
"""How many characters after each the frequencies of single ones count for."""


@dataclass(frozen=True)
class Bigrams:
    """A model of text: counts of characters, of pairs, and of all."""

    ones: Counter[str]
    pairs: Counter[tuple[str, str]]
    total: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> Bigrams:
        """That of sentences; before and after each there is a line break."""
        lines = [f"\n{text}\n" for text in texts]
        ones = Counter(chain.from_iterable(lines))
        return cls(ones, Counter(chain.from_iterable(map(pairwise, lines))), ones.total())

    def log_probability(self, text: str) -> float:
        """Of a sentence, for one character."""
        pairs = list(pairwise(f"\n{text}\n"))
        return sum(log(self._share(first, second)) for first, second in pairs) / len(pairs)

    def _share(self, first: str, second: str) -> float:
        alone = (self.ones[second] + 1) / (self.total + len(self.ones) + 1)
        return (self.pairs[first, second] + _PRIOR * alone) / (self.ones[first] + _PRIOR)


def text_likeness(corpus: Corpus, target: Corpus) -> list[float]:
    """How much likelier each sentence is in the text of the target than in that of the corpus."""
    texts, wanted = (["".join(sentence.forms) for sentence in each] for each in (corpus, target))
    own, other = Bigrams.of(texts), Bigrams.of(wanted)
    return [other.log_probability(text) - own.log_probability(text) for text in texts]


def label_likeness(corpus: Corpus, tagger: ChainModel, task: Task, threads: int = 1) -> list[float]:
    """How likely a tagger of characters finds the words and tags of each sentence."""
    coded = task.prepare(corpus).sentences
    found = ChainPredictor(tagger, threads).log_probabilities(coded, corpus.guideline)
    return [each / max(1, len(sentence)) for each, sentence in zip(found, coded, strict=True)]


def most(corpus: Corpus, scores: Sequence[float], share: float) -> Corpus:
    """The share of the sentences with the highest scores, in their order."""
    order = np.argsort(-np.asarray(scores), kind="stable")[: round(share * len(corpus))]
    return corpus.with_sentences(corpus[at] for at in sorted(order.tolist()))
