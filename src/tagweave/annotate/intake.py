"""Sentences put in as questions: what a model doubts, what an annotation leaves open, and what is known already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate import selection
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Candidate, Purpose, label
from tagweave.corpus.blocks import in_blocks
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.labels.space import collect_names, is_wildcard
from tagweave.models.tagger import Tagger
from tagweave.training.task import Task

_MANY = 200  # tasks of one transaction: annotators wait for no longer one


def put_uncertain(
    store: Store,
    corpus: Corpus,
    tagger: Tagger,
    share: float = 0.2,
    model: int | None = None,
    seed: int = 0,
    strategy: str = "marginal",
) -> int:
    """Ask for the least certain tokens of a corpus of words (`selection.least_certain`); how many are new.

    What the corpus knows under the tagger's guideline is not asked.

    Args:
        store: where to.
        corpus: raw, or annotated in part.
        tagger: of words, whose labels become those of its guideline.
        share: of the tokens that are not known.
        model: its version.
        seed: of equally certain ones, and of the order in which they are asked.
        strategy: one of `selection.STRATEGIES`.

    Raises:
        ValueError, CorpusError: as `least_certain`.
    """
    found = selection.least_certain(tagger, corpus.sentences, share, tagger.guideline, seed, strategy)
    store.add_labels(tagger.guideline, dict.fromkeys(tagger.labels, ""))
    return _put(store, selection.tasks(found, corpus.sentences, tagger, model, seed))


def put_words(
    store: Store,
    corpus: Corpus,
    tagger: Tagger,
    words: Sequence[str],
    most: int | None = None,
    model: int | None = None,
    seed: int = 0,
    strategy: str = "entropy",
) -> int:
    """Ask of the most uncertain occurrences of words whether they are words (`selection.word_tasks`); how many are new.

    Raises:
        ValueError: as `most_uncertain`.
    """
    coded = Task("segment").prepare(corpus)
    raw = [Sentence(sentence.forms, location=sentence.location) for sentence in coded]
    return _put(store, selection.word_tasks(tagger, raw, words, strategy, most, seed, model))


def put_ambiguous(store: Store, corpus: Corpus) -> int:
    """Ask where a corpus of words allows several labels, with these as candidates; how many are new."""
    _put_labels(store, corpus)
    return _put(store, _ambiguous(corpus))


def put_known(
    store: Store,
    corpus: Corpus,
    purpose: Purpose,
    number: int,
    tagger: Tagger | None = None,
    share: float = 0.2,
    model: int | None = None,
    seed: int = 0,
) -> int:
    """Ask what is known, as planted gold or in the training phase; how many are new.

    Args:
        store: where to.
        corpus: of words; positions with one label come into question.
        purpose: `GOLD` or `TRAINING`.
        number: so many are drawn at random.
        tagger: draws from the least certain ones, as real tasks are, and gives candidates; without one, there are none.
        share: of the known tokens from which are drawn, with a tagger.
        model: its version.
        seed: of the draw.
    """
    guideline = corpus.guideline
    raw = [replace(each, layers={k: v for k, v in each.layers.items() if k != guideline}) for each in corpus]
    gold = [name for each in corpus for name in _known(each, guideline)]
    is_known, random = np.array([each is not None for each in gold], np.bool_), np.random.default_rng(seed)
    if tagger is None:
        tokens, asked = _drawn(raw, guideline, is_known, number, random)
    else:
        tokens, asked = _drawn_by(tagger, raw, is_known, number, share, model, random)
    _put_labels(store, corpus)
    known = ((task, label(str(gold[token]))) for task, token in zip(asked, tokens.tolist(), strict=True))
    return _put(store, (replace(task, guideline=guideline, purpose=purpose, gold=answer) for task, answer in known))


def version_of(store: Store, path: str, accuracy: Callable[[], float | None] = lambda: None) -> int:
    """The last version of a model file; one that the store does not have is entered, as one that saw no judgement.

    `accuracy` is measured where the model is entered.
    """
    known = [each.version for each in store.models() if each.path == path]
    return known[-1] if known else store.add_model(path, 0, 0.0, accuracy())


Drawn = tuple[NDArray[np.int64], Iterator[AnnotationTask]]
"""Numbers of tokens, counted over all sentences, and the tasks that ask for them."""


def _drawn(
    sentences: Sequence[Sentence], guideline: str, is_known: NDArray[np.bool_], number: int, random: np.random.Generator
) -> Drawn:
    """Tokens that are known, at random."""
    begins = np.cumsum([0, *map(len, sentences)])
    tokens = random.permutation(np.flatnonzero(is_known))[:number]
    sentence = np.searchsorted(begins, tokens, side="right") - 1
    places = zip(sentence.tolist(), (tokens - begins[sentence]).tolist(), strict=True)
    return tokens, (AnnotationTask(sentences[s], t, t + 1, guideline) for s, t in places)


def _drawn_by(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    is_known: NDArray[np.bool_],
    number: int,
    share: float,
    model: int | None,
    random: np.random.Generator,
) -> Drawn:
    """Tokens that are known, at random among those that a model finds difficult."""
    begins = np.cumsum([0, *map(len, sentences)])
    found = selection.least_certain(tagger, sentences, 1.0)
    found = found.only(is_known[begins[found.sentence] + found.position])
    found = found.only(slice(max(number, round(share * len(found.sentence)))))
    found = found.only(random.permutation(len(found.sentence))[:number])
    return begins[found.sentence] + found.position, selection.tasks(found, sentences, tagger, model)


def _known(sentence: Sentence, guideline: str) -> Iterator[str | None]:
    """Per token the one label that it has."""
    layer: Sequence[Candidates] = sentence.layers.get(guideline, (None,) * len(sentence))
    for candidates in layer:
        yield candidates[0] if candidates and len(candidates) == 1 and not is_wildcard(candidates[0]) else None


def _ambiguous(corpus: Corpus) -> Iterator[AnnotationTask]:
    for sentence in corpus:
        for t, allowed in enumerate(sentence.layers.get(corpus.guideline, ())):
            if allowed is not None and len(allowed) > 1:
                candidates = tuple(Candidate(name, round(1 / len(allowed), 4)) for name in allowed)
                yield AnnotationTask(sentence, t, t + 1, corpus.guideline, candidates, 1 - 1 / len(allowed))


def _put_labels(store: Store, corpus: Corpus) -> None:
    names = collect_names([each.layers[corpus.guideline] for each in corpus if corpus.guideline in each.layers])
    store.add_labels(corpus.guideline, dict.fromkeys(names, ""))


def _put(store: Store, tasks: Iterable[AnnotationTask]) -> int:
    return sum(map(store.add_tasks, in_blocks(tasks, _MANY)))
