"""Tasks that ask for the spans of whole sentences: which sentences, and the spans that are proposed in them.

A model proposes every span that it finds probable. Sentences are drawn in proportion to the mean uncertainty of their
tokens (`selection.priorities`), among all sentences: on CoNLL-2003, beside 200 sentences, 3,000 tokens so drawn brought
F on dev to 70.5, as many at random to 68.2, and as many of the most uncertain fifth to 68.0 (mean of three seeds).

A corpus proposes what it tells: a span that it is sure of, and the alternatives of one that it is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.questions import Asked, Ranking
from tagweave.annotate.selection import priorities, uncertainties
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, marked
from tagweave.corpus.chunk_schemes import convert
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence, narrow
from tagweave.corpus.spans import ANY, OUTSIDE, spans_of
from tagweave.labels.space import is_wildcard
from tagweave.labels.transition_scheme import split_label
from tagweave.models.chain_predictor import ChainPredictor

_LEAST = 0.05  # a span is proposed if it is at least this probable
_MOST = 20  # spans proposed in a sentence


def types_of(labels: Iterable[str]) -> list[str]:
    """Return the types of spans that labels code, sorted."""
    return sorted({split_label(name)[1] for name in labels if name != OUTSIDE} - {""})


def tasks(
    tagger: ChainPredictor,
    sentences: Sequence[Sentence],
    share: float = 0.2,
    model: int | None = None,
    seed: int = 0,
    strategy: str = "marginal",
) -> Iterator[AnnotationTask]:
    """Yield tasks for a share of the sentences, drawn by the uncertainty of a model, with the spans that it proposes.

    Sentences in which every token has one label in the layer of the tagger's guideline are left out. The uncertainty of
    a sentence is the mean over its tokens, by one of `selection.STRATEGIES`. `seed` draws the sentences, which are
    asked in the order in which they are drawn.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"found a share of {share}, expected 0 to 1")
    candidates = [sentence for sentence in sentences if len(sentence) and not _is_known(sentence, tagger.guideline)]
    ranks = priorities(_means(tagger, candidates, strategy), np.random.default_rng(seed))
    order = np.argsort(-ranks, kind="stable")[: round(share * len(ranks))].tolist()
    drawn = [candidates[number] for number in order]
    for number, proposals in zip(order, _model_proposals(tagger, drawn), strict=True):
        yield _task(candidates[number], tagger.guideline, proposals, float(ranks[number]), model)


def rankings(
    tagger: ChainPredictor, asked: Iterable[Asked], seed: int = 0, strategy: str = "marginal"
) -> list[Ranking]:
    """Rerank tasks that ask for spans, and propose those of a newer model; other tasks are left out. As `tasks`."""
    of_spans = [each for each in asked if each.task.asks is Asks.SPANS]
    sentences = [each.task.sentence for each in of_spans]
    random = np.random.default_rng([seed, *(each.id for each in of_spans[:1])])
    ranks = priorities(_means(tagger, sentences, strategy), random).tolist()
    rows = zip(of_spans, ranks, _model_proposals(tagger, sentences), strict=True)
    return [
        Ranking(each.id, rank, tuple(one for one in proposals if each.task.holds(one)))
        for each, rank, proposals in rows
    ]


def tasks_of(corpus: Corpus) -> Iterator[AnnotationTask]:
    """Yield tasks for the sentences of a corpus that are not known entirely, with its own spans as proposals."""
    for sentence in _in_iob2(corpus):
        if not _is_known(sentence, corpus.guideline):
            yield _task(sentence, corpus.guideline, _corpus_proposals(sentence, corpus.guideline))


def gold(corpus: Corpus) -> list[tuple[Sentence, Answer]]:
    """Return the sentences of a corpus that are known entirely, without their layer, and the spans in each."""
    guideline = corpus.guideline
    return [
        (
            replace(sentence, layers={name: each for name, each in sentence.layers.items() if name != guideline}),
            marked(group[0] for group in spans_of(sentence.layers[guideline], sentence.location)),
        )
        for sentence in _in_iob2(corpus)
        if _is_known(sentence, guideline)
    ]


def _in_iob2(corpus: Corpus) -> Iterator[Sentence]:
    """Yield the sentences that have tokens, with the layer of the corpus in IOB2; unknown where they have none.

    If the corpus covers only some types, its `O` says nothing of the others, and is unknown, too.
    """
    name = corpus.guideline
    whole = corpus.map(lambda each: each if name in each.layers else each.with_layer(name, (None,) * len(each)))
    for sentence in convert(whole, "IOB2"):
        if len(sentence) and corpus.covered is None:
            yield sentence
        elif len(sentence):
            layer = narrow(sentence.layers[name], lambda each: None if OUTSIDE in each else each)
            yield sentence.with_layer(name, layer)


def _task(
    sentence: Sentence,
    guideline: str,
    proposed: tuple[Candidate, ...],
    priority: float = 0.0,
    model: int | None = None,
) -> AnnotationTask:
    return AnnotationTask(sentence, 0, len(sentence), guideline, proposed, priority, model=model, asks=Asks.SPANS)


def _is_known(sentence: Sentence, guideline: str) -> bool:
    layer = sentence.layers.get(guideline, (None,))
    return all(each is not None and len(each) == 1 and not is_wildcard(each[0]) for each in layer)


def _means(tagger: ChainPredictor, sentences: Sequence[Sentence], strategy: str) -> NDArray[np.float64]:
    """Return the mean uncertainty of the tokens of each sentence, float64[S]."""
    of_tokens = uncertainties(tagger, _with_known_types(tagger, sentences), tagger.guideline, strategy)
    begins = np.cumsum([0, *map(len, sentences)])[:-1]
    if not len(begins):
        return np.zeros(0)
    return np.asarray(np.add.reduceat(of_tokens, begins) / [len(each) for each in sentences], np.float64)


def _model_proposals(tagger: ChainPredictor, sentences: Sequence[Sentence]) -> Iterator[tuple[Candidate, ...]]:
    for spans in tagger.spans(_with_known_types(tagger, sentences), _LEAST, tagger.guideline):
        yield tuple(
            Candidate(each.label, round(min(each.probability, 1.0), 4), each.start, each.stop) for each in spans[:_MOST]
        )


def _with_known_types(tagger: ChainPredictor, sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return the sentences without layers with types that the model does not know, as a gazetteer may have."""
    found = []
    for sentence in sentences:
        layer = sentence.layers.get(tagger.guideline, ())
        knows = all(tagger.knows(name) for candidates in layer for name in candidates or ())
        found.append(sentence if knows else replace(sentence, layers={}))
    return found


def _corpus_proposals(sentence: Sentence, guideline: str) -> tuple[Candidate, ...]:
    """Return the spans of a layer, the more certain first; each of n alternatives has the probability 1 / n."""
    layer = sentence.layers.get(guideline, (None,) * len(sentence))
    candidates = [
        Candidate(span.label or ANY, round(1 / len(group), 4), span.start, span.stop)
        for group in spans_of(layer, sentence.location)
        for span in group
        if span.label != OUTSIDE and span.stop is not None
    ]
    return tuple(sorted(candidates, key=lambda each: (-each.probability, each.start, each.stop))[:_MOST])
