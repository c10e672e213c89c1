"""What to ask: the tokens that a model is least certain about, and the most uncertain occurrences of listed words.

The uncertainty of a token is 1 minus the probability of its best label, or the entropy of its labels. The most
uncertain fifth is asked for, with the two or three most probable labels as candidates (li-2015, section 4). The
uncertainty of a word of a list is the entropy of the labels of its characters (tsuboi-2008, section 5.1).

Tokens are not asked for in the order of uncertainty, but drawn in proportion to it (`priorities`). The most uncertain
ones alone teach a model nothing about easy tokens: on ZX, beside People's Daily, 4,000 such answers were worth less
than 2,000 at random, and 4,000 drawn in proportion were worth more than 8,000 at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.questions import Asked, Ranking
from tagweave.annotate.task import AnnotationTask, Asks, Candidate, Purpose
from tagweave.annotate.word_occurrences import most_uncertain
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.models.chain_predictor import ChainPredictor

STRATEGIES = ("marginal", "entropy")
"""The uncertainty of a token: 1 minus the probability of its best label, or the entropy of its labels in nats."""

_CANDIDATES, _RARE = 3, 0.01  # the third candidate is shown if it is at least this probable
_BLOCK = 2000  # sentences whose marginals are in memory at a time


class UncertainTokens(NamedTuple):
    """Tokens, the most uncertain first.

    Attributes:
        sentence, position: int64[K], numbers of their sentences, and positions there.
        labels: int32[K, C], the numbers of their most probable labels, the best first.
        probabilities: float32[K, C], the probabilities of these labels.
        uncertainty: float32[K], by one of `STRATEGIES`.
    """

    sentence: NDArray[np.int64]
    position: NDArray[np.int64]
    labels: NDArray[np.int32]
    probabilities: NDArray[np.float32]
    uncertainty: NDArray[np.float32]

    def only(self, chosen: Any) -> UncertainTokens:
        """Some of the tokens, by a slice, a mask or their numbers."""
        return UncertainTokens(*(array[chosen] for array in self))


def least_certain(
    tagger: ChainPredictor,
    sentences: Sequence[Sentence],
    share: float = 0.2,
    layer: str | None = None,
    seed: int = 0,
    strategy: str = "marginal",
) -> UncertainTokens:
    """The tokens whose most probable label has the least marginal probability (li-2015, section 4).

    Args:
        tagger: a tagger of words.
        sentences: sentences of words.
        share: the share of the unknown tokens that is returned.
        layer: tokens that have one label in this layer are known, and are evidence for the others.
        seed: orders equally certain tokens.
        strategy: one of `STRATEGIES`.

    Raises:
        ValueError: a model of characters, a share outside 0..1, or an unknown strategy.
        CorpusError: as `ChainPredictor.probabilities`.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"found a share of {share}, expected 0 to 1")
    tokens = _all_tokens(tagger, sentences, layer, strategy)
    if layer is not None:
        tokens = tokens.only(np.concatenate([np.zeros(0, np.bool_), *(_is_open(each, layer) for each in sentences)]))
    chance = np.random.default_rng(seed).random(len(tokens.sentence))
    order = np.lexsort((chance, -tokens.uncertainty))
    return tokens.only(order[: round(share * len(order))])


def uncertainties(
    tagger: ChainPredictor, sentences: Sequence[Sentence], layer: str | None = None, strategy: str = "marginal"
) -> NDArray[np.float32]:
    """float32[N]: the uncertainty of all tokens, in the order of the text. Arguments are those of `least_certain`."""
    return _all_tokens(tagger, sentences, layer, strategy).uncertainty


def priorities(uncertainty: NDArray[np.floating[Any]], random: np.random.Generator) -> NDArray[np.float64]:
    """float64[K], 0 to 1: their falling order is a draw without replacement, in proportion to uncertainty.

    Such a draw takes tokens by rising exponential times whose rates are their uncertainties (Efraimidis and Spirakis
    2006). The time t = e / uncertainty, with e exponential of rate 1, becomes the priority 1 / (1 + t).
    """
    rates = np.maximum(uncertainty, 0)  # 1 - 1.0000001
    return np.asarray(rates / (rates + random.exponential(size=len(rates))), np.float64)


def tasks(
    tokens: UncertainTokens,
    sentences: Sequence[Sentence],
    tagger: ChainPredictor,
    model: int | None = None,
    seed: int = 0,
) -> Iterator[AnnotationTask]:
    """Tasks for tokens, chosen by version `model` of the model; `seed` draws their priorities."""
    drawn = priorities(tokens.uncertainty, np.random.default_rng(seed)).tolist()
    rows = zip(tokens.sentence.tolist(), tokens.position.tolist(), drawn, _candidates(tokens, tagger), strict=True)
    for sentence, position, priority, candidates in rows:
        span = position, position + 1
        yield AnnotationTask(sentences[sentence], *span, tagger.guideline, candidates, priority, model=model)


def rankings(
    tagger: ChainPredictor, asked: Iterable[Asked], seed: int = 0, strategy: str = "marginal"
) -> list[Ranking]:
    """Rerank tasks that ask for the label of one token, given the evidence in their sentences.

    Other tasks are left out. `seed` draws the priorities, `strategy` is one of `STRATEGIES`. Raises as `least_certain`.
    """
    of_label = (each for each in asked if each.task.asks is Asks.LABEL)
    of_token = [each for each in of_label if each.task.candidates and each.task.stop == each.task.start + 1]
    sentences = {each.sentence_key: each.task.sentence for each in of_token}
    begins = np.cumsum([0, *map(len, sentences.values())]).tolist()
    first = dict(zip(sentences, begins, strict=False))
    numbers = np.array([first[each.sentence_key] + each.task.start for each in of_token], np.int64)
    tokens = _all_tokens(tagger, [*sentences.values()], tagger.guideline, strategy).only(numbers)
    drawn = priorities(tokens.uncertainty, np.random.default_rng([seed, *(each.id for each in of_token[:1])])).tolist()
    rows = zip(of_token, drawn, _candidates(tokens, tagger), strict=True)
    return [Ranking(each.id, priority, candidates) for each, priority, candidates in rows]


def word_tasks(
    tagger: ChainPredictor,
    sentences: Sequence[Sentence],
    words: Sequence[str],
    strategy: str = "entropy",
    most: int | None = None,
    seed: int = 0,
    model: int | None = None,
) -> Iterator[AnnotationTask]:
    """Concordance tasks for occurrences of words in sentences of characters, the most uncertain first.

    Args:
        tagger: a segmenter.
        sentences: sentences of characters.
        words, strategy, seed: as for `active.strategies.most_uncertain`, which keeps one occurrence a neighbourhood.
        most: the greatest number of tasks.
        model: version of the model.

    Raises:
        ValueError: as `most_uncertain`.
    """
    ranked = most_uncertain(tagger.model, sentences, words, strategy, seed=seed, threads=tagger.threads)
    begins = np.cumsum([0, *map(len, sentences)])
    chosen = ranked.occurrences.only(slice(most))
    start, stop = (bound - begins[chosen.sentence] for bound in (chosen.start, chosen.stop))
    rows = zip(chosen.sentence.tolist(), start.tolist(), stop.tolist(), ranked.uncertainty[:most].tolist(), strict=True)
    for sentence, begin, end, uncertainty in rows:
        purpose = Purpose.CONCORDANCE
        yield AnnotationTask(
            sentences[sentence], begin, end, tagger.guideline, uncertainty=uncertainty, purpose=purpose, model=model
        )


def _all_tokens(
    tagger: ChainPredictor, sentences: Sequence[Sentence], layer: str | None, strategy: str
) -> UncertainTokens:
    """Every token, in the order of the text."""
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}, expected one of {', '.join(STRATEGIES)}")
    if tagger.model.of_characters:
        raise ValueError("found a model of characters, expected one of words; of characters, words of a list are asked")
    width = min(_CANDIDATES, len(tagger.labels))
    best, probabilities = [np.zeros((0, width), np.int32)], [np.zeros((0, width), np.float32)]
    uncertainty = [np.zeros(0, np.float32)]
    for at in range(0, len(sentences), _BLOCK):
        for table in tagger.probabilities(sentences[at : at + _BLOCK], layer):
            top = np.argsort(-table, axis=1, kind="stable")[:, :width]
            best.append(top.astype(np.int32))
            probabilities.append(np.take_along_axis(table, top, 1).astype(np.float32))
            uncertainty.append(_entropies(table) if strategy == "entropy" else 1 - probabilities[-1][:, 0])
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(sentence)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return UncertainTokens(
        sentence, position, np.concatenate(best), np.concatenate(probabilities), np.concatenate(uncertainty)
    )


def _entropies(table: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """float32[T]: the entropies of probabilities [T, L], in nats."""
    logarithms = np.log(table, out=np.zeros_like(table), where=table > 0)
    return np.asarray(np.maximum(-(table * logarithms).sum(axis=1), 0), np.float32)


def _is_open(sentence: Sentence, layer: str) -> NDArray[np.bool_]:
    known: Sequence[Candidates] = sentence.layers.get(layer, (None,) * len(sentence))
    return np.array([each is None or len(each) > 1 for each in known], np.bool_)


def _candidates(tokens: UncertainTokens, tagger: ChainPredictor) -> Iterator[tuple[Candidate, ...]]:
    """The candidates of every token: two, and a third one unless it is improbable."""
    for labels, probabilities in zip(tokens.labels.tolist(), tokens.probabilities.tolist(), strict=True):
        pairs = zip(labels, probabilities, strict=True)
        best = (Candidate(tagger.labels[label], round(probability, 4)) for label, probability in pairs)
        yield tuple(each for number, each in enumerate(best) if number < 2 or each.probability >= _RARE)
