"""Jackknifing: labels for the whole training text from models that were not trained on the text they label.

A model that uses the output of another one (stacking: sun-wan-2012, 4.4, "cross-validation"; retraining: 5) must see
the same kind of output in training as later. A model labels its own training text far too well, so the text is cut into
folds, and a model of the other folds labels each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import documents
from tagweave.corpus.sentence import Sentence
from tagweave.errors import PlanError
from tagweave.labels.coding import SEGMENTATION, to_characters
from tagweave.labels.space import collect_names
from tagweave.learning.run import SILENT, Run
from tagweave.models.cascades import guide_column, labels_of
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.chain_problem import prepare_corpora
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.problem import fit_problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import TAGS

Answers = Callable[[ChainModel, Sequence[Sentence], int], Sequence[Any]]
"""From a model, sentences and a number of threads to an answer for every sentence."""

Value = TypeVar("Value")


class Member(NamedTuple):
    """A sentence by the number of its corpus and its number in the corpus."""

    corpus: int
    sentence: int


def labelled(model: ChainModel, sentences: Sequence[Sentence], threads: int = 1) -> list[tuple[str, ...]]:
    """Return the labels of every sentence."""
    tagger = ChainPredictor(model, threads)
    return [labels_of(sentence, tagger.guideline) for sentence in tagger.tag(sentences)]


def jackknifed(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    folds: int = 10,
    seed: int = 0,
    run: Run = SILENT,
    column: str = "",
    answers: Answers = labelled,
    questions: Sequence[Corpus] = (),
    dev: Corpus | None = None,
    whole_documents: bool = False,
) -> list[Corpus]:
    """Return the corpora with a column of answers by models of the other folds, by default labels (`guide:GUIDELINE`).

    Every sentence gets the column, also without annotation; its own annotation has no influence. For tasks of
    characters the result is corpora of characters, from which `Task.prepare` makes the same labels.

    Args:
        folds: the number of folds over all corpora together; 10 in sun-wan-2012.
        whole_documents: whether no document is cut: names are repeated in it, which would make models look better.
        run: the run; it reports every finished fold, but no iterations. Its checkpoint is not used, because the same
            seed gives the same column again.
    """
    coded = prepare_corpora(questions or corpora, recipe)
    names = collect_names(
        [sentence.layers.get(corpus.guideline, ()) for corpus in coded for sentence in corpus] if questions else []
    )
    asked = [[replace(sentence, covered=corpus.covered_in(sentence)) for sentence in corpus] for corpus in coded]
    held_out = members(corpora, folds, seed, whole_documents)
    fields: dict[Member, tuple[str, ...]] = {}
    for number, (fold, values) in enumerate(by_others(corpora, asked, held_out, recipe, answers, run, names, dev), 1):
        fields.update(zip(fold, values, strict=True))
        what = f"what models of {corpora[0].guideline} say of text that they have not seen"
        run.tell(f"{what}: {number} of {folds} folds")
    column = column or guide_column(corpora[0].guideline)
    tokens = [in_characters(corpus) for corpus in corpora] if recipe.task.of_characters else corpora
    return [
        corpus.with_sentences(sentence.with_column(column, fields[Member(c, s)]) for s, sentence in enumerate(corpus))
        for c, corpus in enumerate(tokens)
    ]


def by_others(
    corpora: Sequence[Corpus],
    questions: Sequence[Sequence[Sentence]],
    folds: Sequence[Sequence[Member]],
    recipe: Recipe,
    answers: Answers,
    run: Run,
    names: Sequence[str],
    dev: Corpus | None = None,
) -> Iterator[tuple[Sequence[Member], Sequence[Any]]]:
    """Yield each fold with the answers of a model of all other sentences; as many at a time as the recipe has threads.

    Args:
        questions: each corpus as the model is asked about it.
        names: labels that the models must know even if no corpus names them.
    """

    stopped = Event()
    quiet = replace(run.aside(), cancel=lambda: stopped.is_set() or run.cancel())

    def answered(held_out: Sequence[Member]) -> Sequence[Any]:
        excluded = set(held_out)
        training_corpora = [
            corpus.with_sentences(sentence for s, sentence in enumerate(corpus) if Member(c, s) not in excluded)
            for c, corpus in enumerate(corpora)
        ]
        try:
            quiet.stop_if_cancelled()
            model = fit_problem(prepare(training_corpora, recipe, names), recipe, dev, quiet).finished_model()
        except KeyboardInterrupt:
            stopped.set()
            raise
        return answers(model, [questions[member.corpus][member.sentence] for member in held_out], recipe.threads)

    with ThreadPoolExecutor(recipe.threads) as pool:  # each fold is trained as it would be alone
        try:
            for held_out, values in zip(folds, pool.map(answered, folds), strict=True):
                run.stop_if_cancelled()
                yield held_out, values
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def members(corpora: Sequence[Corpus], folds: int, seed: int, whole_documents: bool = False) -> list[list[Member]]:
    """Return the sentences of every fold, in corpus order: sentences, or documents, are shuffled and dealt out."""
    units: list[list[Member]] = []
    for c, corpus in enumerate(corpora):
        sizes = [len(document) for document in documents(corpus)] if whole_documents else [1] * len(corpus)
        ends = accumulate(sizes)
        units += [[Member(c, s) for s in range(end - size, end)] for size, end in zip(sizes, ends, strict=True)]
    if not 2 <= folds <= len(units):
        what = "documents" if whole_documents else "sentences"
        raise PlanError(f"found {folds} folds, expected 2 to {len(units)}, the number of {what}")
    order = np.random.default_rng(seed).permutation(len(units)).tolist()
    return [[member for at in sorted(order[fold::folds]) for member in units[at]] for fold in range(folds)]


def in_characters(corpus: Corpus) -> Corpus:
    """Return a corpus of words as one of characters: boundaries in the layer `segmentation`, the words' tags in `tag`.

    Unlike the labels of a task, the result can get a column and go through `Task.prepare` afterwards.
    """
    if corpus.unit == "character":
        return corpus

    def step(sentence: Sentence) -> Sentence:
        characters = to_characters(sentence, SEGMENTATION)
        if corpus.guideline in sentence.layers:
            characters = characters.with_layer(TAGS, _spread(sentence.layers[corpus.guideline], sentence))
        if sentence.confidence is None:
            return characters
        return replace(characters, confidence=_spread(sentence.confidence, sentence))

    return replace(corpus.map(step), unit="character")


def _spread(values: Iterable[Value], words: Sentence) -> tuple[Value, ...]:
    return tuple(value for value, form in zip(values, words.forms, strict=True) for _ in form)
