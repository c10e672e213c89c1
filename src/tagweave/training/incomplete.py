"""The alternatives to marginal likelihood on incomplete annotation, applied before a fit (tsuboi-2008, 5.1 and 5.2).

| name | ambiguous positions | unknown positions |
|---|---|---|
| `marginal` | unchanged | unchanged |
| `random`, `first`, `frequent` | one candidate is chosen | unchanged |
| `discard` | sentences that have any are dropped | sentences that have any are dropped |
| `posterior` | the probabilities of a model trained on complete sentences, given the annotation | likewise |
| `argmax` | the most probable label of a model trained on complete sentences | likewise |
| `pointwise` | unchanged | ignored: labels do not depend on their neighbours |
| `outside` (spans) | unchanged | `O`, believed as far as one likes |
| `folds` (spans) | completed by models of other folds (`fold_completion`) | likewise |

If most positions do not have exactly one label, `marginal` starts from the weights of the pointwise model
(`fit.fit_problem`).

A wildcard is ambiguous, and so is `O` if the corpus covers only some labels. The sets over B, M, E, S of a corpus of
characters are not candidates: they say which boundaries are unknown and do not change; its tags may be chosen. Only
`first` depends on the order in which candidates were written.

`argmax` and `posterior` train their first model on the complete sentences or, if they have fewer than 500 tokens and
are fewer than one in ten, pointwise on all. `posterior` is a single step of expectation maximisation from that model,
where `marginal` goes on to the end: what annotation leaves open does not drift away from what the complete sentences
teach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Layer, Sentence, narrow
from tagweave.corpus.soft import with_probabilities
from tagweave.features.evidence import OUTSIDE
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.labels.coding import SEGMENTATION, letters_of, to_characters
from tagweave.labels.space import collect_names, is_wildcard
from tagweave.labels.tasks import SPANS
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain_predictor import ChainPredictor, Floats
from tagweave.training.belief import outside_elsewhere
from tagweave.training.errors import PlanError
from tagweave.training.fit import fit_problem, prepare
from tagweave.training.fold_completion import FoldCompletion, completed
from tagweave.training.recipe import Recipe
from tagweave.training.strategies import OF_SPANS, STRATEGIES
from tagweave.training.task import TAGS, Task, segmentation_name

Pick = Callable[[tuple[str, ...]], str]
"""Picks one of the candidates of a position."""

Completion = Callable[[ChainPredictor, Corpus], Corpus]
"""From a first model and a corpus in the labels of the task to the corpus without anything open."""

_ENOUGH = 0.1  # of all sentences
_ENOUGH_TOKENS = 500  # with a list found in 2,000 raw sentences, 25 complete ones are a better first model than all


def treated(
    strategy: str,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    seed: int = 0,
    lookups: Lookups = NOTHING,
    outside_confidence: float = 1.0,
    completion: FoldCompletion | None = None,
) -> tuple[Sequence[Corpus], Recipe]:
    """The corpora and the recipe for an ordinary `fit` after applying a strategy.

    Arguments are those of the fit; `seed` is for the strategy `random`, `outside_confidence` for `outside`, and
    `completion` for `folds`.

    Raises:
        ValueError: an unknown strategy.
        PlanError: a strategy that the task does not have.
        CorpusError: as `fit`; or `discard` leaves no sentence.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}, expected one of {', '.join(STRATEGIES)}")
    if strategy in OF_SPANS and recipe.task.name != SPANS:
        raise PlanError(f"found `incomplete={strategy}` with the task {recipe.task.name}, expected the task spans")
    if strategy == "pointwise":
        recipe = replace(recipe, transitions=False, edges=False)
    elif strategy == "argmax":
        corpora = completed_by(_best, corpora, recipe, dev, run, lookups)
    elif strategy == "posterior":
        _check_posterior(recipe)
        corpora = completed_by(_probable, corpora, recipe, dev, run, lookups)
    elif strategy == "discard":
        corpora = [_some_left(discard(corpus, recipe.task)) for corpus in corpora]
    elif strategy == "outside":
        corpora = [outside_elsewhere(corpus, outside_confidence) for corpus in corpora]
    elif strategy == "folds":
        corpora, recipe = (
            completed(corpora, recipe, completion or FoldCompletion(), dev, run),
            replace(recipe, ratio=None),
        )
    elif strategy != "marginal":
        corpora = [_chosen(corpus, strategy, seed) for corpus in corpora]
    return corpora, recipe


def is_complete(sentence: Sentence, guideline: str, covered: Sequence[str] | None = None) -> bool:
    """Whether every position of the layer allows exactly one label; `covered` as in `Corpus`."""
    layer = sentence.layers.get(guideline)
    return layer is not None and all(each is not None and _is_one(each, covered) for each in set(layer))


def _is_one(candidates: tuple[str, ...], covered: Sequence[str] | None) -> bool:
    if len(candidates) > 1 or is_wildcard(candidates[0]):
        return False
    return covered is None or candidates[0] != OUTSIDE


def discard(corpus: Corpus, task: Task | None = None) -> Corpus:
    """The sentences whose annotation is complete, in the labels of the task if there is one."""
    coded = corpus if task is None else task.prepare(corpus)
    pairs = zip(corpus.sentences, coded.sentences, strict=True)
    return corpus.with_sentences(
        sentence for sentence, labels in pairs if is_complete(labels, coded.guideline, coded.covered_in(labels))
    )


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


def completed_by(
    complete: Completion,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None,
    run: Run = SILENT,
    lookups: Lookups = NOTHING,
) -> list[Corpus]:
    """The corpora with what a first model says of all that their annotation leaves open.

    Raises:
        KeyboardInterrupt: the user stopped the training of the first model.
    """
    coded = [recipe.task.prepare(corpus) for corpus in corpora]
    full = [discard(corpus, recipe.task) for corpus in corpora]
    if _suffice(full, corpora):
        names = collect_names([sentence.layers.get(each.guideline, ()) for each in coded for sentence in each])
        problem = prepare([corpus for corpus in full if len(corpus)], recipe, names, recipe.encoder(lookups))
    else:
        recipe = replace(recipe, transitions=False, edges=False)
        problem = prepare(corpora, recipe, encoder=recipe.encoder(lookups))
    first = fit_problem(problem, recipe, dev, run.aside())
    first.outcome.check_finished()
    tagger = ChainPredictor(first.model, recipe.threads)
    return [complete(tagger, corpus) for corpus in coded]


def _suffice(full: Sequence[Corpus], corpora: Sequence[Corpus]) -> bool:
    """Whether a first model is to learn from the complete sentences alone."""
    share = sum(map(len, full)) >= max(1, _ENOUGH * sum(map(len, corpora)))
    return share or sum(corpus.tokens() for corpus in full) >= _ENOUGH_TOKENS


def _best(tagger: ChainPredictor, coded: Corpus) -> Corpus:
    """Every position with its label in the best sequence that the annotation allows.

    Coded characters become letters and tags, for `Task.prepare` to code them again.
    """
    complete = tagger.complete(coded)
    return complete if not tagger.model.of_characters else complete.map(lambda sentence: _uncoded(sentence, tagger))


def _probable(tagger: ChainPredictor, coded: Corpus) -> Corpus:
    """Every position with the probabilities of its labels, given the annotation."""
    name, of_characters, coding = coded.guideline, tagger.model.of_characters, tagger.model.coding
    tables = iter(tagger.probabilities(coded.sentences, name, coded.covered))

    def candidates(row: Floats) -> Candidates:
        soft = with_probabilities(tagger.labels, row.tolist())
        spelled = letters_of(soft, coding) if of_characters else soft
        return tuple(spelled) if len(spelled.numbers) == 1 else spelled

    def step(sentence: Sentence) -> Sentence:
        layer = tuple(map(candidates, next(tables)))
        return replace(sentence, layers={SEGMENTATION if of_characters else name: layer}, covered=None)

    return replace(coded.map(step), covered=None)


def _check_posterior(recipe: Recipe) -> None:
    if recipe.task.name == "segtag":
        raise PlanError("found `incomplete=posterior` with the task segtag, expected another task, or marginal")
    if recipe.soft_labels != "posterior":
        raise PlanError(f"found `incomplete=posterior` with `soft_labels={recipe.soft_labels}`, expected posterior")


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
