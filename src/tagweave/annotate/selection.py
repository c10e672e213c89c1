"""What to ask: the tokens of which a model is least certain, and the words of a list whose labels are most uncertain.

A token is the more difficult the less probable its most probable label is, or the greater the entropy of its labels;
the hardest fifth is asked for, with the two or three most probable labels as candidates (li-2015, section 4). A word of
a list is the more uncertain the greater the entropy of the labels of its characters is (tsuboi-2008, section 5.1).

Tokens are not asked for in the order of their uncertainty, but drawn in proportion to it (`priorities`). The most
uncertain ones alone show a model nothing of what is easy: on ZX, beside People's Daily, 4,000 such answers were worth
less than 2,000 at random, and 4,000 drawn in proportion were worth more than 8,000 at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.active.strategies import most_uncertain
from tagweave.annotate.questions import Asked, Ranking
from tagweave.annotate.task import AnnotationTask, Candidate, Purpose
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.models.tagger import Tagger

STRATEGIES = ("marginal", "entropy")
"""The uncertainty of a token: what its most probable label leaves, and the entropy of its labels, in nats."""

_CANDIDATES, _RARE = 3, 0.01  # the third one is shown from this probability on
_BLOCK = 2000  # sentences whose marginals are held at a time


class Uncertain(NamedTuple):
    """Tokens, the most uncertain first.

    Attributes:
        sentence, position: int64[K], their places.
        labels: int32[K, C], the numbers of their most probable labels, the best first.
        probabilities: float32[K, C], of these.
        uncertainty: float32[K], by a strategy of `STRATEGIES`.
    """

    sentence: NDArray[np.int64]
    position: NDArray[np.int64]
    labels: NDArray[np.int32]
    probabilities: NDArray[np.float32]
    uncertainty: NDArray[np.float32]

    def only(self, chosen: Any) -> Uncertain:
        """Some of them, by a slice, a mask or their numbers."""
        return Uncertain(*(array[chosen] for array in self))


def least_certain(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    share: float = 0.2,
    layer: str | None = None,
    seed: int = 0,
    strategy: str = "marginal",
) -> Uncertain:
    """The tokens whose most probable label has the least marginal probability (li-2015, section 4).

    Args:
        tagger: of words; the guideline of the answers is its own.
        sentences: of words.
        share: of the tokens that are not known.
        layer: where one label is known already, the token is not asked for; what is known is evidence for others.
        seed: of the order of equally certain ones.
        strategy: one of `STRATEGIES`.

    Raises:
        ValueError: a model of characters, a share outside 0..1, or an unknown strategy.
        CorpusError: as `Tagger.probabilities`, of the layer.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"found a share of {share}, expected 0 to 1")
    found = _all_tokens(tagger, sentences, layer, strategy)
    if layer is not None:
        found = found.only(np.concatenate([np.zeros(0, np.bool_), *(_is_open(each, layer) for each in sentences)]))
    chance = np.random.default_rng(seed).random(len(found.sentence))
    order = np.lexsort((chance, -found.uncertainty))
    return found.only(order[: round(share * len(order))])


def priorities(uncertainty: NDArray[np.floating[Any]], random: np.random.Generator) -> NDArray[np.float64]:
    """float64[K], 0 to 1: who takes them in falling order has drawn without replacement, in proportion to uncertainty.

    The smallest of exponential times with these rates comes first (Efraimidis and Spirakis 2006); the time e /
    uncertainty of a token, with e exponential of rate 1, becomes 1 / (1 + e / uncertainty).
    """
    rates = np.maximum(uncertainty, 0)  # 1 - 1.0000001
    return np.asarray(rates / (rates + random.exponential(size=len(rates))), np.float64)


def tasks(
    found: Uncertain, sentences: Sequence[Sentence], tagger: Tagger, model: int | None = None, seed: int = 0
) -> Iterator[AnnotationTask]:
    """Tokens as tasks, of a version of the model; `seed` draws their priorities."""
    drawn = priorities(found.uncertainty, np.random.default_rng(seed)).tolist()
    rows = zip(found.sentence.tolist(), found.position.tolist(), drawn, _shown(found, tagger), strict=True)
    for sentence, position, priority, candidates in rows:
        span = position, position + 1
        yield AnnotationTask(sentences[sentence], *span, tagger.guideline, candidates, priority, model=model)


def rankings(tagger: Tagger, asked: Iterable[Asked], seed: int = 0, strategy: str = "marginal") -> list[Ranking]:
    """What a model thinks of tasks that ask for the label of one token, given what their sentences tell; others are
    left out. `seed` draws their priorities, `strategy` is one of `STRATEGIES`. Raises as `least_certain`.
    """
    of_token = [each for each in asked if each.task.candidates and each.task.stop == each.task.start + 1]
    sentences = list({_which(each): each.task.sentence for each in of_token}.values())
    begins = np.cumsum([0, *map(len, sentences)]).tolist()
    first = dict(zip(dict.fromkeys(map(_which, of_token)), begins, strict=False))
    tokens = np.array([first[_which(each)] + each.task.start for each in of_token], np.int64)
    found = _all_tokens(tagger, sentences, tagger.guideline, strategy).only(tokens)
    drawn = priorities(found.uncertainty, np.random.default_rng([seed, *(each.id for each in of_token[:1])])).tolist()
    rows = zip(of_token, drawn, _shown(found, tagger), strict=True)
    return [Ranking(each.id, priority, candidates) for each, priority, candidates in rows]


def _which(asked: Asked) -> tuple[object, ...]:
    """What tells one sentence from another; a store gives every task its own copy."""
    return asked.task.sentence.location, asked.task.sentence.forms


def word_tasks(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    words: Sequence[str],
    strategy: str = "entropy",
    most: int | None = None,
    seed: int = 0,
    model: int | None = None,
) -> Iterator[AnnotationTask]:
    """Occurrences of words in sentences of characters as tasks of a concordance, the most uncertain first.

    Args:
        tagger: a segmenter.
        sentences: of characters.
        words, strategy, seed: as for `active.strategies.most_uncertain`: of equal neighbourhoods one is asked for.
        most: so many at most.
        model: version of the model.

    Raises:
        ValueError: as `most_uncertain`.
    """
    ranked = most_uncertain(tagger.model, sentences, words, strategy, seed=seed, threads=tagger.threads)
    begins = np.cumsum([0, *map(len, sentences)])
    found = ranked.found.only(slice(most))
    start, stop = (bound - begins[found.sentence] for bound in (found.start, found.stop))
    rows = zip(found.sentence.tolist(), start.tolist(), stop.tolist(), ranked.uncertainty[:most].tolist(), strict=True)
    for sentence, begin, end, uncertainty in rows:
        purpose = Purpose.CONCORDANCE
        yield AnnotationTask(
            sentences[sentence], begin, end, tagger.guideline, uncertainty=uncertainty, purpose=purpose, model=model
        )


def _all_tokens(tagger: Tagger, sentences: Sequence[Sentence], layer: str | None, strategy: str) -> Uncertain:
    """Every token, in the order of the text."""
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}, expected one of {', '.join(STRATEGIES)}")
    if tagger.model.coding:
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
    return Uncertain(
        sentence, position, np.concatenate(best), np.concatenate(probabilities), np.concatenate(uncertainty)
    )


def _entropies(table: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """float32[T] of probabilities [T, L]; what is impossible adds nothing."""
    logarithms = np.log(table, out=np.zeros_like(table), where=table > 0)
    return np.asarray(np.maximum(-(table * logarithms).sum(axis=1), 0), np.float32)


def _is_open(sentence: Sentence, layer: str) -> NDArray[np.bool_]:
    known: Sequence[Candidates] = sentence.layers.get(layer, (None,) * len(sentence))
    return np.array([each is None or len(each) > 1 for each in known], np.bool_)


def _shown(found: Uncertain, tagger: Tagger) -> Iterator[tuple[Candidate, ...]]:
    """The candidates of every token: two, and a third one that is not rare."""
    for labels, probabilities in zip(found.labels.tolist(), found.probabilities.tolist(), strict=True):
        pairs = zip(labels, probabilities, strict=True)
        shown = (Candidate(tagger.labels[label], round(probability, 4)) for label, probability in pairs)
        yield tuple(each for number, each in enumerate(shown) if number < 2 or each.probability >= _RARE)
