"""The rivals of marginal likelihood on incomplete annotation, each a step before a fit (tsuboi-2008, 5.1 and 5.2).

| name | ambiguous positions | unknown positions |
|---|---|---|
| `marginal` | as they are | as they are |
| `random`, `first`, `frequent` | one candidate is chosen | as they are |
| `discard` | sentences that have any are dropped | sentences that have any are dropped |
| `argmax` | the most probable label of a model trained on what is complete | likewise |
| `pointwise` | as they are | ignored: labels do not depend on their neighbours |

`argmax` trains its first model on the complete sentences or, where those are fewer than one in ten, pointwise on all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tagweave.adapt.fit import Fitted, fit
from tagweave.adapt.recipe import Recipe
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence, narrow
from tagweave.learning.loop import Schedule, Watcher
from tagweave.models.tagger import Tagger

STRATEGIES = ("marginal", "argmax", "pointwise", "random", "first", "frequent", "discard")
"""What may be done with incomplete annotation; the first is the method, the others are its baselines."""

_ENOUGH = 0.1


def fit_incomplete(
    strategy: str,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    schedule: Schedule | None = None,
    watcher: Watcher | None = None,
    seed: int = 0,
) -> Fitted:
    """`fit`, after dealing with incomplete annotation by `strategy`.

    Raises:
        ValueError: an unknown strategy.
        CorpusError: as `fit`; or nothing is left after discarding.
    """
    corpora, recipe = treated(strategy, corpora, recipe, dev, schedule, seed)
    return fit(corpora, recipe, dev, schedule, watcher)


def treated(
    strategy: str,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    schedule: Schedule | None = None,
    seed: int = 0,
) -> tuple[Sequence[Corpus], Recipe]:
    """The corpora and the recipe with which `strategy` goes into an ordinary fit. Raises as `fit_incomplete`."""
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}, expected one of {', '.join(STRATEGIES)}")
    if strategy == "pointwise":
        recipe = replace(recipe, transitions=False, edges=False)
    elif strategy == "argmax":
        corpora = complete_by_argmax(corpora, recipe, dev, schedule)
    elif strategy == "discard":
        corpora = [_some_left(discard(corpus)) for corpus in corpora]
    elif strategy != "marginal":
        corpora = [choose(corpus, _CHOICES[strategy](corpus, seed)) for corpus in corpora]
    return corpora, recipe


def is_complete(sentence: Sentence, guideline: str) -> bool:
    """Whether every position of the layer has exactly one candidate."""
    layer = sentence.layers.get(guideline)
    return layer is not None and all(candidates is not None and len(candidates) == 1 for candidates in layer)


def discard(corpus: Corpus) -> Corpus:
    """The sentences whose annotation is complete."""
    return corpus.with_sentences(sentence for sentence in corpus.sentences if is_complete(sentence, corpus.guideline))


def choose(corpus: Corpus, pick: Callable[[tuple[str, ...]], str]) -> Corpus:
    """Every set of candidates replaced by the one that `pick` takes; unknown positions stay unknown."""
    guideline = corpus.guideline

    def step(sentence: Sentence) -> Sentence:
        if guideline not in sentence.layers:
            return sentence
        return sentence.with_layer(
            guideline, narrow(sentence.layers[guideline], lambda candidates: (pick(candidates),))
        )

    return corpus.map(step)


def _random(_corpus: Corpus, seed: int) -> Callable[[tuple[str, ...]], str]:
    rng = np.random.default_rng(seed)
    return lambda candidates: candidates[int(rng.integers(len(candidates)))]


def _first(_corpus: Corpus, _seed: int) -> Callable[[tuple[str, ...]], str]:
    return lambda candidates: candidates[0]


def _frequent(corpus: Corpus, _seed: int) -> Callable[[tuple[str, ...]], str]:
    """The candidate that is most frequent where there is only one; of equal ones the first."""
    layers = [sentence.layers[corpus.guideline] for sentence in corpus.sentences if corpus.guideline in sentence.layers]
    counts = Counter(candidates[0] for layer in layers for candidates in layer if candidates and len(candidates) == 1)
    return lambda candidates: max(candidates, key=lambda name: counts[name])


_CHOICES = {"random": _random, "first": _first, "frequent": _frequent}


def complete_by_argmax(
    corpora: Sequence[Corpus], recipe: Recipe, dev: Corpus | None, schedule: Schedule | None
) -> list[Corpus]:
    """Every position filled with its label in the best sequence that the annotation allows, under a first model.

    Raises:
        KeyboardInterrupt: the user stopped the training of the first model.
    """
    full = [discard(corpus) for corpus in corpora]
    plain = replace(schedule, checkpoint=None) if schedule else None
    if sum(map(len, full)) >= _ENOUGH * sum(map(len, corpora)):
        first = fit([corpus for corpus in full if len(corpus)], recipe, dev, plain)
    else:
        first = fit(corpora, replace(recipe, transitions=False, edges=False), dev, plain)
    if first.outcome.interrupted:  # what the user wanted to stop is the whole of the training
        raise KeyboardInterrupt
    tagger = Tagger(first.model, recipe.threads)
    return [tagger.complete(corpus) for corpus in (recipe.task.prepare(corpus) for corpus in corpora)]


def _some_left(corpus: Corpus) -> Corpus:
    if not len(corpus):
        raise CorpusError("no sentence whose annotation is complete", "some, to discard the others", corpus.path)
    return corpus
