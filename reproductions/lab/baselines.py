"""Baselines of incomplete annotation, to compare marginal likelihood with (tsuboi-2008, 5.1 and 5.2).

| name | ambiguous positions | unknown positions |
|---|---|---|
| `random`, `first`, `frequent` | one candidate is chosen | unchanged |
| `discard` | sentences that have any are dropped | sentences that have any are dropped |
| `argmax` | the most probable label of a model trained on complete sentences | likewise |
| `pointwise` | unchanged | ignored: labels do not depend on their neighbours |

A wildcard is ambiguous, and so is `O` if the corpus covers only some labels. The sets over B, M, E, S of a corpus of
characters say which boundaries are unknown: they are no candidates and do not change, but its tags may be chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Layer, Sentence, narrow
from tagweave.errors import CorpusError
from tagweave.labels.coding import SEGMENTATION, to_characters
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades import incomplete
from tagweave.training.cascades.incomplete import discard, first_model
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import TAGS, segmentation_name

BASELINES = ("argmax", "pointwise", "random", "first", "frequent", "discard")

Pick = Callable[[tuple[str, ...]], str]
"""Picks one of the candidates of a position."""


def treated(
    strategy: str,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    seed: int = 0,
) -> tuple[Sequence[Corpus], Recipe]:
    """Return the corpora and the recipe for a fit after applying a baseline, or a strategy of the package.

    Arguments are those of the fit; `seed` is for the baseline `random`.

    Raises:
        ValueError: an unknown strategy.
        CorpusError: as `fit`; or `discard` leaves no sentence.
    """
    if strategy not in BASELINES:
        return incomplete.treated(strategy, corpora, recipe, dev, run)
    if strategy == "pointwise":
        return corpora, replace(recipe, transitions=False, edges=False)
    if strategy == "argmax":
        tagger = first_model(corpora, recipe, dev, run)
        return [_best(tagger, recipe.task.prepare(corpus)) for corpus in corpora], recipe
    if strategy == "discard":
        return [_some_left(discard(corpus, recipe.task)) for corpus in corpora], recipe
    return [_chosen(corpus, strategy, seed) for corpus in corpora], recipe


def choose(corpus: Corpus, pick: Pick) -> Corpus:
    """Replace every set of candidates by the one that `pick` returns; unknown positions stay unknown."""
    guideline = corpus.guideline

    def step(sentence: Sentence) -> Sentence:
        if guideline not in sentence.layers:
            return sentence
        return sentence.with_layer(
            guideline, narrow(sentence.layers[guideline], lambda candidates: (pick(candidates),))
        )

    return corpus.map(step)


def choose_tags(corpus: Corpus, pick: Pick) -> Corpus:
    """`choose` for the tags of a corpus of characters: once per word, as far as word beginnings are known."""

    def step(sentence: Sentence) -> Sentence:
        name = segmentation_name(sentence, corpus.guideline)
        if name == TAGS or TAGS not in sentence.layers:
            return sentence
        tags, letters = sentence.layers[TAGS], sentence.layers.get(name, (None,) * len(sentence))
        chosen: list[Candidates] = []
        for t, (candidates, letter) in enumerate(zip(tags, letters, strict=True)):
            goes_on = t > 0 and letter is not None and not set(letter) & set("BS") and candidates == tags[t - 1]
            chosen.append(chosen[-1] if goes_on else candidates and (pick(candidates),))
        return sentence.with_layer(TAGS, chosen)

    return corpus.map(step)


def _chosen(corpus: Corpus, strategy: str, seed: int) -> Corpus:
    of_characters = corpus.unit == "character"
    layer = TAGS if of_characters else corpus.guideline
    layers = [sentence.layers[layer] for sentence in corpus.sentences if layer in sentence.layers]
    return (choose_tags if of_characters else choose)(corpus, _CHOICES[strategy](layers, seed))


def _random(_layers: Sequence[Layer], seed: int) -> Pick:
    rng = np.random.default_rng(seed)
    return lambda candidates: sorted(candidates)[int(rng.integers(len(candidates)))]


def _first(_layers: Sequence[Layer], _seed: int) -> Pick:
    return lambda candidates: candidates[0]


def _frequent(layers: Sequence[Layer], _seed: int) -> Pick:
    """The candidate most frequent at unambiguous positions; of equal ones the first in alphabetical order."""
    counts = Counter(candidates[0] for layer in layers for candidates in layer if candidates and len(candidates) == 1)
    return lambda candidates: max(sorted(candidates), key=lambda name: counts[name])


_CHOICES = {"random": _random, "first": _first, "frequent": _frequent}


def _best(tagger: ChainPredictor, coded: Corpus) -> Corpus:
    """Every position with its label in the best sequence that the annotation allows.

    Coded characters become letters and tags, for `Task.prepare` to code them again.
    """
    complete = tagger.complete(coded)
    return complete if not tagger.model.of_characters else complete.map(lambda sentence: _uncoded(sentence, tagger))


def _uncoded(sentence: Sentence, tagger: ChainPredictor) -> Sentence:
    words = tagger.words(sentence)
    layers = dict(to_characters(words, SEGMENTATION).layers)
    if tagger.guideline in words.layers:
        tags = words.layers[tagger.guideline]
        layers[TAGS] = tuple(tag for form, tag in zip(words.forms, tags, strict=True) for _ in form)
    return replace(sentence, layers=layers)


def _some_left(corpus: Corpus) -> Corpus:
    if not len(corpus):
        raise CorpusError("no sentence whose annotation is complete", "some, to discard the others", corpus.path)
    return corpus
