"""Trains a model of one guideline on corpora of two: the alternatives to the coupled CRF (li-2015, section 5).

| system | use of the source corpora |
|---|---|
| two stages (`fit_stages`, `fit_guided`) | they train a guide, whose annotation gives features to the target model |
| merging (`merged`) | their annotation counts as annotation of the target guideline |

The two-stage CRF is by Jiang et al. 2009: li-2015, 5.2; sun-wan-2012, 4.3; Model 1 of jiang-2015, 4.2, for trees,
too. Its guide has not seen the training text of the target, so it labels it like new text. If it has seen it, the
labels must come from `jackknifed` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.templates import Templates
from tagweave.learning.run import SILENT, Run
from tagweave.models.cascades import GuidedEncoder, guide_templates
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.tree import TreeModel, guided
from tagweave.training.fit.chain_problem import ChainProblem
from tagweave.training.fit.chain_problem import prepare as prepare_chains
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.tree_problem import TreeProblem, usual_templates
from tagweave.training.fit.tree_problem import prepare as prepare_trees

_Layer = TypeVar("_Layer")
_EPOCHS = 4
"""Of a guide that is trained quickly."""


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
        dev: development data of the target guideline, which select the best iteration of the second stage.

    Raises:
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
    guide: ChainModel | TreeModel,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> Fitted:
    """Return the second stage: a model of the target guideline whose features include the annotation of a guide.

    The model contains the guide.
    """
    problem = prepare_guided(target_corpora, guide, recipe)
    return fit_problem(
        problem, guided_recipe(recipe, target_corpora, guide), dev and guided_corpus(dev, guide, recipe.threads), run
    )


def fit_quickly(
    target_corpora: Sequence[Corpus],
    source_corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None,
    runs: tuple[Run, Run],
) -> Fitted:
    """Fit both stages as a part of another model: a guide in few epochs, as its corpora are large.

    Their `runs`, of the source and of the target, have checkpoints, which stay, so that a resumed fit has the same
    models. Remove them after the fit of the whole.
    """
    schedule = runs[0].schedule
    recipe = replace(recipe, sample=())
    short = replace(schedule, iterations=min(schedule.iterations or _EPOCHS, _EPOCHS))
    guide = fit(source_corpora, replace(recipe, average_seeds=1), run=replace(runs[0], schedule=short)).finished_model()
    return fit_guided(target_corpora, guide, recipe, dev, runs[1])


def prepare_guided(
    corpora: Sequence[Corpus], guide: ChainModel | TreeModel, recipe: Recipe
) -> ChainProblem | TreeProblem:
    """Make the problem of corpora with the annotation of a guide among their features.

    A sentence that has the guide's column (`guide_column`) or head layer (`guide_layer`) keeps it, such as labels from
    `jackknifed`. A layer of the guide's guideline is ignored in training and development data: a model that learned
    from gold annotation would trust its guide too much (sun-wan-2012, section 5). Such a layer counts only in use.
    """
    check_guidelines(corpora, _guideline(guide))
    if isinstance(guide, TreeModel):
        recipe = guided_recipe(recipe, corpora, guide)
        trees = prepare_trees([guided_corpus(corpus, guide, recipe.threads) for corpus in corpora], recipe)
        return replace(trees, model=replace(trees.model, guide=guide))
    if guide.of_characters != recipe.task.of_characters:
        unit, expected = ("characters", "words") if guide.of_characters else ("words", "characters")
        raise CorpusError(f"a guide of {unit}", f"one of {expected}, for the task {recipe.task.name}")
    recipe = guided_recipe(recipe, corpora, guide)
    encoder = GuidedEncoder(recipe.encoder(), guide)
    shown = [guided_corpus(corpus, guide, recipe.threads) for corpus in corpora]
    return prepare_chains(shown, recipe, encoder=encoder)


def guided_recipe(recipe: Recipe, corpora: Sequence[Corpus], guide: ChainModel | TreeModel) -> Recipe:
    """Return the recipe with templates over the annotation of a guide added to its own, or to the default ones."""
    if isinstance(guide, TreeModel):
        return replace(recipe, templates=shared_templates(recipe, corpora).with_guide(guide.guideline))
    return with_guide(recipe, _guideline(guide))


def shared_templates(recipe: Recipe, corpora: Sequence[Corpus]) -> ArcTemplates:
    """Return the templates of a parser's recipe, by default those over layers and columns of all corpora."""
    assert recipe.templates is None or isinstance(recipe.templates, ArcTemplates)  # noqa: S101 - the task is `parse`
    usual = (corpus.sentences for corpus in corpora)
    return recipe.templates or usual_templates(*usual, siblings=recipe.projective, clusters=recipe.lookups.has_clusters)


def with_guide(recipe: Recipe, guideline: str) -> Recipe:
    """Return the recipe with templates over the labels of a guide added to its own."""
    templates = recipe.chosen_templates()
    texts = (*templates.texts, *guide_templates(guideline, templates if recipe.joins_guide() else None))
    return replace(recipe, templates=Templates(tuple(dict.fromkeys(texts))))


def merged(target_corpora: Sequence[Corpus], source_corpora: Sequence[Corpus]) -> list[Corpus]:
    """Return all corpora as if they had been annotated under the target guideline, for an ordinary `fit`.

    This is the naive baseline. Labels that only the source has become labels of the model, which may predict them for
    any text; labels with the same name count as one. jiang-2015 (Tables 8 and 9) finds it worse than the target corpora
    alone. The recipe's `sample` can keep a large source from outvoting the target (li-2015, 3.3).
    """
    if not target_corpora:
        raise CorpusError("no corpus", "training data of the target guideline")
    return [*target_corpora, *(_relabelled(corpus, target_corpora[0].guideline) for corpus in source_corpora)]


def _relabelled(corpus: Corpus, guideline: str) -> Corpus:
    """Return the corpus under another guideline: its layer of labels or heads replaces that guideline's."""

    def renamed(layers: Mapping[str, _Layer]) -> dict[str, _Layer]:
        kept = {name: layer for name, layer in layers.items() if name not in (corpus.guideline, guideline)}
        return {**kept, guideline: layers[corpus.guideline]} if corpus.guideline in layers else kept

    def step(sentence: Sentence) -> Sentence:
        layers, heads, rejected = sentence.layers, sentence.heads, sentence.rejected
        return replace(sentence, layers=renamed(layers), heads=renamed(heads), rejected=renamed(rejected))

    return replace(corpus.map(step), guideline=guideline)


def guided_corpus(corpus: Corpus, guide: ChainModel | TreeModel, threads: int) -> Corpus:
    """Return the corpus without the guide's guideline; trees of the guide replace its own."""
    name = _guideline(guide)
    if isinstance(guide, TreeModel):
        bare = [replace(sentence, heads=_without(sentence.heads, name)) for sentence in corpus]
        return corpus.with_sentences(guided(bare, guide, threads))
    return corpus.map(
        lambda sentence: (
            replace(sentence, layers=_without(sentence.layers, name)) if name in sentence.layers else sentence
        )
    )


def _without(layers: Mapping[str, _Layer], name: str) -> dict[str, _Layer]:
    return {guideline: layer for guideline, layer in layers.items() if guideline != name}


def _guideline(guide: ChainModel | TreeModel) -> str:
    return guide.guideline if isinstance(guide, TreeModel) else ChainPredictor(guide).guideline


def check_guidelines(corpora: Sequence[Corpus], source: str) -> None:
    """Refuse a guide of the target guideline."""
    for corpus in corpora:
        if corpus.guideline == source:
            expected = "another guideline than that of the source (corpora can be named: NAME=FILE)"
            raise CorpusError(f"a target corpus of the guideline {source!r}", expected, corpus.path)
