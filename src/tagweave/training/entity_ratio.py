"""The share of tokens inside spans that a model is to expect, to learn from annotation of spans alone.

`tagweave.structures.terms` has the penalty, by Effland and Collins (2021).

How far the labels of spans in training data are believed, and `O` where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import digest
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.evidence.layers import OUTSIDE
from tagweave.exchange.load import load
from tagweave.structures.terms import LabelShare
from tagweave.training.plan import FileReference


def believed(corpora: Sequence[Corpus], spans: float, outside: float) -> Sequence[Corpus]:
    """Return the corpora with a confidence in labels of spans, and one in `O`, each times that of the sentence."""
    if spans == outside == 1:
        return corpora

    def step(guideline: str, sentence: Sentence) -> Sentence:
        own = sentence.confidence or (1.0,) * len(sentence)
        labels = sentence.layers.get(guideline, (None,) * len(sentence))
        trust = (1.0 if each is None else outside if each == (OUTSIDE,) else spans for each in labels)
        return replace(sentence, confidence=tuple(given * part for given, part in zip(own, trust, strict=True)))

    return [corpus.map(partial(step, corpus.guideline)) for corpus in corpora]


def outside_elsewhere(corpus: Corpus, confidence: float = 1.0) -> Corpus:
    """Return the corpus with `O` at unknown positions, believed with a confidence."""

    def step(sentence: Sentence) -> Sentence:
        layer = sentence.layers.get(corpus.guideline, (None,) * len(sentence))
        filled = sentence.with_layer(corpus.guideline, [(OUTSIDE,) if each is None else each for each in layer])
        if confidence == 1:
            return filled
        own = sentence.confidence or (1.0,) * len(sentence)
        known = zip(own, layer, strict=True)
        return replace(filled, confidence=tuple(confidence if each is None else given for given, each in known))

    return corpus.map(step)


@dataclass(frozen=True)
class EntityRatio:
    """The share and how strictly a model keeps to it."""

    target: float  # the share of tokens that are inside spans, 0..1
    margin: float = 0.02  # how far the expected share may be from it at no cost
    weight: float = 0.1

    def penalty(self, names: Sequence[str]) -> LabelShare:
        """Return the penalty on labels of these names."""
        inside = np.array([name != OUTSIDE for name in names])
        return LabelShare(inside, self.target, self.margin, self.weight)


def ratio_from(
    value: float | str | None, margin: float, weight: float, tell: Callable[[str], None] = lambda line: None
) -> EntityRatio | None:
    """Return the ratio that an option gives: a number, or a corpus to count it in; `None` without the option."""
    if value is None:
        return None
    target = _number(value)
    if target is None:
        target = ratio_of(load(str(value)))
        tell(f"{value}: {100 * target:.1f} % of the tokens are inside spans: the share that the model is to expect")
    return EntityRatio(target, margin, weight)


def corpus_of(value: float | str | None) -> FileReference | None:
    """Return the corpus that an option names, with its digest; `None` for a number."""
    if value is None or _number(value) is not None:
        return None
    corpus = load(str(value))
    return FileReference(corpus.path, digest(corpus.path), len(corpus))


def _number(value: float | str) -> float | None:
    """Return the share that an option gives; `None` for a corpus."""
    wrong = PlanError(f"found `entity_ratio={value}`, expected a share from 0 to 1, or a corpus")
    try:
        share = float(value)
    except ValueError:
        if str(value).endswith("%"):
            raise wrong from None
        return None
    if not 0 <= share <= 1:
        raise wrong
    return share


def nothing_outside(corpora: Iterable[tuple[Iterable[Sentence], str]]) -> str:
    """Return a note if no token of sentences is known to be outside spans, in their layer; or "".

    Nothing keeps a model of such sentences from finding spans everywhere.
    """
    sentence = None
    for sentences, layer in corpora:
        for sentence in sentences:
            for each in sentence.layers.get(layer, ()):
                if each == (OUTSIDE,) or (isinstance(each, Soft) and OUTSIDE in each):
                    return ""
    found = "no token of the training corpora is known to be outside spans, so the model will find spans everywhere"
    return f"{found}: give `entity_ratio`, or some completely annotated sentences" if sentence else ""


def ratio_of(corpus: Corpus) -> float:
    """Return the share of tokens inside spans in a completely annotated corpus."""
    inside = total = 0
    for sentence in corpus.sentences:
        for candidates in sentence.layers.get(corpus.guideline, (None,) * len(sentence)):
            is_open = candidates == (OUTSIDE,) and corpus.covered_in(sentence) is not None
            if candidates is None or len(candidates) > 1 or is_open:
                found = "a token without one label"
                raise CorpusError(found, "complete annotation, to count the share of spans", *sentence.location)
            inside, total = inside + (candidates[0] != OUTSIDE), total + 1
    if not total:
        raise CorpusError("no token", "sentences, to count the share of spans", corpus.path)
    return inside / total
