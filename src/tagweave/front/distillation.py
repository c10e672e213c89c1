"""Distillation: what teachers believe of raw text is evidence for one fast model.

Teachers give every token probabilities of labels. Their mean is the posterior of an ordinary training (Hinton et al.
2015, Distilling the knowledge in a neural network; for marginals of chains, Wang et al. 2020, Structure-level knowledge
distillation for multilingual sequence labeling).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.corpus import Corpus, Unit
from tagweave.corpus.load import parse_argument
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import PlanError
from tagweave.features.templates import PRESETS, USUAL, Templates
from tagweave.front.corpora import Given
from tagweave.front.label_model import LabelModel
from tagweave.front.loading import load_model
from tagweave.front.model import Model
from tagweave.front.options import LabelOptions, check_names
from tagweave.front.training import train
from tagweave.front.training_arguments import several
from tagweave.options import taking
from tagweave.streams import Tell, say
from tagweave.streams.inputs import Input
from tagweave.training.cascades.incomplete import with_tables
from tagweave.training.plan import LOOKUPS, STUDENT_OPTIONS

if TYPE_CHECKING:
    from tagweave.models.chain_predictor import ChainPredictor, Floats

Teacher = Model | str | PathLike[str]
_LEAST = 0.01  # smaller probabilities are left out: few tokens have more than two labels then


@taking(STUDENT_OPTIONS)
def distill(
    teachers: Teacher | Sequence[Teacher],
    text: Given | Sequence[Given],
    gold: Given | Sequence[Given] = (),
    dev: Given | None = None,
    *,
    format: str | None = None,  # noqa: A002
    tokens: str | None = None,
    retag: bool = False,
    tell: Tell = say,
    **options: Any,
) -> Model:
    """Train a model on what teachers believe of raw text: `tagweave distill` in Python.

    Args:
        teachers: a model or its file, or several, whose probabilities are averaged.
        text: a file, read as `model.label_file` reads it, or a corpus, or several. Labels that it has are known.
        gold: corpora with labels of the teachers' guideline, to train on as well.
        dev: the corpus that selects the best iteration.
        format: the format of the text, as in `model.label_file`.
        tokens: how the text is cut, as in `model.label_file`.
        retag: ignore labels that the text has.
        tell: receives notes on the text.
        options: fields of `Plan`, and `callback` and `cancel` as for `train`. By default, templates are the
            first teacher's, without lookups in files, or the usual ones of the task.

    Raises:
        PlanError: teachers of different tasks or codings, or options that do not suit them.
        TypeError: an unknown option.
        StreamError: a teacher that is a parser.
        CorpusError, OSError: a text that cannot be read.
    """
    check_names("tw.distill", options, [*(option.name for option in STUDENT_OPTIONS), "callback", "cancel"])
    models = _loaded(teachers)
    first = models[0].chain
    coding = "IOB2" if first.coding == "IOB1" else first.coding  # IOB1 has no numbers of candidates
    settings = LabelOptions(format=format, tokens=tokens, retag=retag)
    labelled = [_named(corpus, models[0]) for corpus in several(gold)]
    if dev is not None:
        dev = _named(several(dev)[0], models[0])
    taught = [_taught(models, corpus, settings, tell) for corpus in several(text)]
    if not options.get("templates") and not any(options.get(name) for name in LOOKUPS):
        options["templates"] = _templates(models[0])
    student = train([*labelled, *taught], dev=dev, task=first.task, coding=coding, method="single", **options)
    about = {**student.about, "teachers": [Path(model.name).name for model in models]}
    student.trained = replace(student.trained, about=about)
    return student


def _loaded(teachers: Teacher | Sequence[Teacher]) -> list[LabelModel]:
    """Return the teachers. Raises unless all have the task and the coding of the first, and a task with marginals."""
    if isinstance(teachers, (Model, str, PathLike)):
        teachers = [teachers]
    models = [teacher if isinstance(teacher, Model) else load_model(teacher) for teacher in teachers]
    if not models:
        raise PlanError("found no teacher, expected a model")
    expected = models[0].chain.task, models[0].chain.coding
    for model in models:
        kind = model.chain.task, model.chain.coding
        if model.chain.task == "segtag":
            raise PlanError(f"{model.name}: found a model of the task segtag, expected one of another task")
        if kind != expected:
            raise PlanError(f"{model.name}: found a model of {' '.join(kind)}, expected {' '.join(expected)}")
    return [model for model in models if isinstance(model, LabelModel)]  # all are: parsers have no chain


def _taught(models: Sequence[LabelModel], text: Corpus | str, settings: LabelOptions, tell: Tell) -> Corpus:
    """Return a text with the mean of the probabilities that models give its labels."""
    guideline = models[0].guidelines[0]
    taggers = [model.under((guideline,) if guideline in model.guidelines else ()) for model in models]
    for model, tagger in zip(models, taggers, strict=True):
        if not {*tagger.labels} & {*taggers[0].labels} - {OUTSIDE}:
            raise PlanError(f"{model.name}: found none of the labels of {models[0].name}, expected one guideline")
    letters = taggers[0].model.coding if taggers[0].model.of_characters else ""
    path, evidence = models[0].evidence_in(text, settings)
    sentences = tuple(
        sentence
        for block in evidence
        for sentence in with_tables(replace(block, guideline=guideline), *mean_probabilities(taggers, block), letters)
        if len(sentence)
    )
    positions = [label for sentence in sentences for layer in sentence.layers.values() for label in layer]
    unsure = sum(len(candidates or ()) > 1 for candidates in positions)
    unit: Unit = "character" if letters else "word"
    size = f"{len(sentences):,} sentences, {len(positions):,} {unit}s"
    tell(f"{path or 'the text'}: {size}, of which {unsure:,} have several probable labels")
    return Corpus(sentences, guideline, unit, path=path)


def mean_probabilities(taggers: Sequence[ChainPredictor], corpus: Corpus) -> tuple[tuple[str, ...], list[Floats]]:
    """Return all labels of taggers, and the mean of the probabilities [L, labels] of each sentence."""
    labels = tuple(dict.fromkeys(label for tagger in taggers for label in tagger.labels))
    total = [np.zeros((len(sentence), len(labels))) for sentence in corpus]
    for tagger in taggers:
        columns = [labels.index(label) for label in tagger.labels]
        tables = tagger.probabilities(corpus.sentences, corpus.guideline, corpus.covered)
        for into, table in zip(total, tables, strict=True):
            into[:, columns] += table
    least = _LEAST * len(taggers)
    kept = [np.where(table < np.minimum(least, table.max(axis=1, keepdims=True)), 0, table) for table in total]
    return labels, [table / table.sum(axis=1, keepdims=True) for table in kept]


def _named(corpus: Corpus | str, model: Model) -> Corpus | str:
    """Return a corpus with the guideline of a model; so a file argument and the layer it learned, if it names none."""
    tagger = model.under()
    if isinstance(corpus, Corpus):
        guideline = corpus.guideline if corpus.guideline in model.guidelines else tagger.guideline
        names = {corpus.guideline: guideline}
        return replace(corpus.map(lambda s: s.with_layers_of(names).renamed(names)), guideline=guideline)
    argument = parse_argument(corpus)
    source = Input(corpus)
    if argument.guideline is not None or argument.layer is not None:
        return corpus
    layer = source.layer((tagger.guideline,), tagger.model.layers(tagger.guideline))
    return f"{tagger.guideline}={corpus}" + (f"#{layer}" if len(source.layers) > 1 else "")


def _templates(model: Model) -> tuple[str, ...]:
    """Return the templates of a model without what it looks up in files; () for the usual ones, or without a plan."""
    parsed = [Templates((text,)) for text in (model.plan.templates if "plan" in model.about else ())]
    with_lookups = [
        templates
        for templates in parsed
        if templates.lexicon_columns or templates.gazetteer_columns or templates.cluster_columns
    ]
    texts = tuple(text for templates in parsed if templates not in with_lookups for text in templates.texts)
    return () if texts == PRESETS[USUAL[model.chain.task]].texts else texts
