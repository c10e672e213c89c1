"""Corpora of two guidelines, one model of the target guideline: the rivals of the coupled CRF (li-2015, section 5).

| system | what becomes of the source corpora |
|---|---|
| two-stage CRF (`fit_stages`, `fit_guided`) | they train a guide, whose labels are features of the target model |
| merging (`merged`) | their labels are taken for labels of the target guideline |

The two-stage CRF is that of Jiang et al. 2009: li-2015, 5.2; sun-wan-2012, 4.3; Model 1 of jiang-2015, 4.2. Its guide
has never seen the training text of the target, so it labels it as it will label new text. Where it has seen it, the
labels come from `jackknifed` instead.
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
from tagweave.models.guide import GuidedEncoder, guide_templates
from tagweave.models.tagger import Tagger
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
    """Both stages: a guide from the source corpora, then the target model, which it guides.

    Each stage has a checkpoint of its own. That of the first stays until the second has ended, so that a run resumed at
    any moment has the same guide.

    Args:
        target_corpora: of the guideline that is wanted.
        source_corpora: of another one, over the same kind of tokens.
        recipe: how; its templates serve both stages, its sample the target corpora alone.
        dev: development data of the target guideline, on which the best iteration of the second stage is chosen.
        run: when each stage stops, checkpoints, and who is told.
        source_dev: development data of the source guideline, for the first stage.

    Raises:
        CorpusError: as `fit`; or the guidelines are the same.
        TrainingError: the learner diverged.
        KeyboardInterrupt: the user stopped the first stage: there is no model of the target guideline yet.
    """
    check_guidelines(target_corpora, source_corpora[0].guideline if source_corpora else "")
    first = run.part("source")
    source = fit(source_corpora, replace(recipe, sample=()), source_dev, first)
    if source.outcome.interrupted:
        raise KeyboardInterrupt
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
    """Encode corpora with the labels of a guide among their features, and lay the model's weights out.

    A sentence that has the column (see `jackknifed`) keeps it. A layer of the guide's guideline is not looked at, in
    training and development data alike: a model that learned from gold labels would trust too much in those of its
    guide (sun-wan-2012, section 5). It is when sentences are tagged that such a layer counts.

    Args:
        corpora: of the target guideline.
        guide: a model of another guideline, trained on other text.
        recipe: how; `guide_templates` are added to its templates.

    Raises:
        CorpusError: as `fit`; corpora of the guide's guideline; a guide of words where the task needs characters, or
            the reverse.
    """
    source = _guideline(guide)
    check_guidelines(corpora, source)
    if bool(guide.coding) != recipe.task.of_characters:
        found, expected = ("characters", "words") if guide.coding else ("words", "characters")
        raise CorpusError(f"a guide of {found}", f"one of {expected}, for the task {recipe.task.name}")
    recipe = with_guide(recipe, source)
    encoder = GuidedEncoder(recipe.encoder(), guide)
    return prepare([_without(corpus, source) for corpus in corpora], recipe, encoder=encoder)


def with_guide(recipe: Recipe, guideline: str) -> Recipe:
    """The recipe with templates that look at the labels of a guide of this guideline, beside its own."""
    own = recipe.chosen_templates()
    texts = (*own.texts, *guide_templates(guideline, own if recipe.joins_guide() else None))
    return replace(recipe, templates=Templates(tuple(dict.fromkeys(texts))))


def merged(target_corpora: Sequence[Corpus], source_corpora: Sequence[Corpus]) -> list[Corpus]:
    """All corpora as if they had been annotated under the target guideline: what an ordinary `fit` makes of both.

    The naive rival. Labels of the source that the target lacks become labels of the model, which may give them to any
    text; labels of one name are taken for one, whatever they mean. jiang-2015 (Tables 8 and 9) finds it worse than the
    target corpora alone. The recipe's `sample` can keep a large source from outvoting the target (li-2015, 3.3).

    Raises:
        CorpusError: no target corpora.
    """
    if not target_corpora:
        raise CorpusError("no corpus", "training data of the target guideline")
    return [*target_corpora, *(_relabelled(corpus, target_corpora[0].guideline) for corpus in source_corpora)]


def _relabelled(corpus: Corpus, guideline: str) -> Corpus:
    """The corpus under another guideline: its layer, of labels or heads, takes the place of that guideline's."""

    def renamed(layers: Mapping[str, _Layer]) -> dict[str, _Layer]:
        others = {name: layer for name, layer in layers.items() if name not in (corpus.guideline, guideline)}
        return {**others, guideline: layers[corpus.guideline]} if corpus.guideline in layers else others

    def step(sentence: Sentence) -> Sentence:
        return replace(sentence, layers=renamed(sentence.layers), heads=renamed(sentence.heads))

    return replace(corpus.map(step), guideline=guideline)


def _without(corpus: Corpus, layer: str) -> Corpus:
    """The corpus without a layer."""

    def step(sentence: Sentence) -> Sentence:
        if layer not in sentence.layers:
            return sentence
        return replace(sentence, layers={name: each for name, each in sentence.layers.items() if name != layer})

    return corpus.map(step)


def _guideline(guide: ChainModel) -> str:
    return Tagger(guide).guideline


def check_guidelines(corpora: Sequence[Corpus], source: str) -> None:
    """Refuse a guide that tells of the labels that are to be learned."""
    for corpus in corpora:
        if corpus.guideline == source:
            expected = "another guideline than that of the source (corpora can be named: NAME=FILE)"
            raise CorpusError(f"a target corpus of the guideline {source!r}", expected, corpus.path)
