"""A parser guided by one of another guideline: Model 1 of jiang-2015 (4.2), for trees.

The guide has not seen the training text, so it parses it like new text; its tree gives features
(`features/arc_templates.py`). A known tree of the guide's guideline replaces the guide's, so that the model can
convert treebanks (`conversion/trees.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import SILENT, Run
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import guided
from tagweave.training.guided import check_guidelines
from tagweave.training.parsing import FittedParser, ParserRecipe, fit_parser, usual_templates


def fit_guided_parser(
    corpora: Sequence[Corpus],
    guide: TreeModel,
    recipe: ParserRecipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> FittedParser:
    """Fit a parser whose features include the tree of a guide; the model contains the guide.

    A head layer of the guide's guideline is ignored in training and development data: a model that learned from gold
    trees would trust its guide too much. A sentence that has a layer `guide_layer(guideline)` keeps it (such as trees
    of a jackknifed guide, or gold trees for a model that only converts).

    Args:
        corpora: corpora of the target guideline, which names the head layer.
        guide: a parser of another guideline, trained on other text.
        recipe: how to fit; its templates, or the default ones, are joined to the path through the guide's tree.
        dev, run: as `fit_parser`.

    Raises:
        CorpusError: as `fit_parser`; corpora of the guide's guideline; text without the tags that the guide uses.
        TrainingError: the learner diverged.
    """
    check_guidelines(corpora, guide.guideline)
    templates = recipe.templates or usual_templates(
        *(corpus.sentences for corpus in corpora), siblings=recipe.projective
    )
    recipe = replace(recipe, templates=templates.with_guide(guide.guideline))
    shown = [_shown(corpus, guide, recipe.threads) for corpus in corpora]
    fitted = fit_parser(shown, recipe, dev and _shown(dev, guide, recipe.threads), run)
    return replace(fitted, model=replace(fitted.model, guide=guide))


def _shown(corpus: Corpus, guide: TreeModel, threads: int) -> Corpus:
    """The corpus with the trees of the guide in place of its own of that guideline."""
    return corpus.with_sentences(guided([_without(each, guide.guideline) for each in corpus], guide, threads))


def _without(sentence: Sentence, layer: str) -> Sentence:
    return replace(sentence, heads={name: each for name, each in sentence.heads.items() if name != layer})
