"""The system of parsers for annotation adaptation: see `training/system.py`.

A model is a `FittedParser`; the annotation of a sentence is its tree, an arc for every token. A transfer model is a
parser whose features include the path through another tree, which is gold or another model's. Scores are those of
heads, which determine the trees; relations are added afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, HeadLayer, Sentence
from tagweave.features.arc_templates import guide_layer
from tagweave.features.arcs import EncodedArcs
from tagweave.learning.run import SILENT, Run
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import TreePredictor
from tagweave.training.guided_parsing import fit_guided_parser
from tagweave.training.parsing import DevScore, FittedParser, ParserRecipe, fit_parser
from tagweave.training.projectivity import projectivised
from tagweave.training.recipe import MISTAKE_DRIVEN
from tagweave.training.soft_tree import with_probabilities
from tagweave.training.system import KBest, Parallel, Step

Tree = tuple[Arc, ...]
Floats = NDArray[np.float64]

_GUIDE = "other"
"""The name of the guideline of guiding trees in transfer models, which are temporary."""


@dataclass(frozen=True)
class TreeSystem:
    """The system of parsers.

    Attributes:
        recipe: the recipe of every model. Its templates must use only layers and columns of all corpora, such as the
            `usual_templates` of all of them.
        run: the run; each fit is the part `step-NUMBER` of it.

    Raises:
        ValueError: a recipe without templates.
    """

    recipe: ParserRecipe
    run: Run = SILENT

    def __post_init__(self) -> None:
        if self.recipe.templates is None:
            raise ValueError("found a recipe without templates, expected those that all models of an adaptation share")

    def train(self, corpora: Sequence[Corpus], dev: Corpus | None, step: Step) -> FittedParser:
        """An ordinary fit. Raises as `fit_parser`, and KeyboardInterrupt if the user stopped a step before the last."""
        return self._fit(corpora, self.recipe, dev, step)

    def train_transfer(
        self, parallel: Sequence[Parallel[Tree]], dev: Parallel[Tree] | None, step: Step
    ) -> FittedParser:
        """A fit with guide features. Raises as `train`."""
        recipe = replace(self.recipe, templates=self.recipe.templates and self.recipe.templates.with_guide(_GUIDE))
        return self._fit([*map(_shown, parallel)], recipe, dev and _shown(dev), step)

    def train_guided(
        self, guide: FittedParser, parallel: Sequence[Parallel[Tree]], dev: Parallel[Tree] | None, step: Step
    ) -> FittedParser:
        """A guided parser (`fit_guided_parser`); in training, these trees replace those of its guide. Raises as
        `train`."""
        layer = guide_layer(guide.model.guideline)
        shown, shown_dev = [_shown(each, layer) for each in parallel], dev and _shown(dev, layer)
        return fit_guided_parser(shown, guide.model, self.recipe, shown_dev, self._part(step))

    def annotate(self, model: FittedParser, corpus: Corpus) -> list[Tree]:
        """The trees of the text."""
        return _trees(self._parser(model).parse(corpus), model.model.guideline)

    def given(self, model: FittedParser, corpus: Corpus) -> list[Tree]:
        """The trees of the corpus; if they are ambiguous, the best that they allow. Raises as `complete`."""
        return _trees(self._parser(model).complete(corpus, corpus.guideline), corpus.guideline)

    def transform(self, transfer: FittedParser, text: Parallel[Tree]) -> list[Tree]:
        """The trees of the text under the transfer model's guideline."""
        return self.annotate(transfer, _shown(text))

    def candidates(self, transfer: FittedParser, text: Parallel[Tree], k: int) -> list[KBest[Tree]]:
        """The k best trees; scores are log probabilities, or for a perceptron distances from the best."""
        parser, shown = self._parser(transfer), _shown(text).sentences
        encoded = parser.encode(shown)
        best = list(transfer.model.k_best(encoded, k))
        of_sentence = np.repeat(np.arange(len(best)), [len(scores) for _, scores in best])
        heads = np.concatenate([np.zeros(0, np.int32), *(each.reshape(-1) for each, _ in best)])
        repeated = [shown[i] for i in of_sentence.tolist()]
        arcs = parser.with_arcs(repeated, encoded.take(of_sentence), heads)
        trees = iter(_trees(arcs, transfer.model.guideline))
        totals = self._totals(transfer.model, encoded)
        return [
            KBest([next(trees) for _ in scores], scores - total)
            for (_, scores), total in zip(best, totals, strict=True)
        ]

    def scores(self, transfer: FittedParser, corpus: Corpus, guides: Sequence[Sequence[Tree]]) -> list[Floats]:
        """log Z(x; trees that the corpus allows) - log Z(x) under each guide; for a perceptron with the best score in
        place of log Z. Trees are made projective as in training; evidence that allows nothing has -inf."""
        own: Sequence[Sentence] = corpus.sentences
        if self.recipe.projective:
            own, _ = projectivised(own, corpus.guideline)
        shown = [_guided(s, guide) for s, each in zip(own, guides, strict=True) for guide in each]
        encoded = self._parser(transfer).encode(shown, corpus.guideline)
        scores = self._totals(transfer.model, encoded, True) - self._totals(transfer.model, encoded)
        return [scores[first:last] for first, last in pairwise(np.cumsum([0, *map(len, guides)]).tolist())]

    def annotated(self, corpus: Corpus, annotations: Sequence[Tree], guideline: str) -> Corpus:
        """The text with these trees as its only head layer; unknown heads stay unknown."""
        pairs = zip(corpus, annotations, strict=True)
        sentences = (replace(s, heads={guideline: _where_known(s.heads.get(corpus.guideline), t)}) for s, t in pairs)
        return replace(corpus, sentences=tuple(sentences), guideline=guideline)

    def relabelled(self, transfer: FittedParser, text: Parallel[Tree], guideline: str) -> Corpus:
        """The text with the probabilities of heads under the transfer model.

        Relations are those of its best tree; what is unlikely as a head has none. For a perceptron, and in sentences in
        which some head is unknown, the best tree is the annotation.
        """
        best = self.annotated(text.corpus, self.transform(transfer, text), guideline)
        if self.recipe.learner in MISTAKE_DRIVEN:
            return best
        encoded = self._parser(transfer).encode(_shown(text).sentences)
        probabilities = transfer.model.marginals(encoded, threads=self.recipe.threads)[0]
        cells = encoded.cells(0, len(encoded))
        tables = (probabilities[first:last] for first, last in pairwise(cells.tolist()))
        return best.with_sentences(
            replace(each, heads={guideline: with_probabilities(each.heads[guideline], table)})
            for each, table in zip(best, tables, strict=True)
        )

    def score(self, model: FittedParser, dev: Corpus) -> float:
        """UAS over all tokens with one known head."""
        return DevScore(model.model, dev, self.recipe.threads)(model.model.weights)

    def _parser(self, fitted: FittedParser) -> TreePredictor:
        return TreePredictor(fitted.model, self.recipe.threads)

    def _part(self, step: Step) -> Run:
        return self.run.part(f"step-{step.number}")

    def _fit(self, corpora: Sequence[Corpus], recipe: ParserRecipe, dev: Corpus | None, step: Step) -> FittedParser:
        fitted = fit_parser(corpora, recipe, dev, self._part(step))
        if fitted.outcome.interrupted and not step.last:
            raise KeyboardInterrupt
        return fitted

    def _totals(self, model: TreeModel, encoded: EncodedArcs, evidence: bool = False) -> Floats:
        """float64[S]: log Z of every sentence, or for a perceptron the score of the best tree."""
        threads = self.recipe.threads
        if self.recipe.learner not in MISTAKE_DRIVEN:
            return model.marginals(encoded, evidence, threads)[1]
        return model.tree_scores(encoded, model.best(encoded, evidence, threads), threads)


def _shown(text: Parallel[Tree], layer: str = guide_layer(_GUIDE)) -> Corpus:
    """The corpus with the guiding trees."""
    return text.corpus.with_sentences(map(partial(_guided, layer=layer), text.corpus, text.guides))


def _guided(sentence: Sentence, guide: Tree, layer: str = guide_layer(_GUIDE)) -> Sentence:
    return replace(sentence, heads={**sentence.heads, layer: tuple((arc,) for arc in guide)})


def _trees(sentences: Iterable[Sentence], layer: str) -> list[Tree]:
    """The arcs of head layers in which every token has one."""
    return [tuple(candidates[0] for candidates in s.heads[layer] if candidates) for s in sentences]


def _where_known(given: HeadLayer | None, tree: Tree) -> HeadLayer:
    if given is None:
        return (None,) * len(tree)
    return tuple((arc,) if candidates is not None else None for arc, candidates in zip(tree, given, strict=True))
