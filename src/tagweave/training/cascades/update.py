"""Going on: a model learns from new text, and keeps what it knows, without the text that it was trained on.

Training starts from the weights of the model, whose features and labels others join, and stays near weights that much
text has taught (`learning.staying_near`). Wherever the annotation of the new text is silent, what the model believes of
it is evidence: its probabilities under the annotation, in which labels that it does not know are `O`. So a corpus in
which only one new type is marked teaches that type, and the others stay what they are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import documents
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import PlanError
from tagweave.evidence.layers import check_covered
from tagweave.features.arc_templates import lacking, with_columns
from tagweave.labels.space import LabelSpace, collect_names, is_wildcard
from tagweave.labels.spans import span_types
from tagweave.labels.transition_scheme import codes_spans
from tagweave.learning.run import SILENT, Run
from tagweave.learning.staying_near import RATE
from tagweave.models.cascades import DocumentEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor, Floats
from tagweave.models.tree import TreeModel
from tagweave.training.cascades.guided import guided_corpus
from tagweave.training.cascades.jackknife import Member, labelled, members
from tagweave.training.cascades.tree_system import count_open, with_believed_heads
from tagweave.training.fit.chain_problem import ChainProblem, prepare_coded, prepare_corpora
from tagweave.training.fit.problem import Fitted, Problem, fit_problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.tree_problem import TreeProblem, relation_names
from tagweave.training.fit.tree_problem import prepare as prepare_trees

_LIKELY = 0.05  # labels of this probability stay possible where labels that a model does not know are possible, too
_NEGLIGIBLE = 1e-3
_FOLDS = 2


def updated(
    model: ChainModel | TreeModel,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    seed: int = 0,
) -> Fitted:
    """Fit a model that goes on from another one of the same guideline on new corpora.

    Args:
        corpora: of the guideline of the model.
        recipe: that of the model.
        dev: development data: the iteration with the best score on it is kept.
        seed: of the folds, for models whose features look at documents.

    Raises:
        PlanError: a model of several guidelines, or one that cuts text first.
        CorpusError: annotation that no labels of the model satisfy, covered types that neither it nor the text has, or
            no trees.
    """
    check_can_go_on(model)
    if isinstance(model, TreeModel):
        corpora = [_with_inputs(model, corpus, run) for corpus in corpora]
        dev = dev and _with_inputs(model, dev, run)
        if model.guide is not None:
            corpora = [guided_corpus(corpus, model.guide, recipe.threads) for corpus in corpora]
            dev = dev and guided_corpus(dev, model.guide, recipe.threads)
        return _compared(_of_trees(model, corpora, recipe, run), recipe, dev, run)
    if not model.parameters.has_network:
        recipe = replace(recipe, settings={"rate": RATE, **recipe.settings})
    return _compared(_of_labels(model, corpora, recipe, run, seed), recipe, dev, run)


def _compared(problem: Problem, recipe: Recipe, dev: Corpus | None, run: Run) -> Fitted:
    """Fit the problem of an update, and tell the scores on development data before and after it."""
    if dev is None:
        return fit_problem(problem, recipe, None, run)
    evaluate = problem.dev_score(dev, recipe)
    before = evaluate(problem.kept(problem.model.weights))
    fitted = fit_problem(problem, recipe, run=run, evaluate=evaluate)
    if (now := fitted.outcome.score) is not None:  # not interrupted in the first iteration
        run.tell(
            f"warning: on the development data, the model was better before: {before:.4f}, now {now:.4f}"
            if now < before
            else f"on the development data: before {before:.4f}, now {now:.4f}"
        )
    return fitted


def _with_inputs(model: TreeModel, corpus: Corpus, run: Run) -> Corpus:
    """Return a corpus with all columns that a parser looks at, and tell which have no value there."""
    if missing := lacking(corpus.sentences, model.inputs):
        run.tell(f"warning: {corpus.name}: the trees have no {', '.join(missing)}, which the parser looks at")
    return corpus.map(lambda sentence: with_columns(sentence, model.inputs))


def _of_trees(model: TreeModel, corpora: Sequence[Corpus], recipe: Recipe, run: Run) -> TreeProblem:
    """Return the problem of a parser that goes on, whose beliefs stand where heads are open."""
    named = {name for corpus in corpora for name in relation_names(corpus.sentences, corpus.guideline)}
    _tell(run, corpora, sorted(named - {*model.label_names}), sum(map(count_open, corpora)))
    in_numbers = recipe.soft_labels == "posterior" and not recipe.mistake_driven
    annotated = [
        corpus.with_sentences(sentence for sentence in corpus if any(sentence.heads.get(corpus.guideline, ())))
        for corpus in corpora
    ]
    believed = [with_believed_heads(model, corpus, recipe.threads, in_numbers) for corpus in annotated]
    return prepare_trees(believed, recipe, model)


def _of_labels(model: ChainModel, corpora: Sequence[Corpus], recipe: Recipe, run: Run, seed: int) -> ChainProblem:
    """Return the problem of a model of labels that goes on, whose beliefs stand where the annotation is silent."""
    coded = prepare_corpora(corpora, recipe)
    named = [sentence.layers.get(corpus.guideline, ()) for corpus in coded for sentence in corpus]
    names = recipe.task.labels(sorted({*collect_names(named), *model.space.names}))
    for corpus in coded:
        check_covered(corpus.sentences, LabelSpace.plain(corpus.guideline, names), corpus.covered)
    coded = [covering_some(corpus, names) for corpus in coded]
    new = [name for name in names if name not in model.space.names]
    _tell(run, coded, new, sum(count_silent(corpus) for corpus in coded))
    believed = [
        with_beliefs(model, corpus, names, recipe.threads, recipe.soft_labels == "posterior") for corpus in coded
    ]
    start = model
    if isinstance(model.encoder, DocumentEncoder):
        first = model.encoder.guide
        columns = _first_labels(first, corpora, recipe, run, seed)
        believed = [
            corpus.with_sentences(
                sentence.with_column(model.encoder.column, labels)
                for sentence, labels in zip(corpus, corpus_columns, strict=True)
            )
            for corpus, corpus_columns in zip(believed, columns, strict=True)
        ]
        second = updated(first, corpora, recipe, None, run.aside(), seed).finished_model()
        start = replace(model, encoder=DocumentEncoder(model.encoder.encoder, second))
    # of a sentence that is not annotated not even the features count
    annotated = [
        corpus.with_sentences(sentence for sentence in corpus if sentence.is_annotated(corpus.guideline))
        for corpus in believed
    ]
    return prepare_coded(annotated, recipe, names, start=start)


def _tell(run: Run, corpora: Sequence[Corpus], new_labels: Sequence[str], silent: int) -> None:
    """Tell which labels, or types of spans, are new, and at how many tokens the annotation is silent."""
    if new_labels:
        types = span_types(new_labels) if codes_spans(new_labels) else ()
        run.tell(f"new types: {' '.join(types)}" if types else f"new labels: {' '.join(new_labels)}")
    if silent:
        run.tell(
            f"{silent:,} of {sum(corpus.tokens() for corpus in corpora):,} tokens are not annotated: there, what the"
            " model believes is evidence"
        )


def check_can_go_on(model: Any) -> None:
    """Raise PlanError unless training can go on from a model."""
    if isinstance(model, TreeModel):
        return
    if not isinstance(model, ChainModel):
        raise PlanError("found a model of layers of spans to go on from, expected a parser, or a model of labels")
    if len(model.space.views) > 1:
        names = ", ".join(view.guideline for view in model.space.sides)
        raise PlanError(f"found a model of the guidelines {names} to go on from, expected one of one guideline")
    if not model.encoder.can_grow:
        raise PlanError(
            "found a model that cuts text into pieces first to go on from, expected one without another model"
        )


def _first_labels(
    first: ChainModel, corpora: Sequence[Corpus], recipe: Recipe, run: Run, seed: int
) -> list[list[tuple[str, ...]]]:
    """Return what first models say of each sentence, none of which has learned from its document."""
    if sum(1 for corpus in corpora for _ in documents(corpus)) < _FOLDS:
        return [labelled(first, corpus.sentences, recipe.threads) for corpus in corpora]
    columns: list[list[tuple[str, ...]]] = [[()] * len(corpus) for corpus in corpora]
    for fold in members(corpora, _FOLDS, seed, whole_documents=True):
        held_out = set(fold)
        training_corpora = [
            corpus.with_sentences(sentence for s, sentence in enumerate(corpus) if Member(c, s) not in held_out)
            for c, corpus in enumerate(corpora)
        ]
        model = updated(first, [corpus for corpus in training_corpora if len(corpus)], recipe, None, run.aside(), seed)
        sentences = [replace(corpora[c].sentences[s], layers={}, rejected={}) for c, s in fold]
        for (c, s), labels in zip(fold, labelled(model.finished_model(), sentences, recipe.threads), strict=True):
            columns[c][s] = labels
    return columns


def covering_some(coded: Corpus, names: Sequence[str]) -> Corpus:
    """Return a coded corpus that covers all labels where it covers these: its `O` excludes all of them."""
    if coded.covered is None or not {*names} <= {OUTSIDE, *coded.covered}:
        return coded
    return replace(coded, covered=None)


def is_silent(candidates: Candidates, covered: Collection[str] | None) -> bool:
    """Return whether annotation says nothing of a position, or `O` where annotators looked for some types alone."""
    return candidates is None or (covered is not None and OUTSIDE in candidates)


def count_silent(coded: Corpus) -> int:
    """Return at how many positions the annotation of a coded corpus is silent."""
    return sum(
        is_silent(candidates, coded.covered_in(sentence))
        for sentence in coded
        for candidates in sentence.layers.get(coded.guideline, ())
        if any(sentence.layers[coded.guideline])
    )


def with_beliefs(
    model: ChainModel, coded: Corpus, names: Sequence[str], threads: int = 1, in_numbers: bool = True
) -> Corpus:
    """Return a coded corpus in which the beliefs of a model stand wherever the annotation is silent.

    A silent position gets the probabilities of the model's labels, given the annotation. Where labels that the model
    does not know are possible, too, it gets the set of the likely ones, which these join if `O` is among them. A
    sentence of which nothing is said stays as it is.

    Args:
        names: all labels of the model to come.
        in_numbers: whether probabilities stand as numbers of candidates; otherwise, and in sentences with rejected
            spans or a confidence, a set of the likely labels does.
    """
    guideline = coded.guideline
    beliefs = _Beliefs(model.space.views[0].names, names)
    tagger = ChainPredictor(model, threads, in_coding=True)
    asked: dict[int, Sentence] = {}
    for number, sentence in enumerate(coded):
        layer, covered = sentence.layers.get(guideline, ()), coded.covered_in(sentence)
        if any(layer) and any(is_silent(candidates, covered) for candidates in layer):
            evidence = [beliefs.evidence(candidates, covered) for candidates in layer]
            asked[number] = replace(sentence.with_layer(guideline, evidence), covered=None)
    tables = tagger.probabilities(list(asked.values()), guideline)
    sentences = list(coded)
    for number, table in zip(asked, tables, strict=True):
        sentence = sentences[number]
        covered = coded.covered_in(sentence)
        new = {is_known: beliefs.new_labels(covered if is_known else None) for is_known in (True, False)}
        # neither rejected spans nor a confidence go with probabilities
        soft = in_numbers and not (sentence.rejected.get(guideline) or sentence.confidence)
        sentences[number] = sentence.with_layer(
            guideline,
            [
                beliefs.candidates(row, new[candidates is not None], soft)
                if is_silent(candidates, covered)
                else candidates
                for candidates, row in zip(sentence.layers[guideline], table, strict=True)
            ],
        )
    uncovered = (sentence if sentence.covered is None else replace(sentence, covered=None) for sentence in sentences)
    return replace(coded, sentences=tuple(uncovered), covered=None)


class _Beliefs:
    """What annotation tells a model whose labels are among others, and what the model tells of a position."""

    def __init__(self, labels: Sequence[str], names: Sequence[str]) -> None:
        self.labels, self.names = labels, names
        self._numbers = {name: number for number, name in enumerate(labels)}

    def evidence(self, candidates: Candidates, covered: Sequence[str] | None) -> Candidates:
        """Return what annotation says in labels that the model knows: others are `O` to it, if it has an `O`."""
        if candidates is None:
            return None
        if is_silent(candidates, covered):
            return tuple(name for name in self.labels if name not in (covered or ()))
        kept = dict.fromkeys(name for name in candidates if name in self._numbers or is_wildcard(name))
        if len(kept) < len(candidates) and OUTSIDE in self._numbers:
            kept[OUTSIDE] = None
        return tuple(kept) or None

    def new_labels(self, covered: Sequence[str] | None) -> tuple[str, ...]:
        """Return the labels that the model does not know, and that a silent position may have."""
        return tuple(name for name in self.names if name not in self._numbers and name not in (covered or ()))

    def candidates(self, row: Floats, new: tuple[str, ...], in_numbers: bool) -> Candidates:
        """Return the candidates of a silent position: probabilities of the model's labels, and new ones that it may
        have."""
        least = _LIKELY if new or not in_numbers else _NEGLIGIBLE
        chosen = np.flatnonzero(row >= least).tolist() or [int(row.argmax())]
        candidates = tuple(self.labels[number] for number in chosen)
        if new:
            return (*candidates, *new) if OUTSIDE in candidates or OUTSIDE not in self._numbers else candidates
        if not in_numbers or len(chosen) == 1:
            return candidates
        return Soft(candidates, (row[chosen] / row[chosen].sum()).tolist())
