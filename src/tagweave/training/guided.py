"""Trains a model of one guideline on corpora of two: the alternatives to the coupled CRF (li-2015, section 5).

| system | use of the source corpora |
|---|---|
| two-stage CRF (`fit_stages`, `fit_guided`) | they train a guide, whose labels are features of the target model |
| merging (`merged`) | their labels count as labels of the target guideline |

The two-stage CRF is that of Jiang et al. 2009: li-2015, 5.2; sun-wan-2012, 4.3; Model 1 of jiang-2015, 4.2. Its guide
has not seen the training text of the target, so it labels it like new text. If it has seen it, the labels must come
from `jackknifed` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.features.templates import Templates
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.guide import GuidedEncoder, guide_templates
from tagweave.training.fit import Fitted, fit, fit_problem, prepare
from tagweave.training.problem import Problem
from tagweave.training.recipe import Recipe

_Layer = TypeVar("_Layer")


def fit_stages(
    target_corpora: Sequence[Corpus],
    source_corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    source_dev: Corpus | None = None,
) -> Fitted:
    """Fit both stages: a guide on the source corpora, then the target model.

    Each stage has its own checkpoint. That of the first stays until the second has ended, so that a resumed run always
    has the same guide.

    Args:
        target_corpora: corpora of the target guideline.
        source_corpora: corpora of another one, with the same kind of tokens.
        recipe: how to fit; its templates are for both stages, its sample for the target corpora.
        dev: development data of the target guideline, which select the best iteration of the second stage.
        run: the run of both stages.
        source_dev: development data of the source guideline, for the first stage.

    Raises:
        CorpusError: as `fit`; or the guidelines are the same.
        TrainingError: the learner diverged.
        KeyboardInterrupt: the user stopped the first stage: there is no model of the target guideline yet.
    """
    check_guidelines(target_corpora, source_corpora[0].guideline if source_corpora else "")
    first = run.part("source")
    source = fit(source_corpora, replace(recipe, sample=()), source_dev, first)
    source.outcome.check_finished()
    fitted = fit_guided(target_corpora, source.model, recipe, dev, run)
    if not fitted.outcome.interrupted:
        first.finish()
    return fitted


def fit_guided(
    target_corpora: Sequence[Corpus],
    guide: ChainModel,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> Fitted:
    """The second stage: a model of the target guideline whose features include the labels of a guide.

    Arguments and errors are those of `fit` and `prepare_guided`.
    """
    problem = prepare_guided(target_corpora, guide, recipe)
    source = _guideline(guide)
    return fit_problem(problem, with_guide(recipe, source), dev and _without(dev, source), run)


def prepare_guided(corpora: Sequence[Corpus], guide: ChainModel, recipe: Recipe) -> Problem:
    """Encode corpora with the labels of a guide among their features, and lay out the model's weights.

    A sentence that has the column (see `jackknifed`) keeps it. A layer of the guide's guideline is ignored in training
    and development data: a model that learned from gold labels would trust its guide too much (sun-wan-2012, section
    5). Such a layer counts only in tagging.

    Args:
        corpora: corpora of the target guideline.
        guide: a model of another guideline, trained on other text.
        recipe: how to fit; `guide_templates` are added to its templates.

    Raises:
        CorpusError: as `fit`; corpora of the guide's guideline; a guide of words where the task needs characters, or
            the reverse.
    """
    source = _guideline(guide)
    check_guidelines(corpora, source)
    if guide.of_characters != recipe.task.of_characters:
        unit, expected = ("characters", "words") if guide.of_characters else ("words", "characters")
        raise CorpusError(f"a guide of {unit}", f"one of {expected}, for the task {recipe.task.name}")
    recipe = with_guide(recipe, source)
    encoder = GuidedEncoder(recipe.encoder(), guide)
    return prepare([_without(corpus, source) for corpus in corpora], recipe, encoder=encoder)


def with_guide(recipe: Recipe, guideline: str) -> Recipe:
    """The recipe with templates over the labels of a guide added to its own."""
    own = recipe.chosen_templates()
    texts = (*own.texts, *guide_templates(guideline, own if recipe.joins_guide() else None))
    return replace(recipe, templates=Templates(tuple(dict.fromkeys(texts))))


def merged(target_corpora: Sequence[Corpus], source_corpora: Sequence[Corpus]) -> list[Corpus]:
    """All corpora as if they had been annotated under the target guideline, for an ordinary `fit`.

    This is the naive baseline. Labels that only the source has become labels of the model, which may predict them for
    any text; labels with the same name count as one. jiang-2015 (Tables 8 and 9) finds it worse than the target corpora
    alone. The recipe's `sample` can keep a large source from outvoting the target (li-2015, 3.3).

    Raises:
        CorpusError: no target corpora.
    """
    if not target_corpora:
        raise CorpusError("no corpus", "training data of the target guideline")
    return [*target_corpora, *(_relabelled(corpus, target_corpora[0].guideline) for corpus in source_corpora)]


def _relabelled(corpus: Corpus, guideline: str) -> Corpus:
    """The corpus under another guideline: its layer of labels or heads replaces that guideline's."""

    def renamed(layers: Mapping[str, _Layer]) -> dict[str, _Layer]:
        others = {name: layer for name, layer in layers.items() if name not in (corpus.guideline, guideline)}
        return {**others, guideline: layers[corpus.guideline]} if corpus.guideline in layers else others

    def step(sentence: Sentence) -> Sentence:
        layers, heads, rejected = sentence.layers, sentence.heads, sentence.rejected
        return replace(sentence, layers=renamed(layers), heads=renamed(heads), rejected=renamed(rejected))

    return replace(corpus.map(step), guideline=guideline)


def _without(corpus: Corpus, layer: str) -> Corpus:
    """The corpus without a layer."""

    def step(sentence: Sentence) -> Sentence:
        if layer not in sentence.layers:
            return sentence
        return replace(sentence, layers={name: each for name, each in sentence.layers.items() if name != layer})

    return corpus.map(step)


def _guideline(guide: ChainModel) -> str:
    return ChainPredictor(guide).guideline


def check_guidelines(corpora: Sequence[Corpus], source: str) -> None:
    """Refuse a guide of the target guideline."""
    for corpus in corpora:
        if corpus.guideline == source:
            expected = "another guideline than that of the source (corpora can be named: NAME=FILE)"
            raise CorpusError(f"a target corpus of the guideline {source!r}", expected, corpus.path)
