"""A parser that is guided by one of another guideline: Model 1 of jiang-2015 (4.2), for trees.

The guide has never seen the training text, so it parses that as it will parse new text; its tree gives features
(`encoding.arc_templates`). Where the tree of the guide's guideline is known, it takes the place of the guide's: so the
model converts treebanks (`conversion/trees.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import SILENT, Run
from tagweave.models.parser import guided
from tagweave.models.tree import TreeModel
from tagweave.training.guided import check_guidelines
from tagweave.training.parsing import FittedParser, ParserRecipe, fit_parser, usual_templates


def fit_guided_parser(
    corpora: Sequence[Corpus],
    guide: TreeModel,
    recipe: ParserRecipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> FittedParser:
    """A parser whose features include the tree of a guide; the model has the guide within it.

    A head layer of the guide's guideline is not looked at, in training and development data alike: a model that learned
    from gold trees would trust too much in those of its guide. A sentence that has a layer `guide_layer(guideline)`
    keeps it (trees of a jackknifed guide, say; or gold trees, for a model that is to convert a treebank alone).

    Args:
        corpora: of the guideline that is wanted; its name is that of the head layer.
        guide: a parser of another guideline, trained on other text.
        recipe: how; its templates, or the usual ones, are joined to the path through the guide's tree.
        dev, run: as `fit_parser`.

    Raises:
        CorpusError: as `fit_parser`; corpora of the guide's guideline; text without the tags that the guide looks at.
        TrainingError: the learner diverged.
    """
    check_guidelines(corpora, guide.guideline)
    templates = recipe.templates or usual_templates(*(corpus.sentences for corpus in corpora))
    recipe = replace(recipe, templates=templates.with_guide(guide.guideline))
    shown = [_shown(corpus, guide, recipe.threads) for corpus in corpora]
    fitted = fit_parser(shown, recipe, dev and _shown(dev, guide, recipe.threads), run)
    return replace(fitted, model=replace(fitted.model, guide=guide))


def _shown(corpus: Corpus, guide: TreeModel, threads: int) -> Corpus:
    """The corpus with the trees of the guide, whatever it says of that guideline itself."""
    return corpus.with_sentences(guided([_without(each, guide.guideline) for each in corpus], guide, threads))


def _without(sentence: Sentence, layer: str) -> Sentence:
    return replace(sentence, heads={name: each for name, each in sentence.heads.items() if name != layer})
