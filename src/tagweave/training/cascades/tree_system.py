"""The system of parsers for annotation adaptation, and trees with probabilities as its training data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, ArcCandidates, HeadLayer, Sentence
from tagweave.evidence.trees import ANY, only_head
from tagweave.features.arc_templates import guide_layer
from tagweave.features.encoded_arcs import EncodedArcs
from tagweave.models.tree import TreeModel, TreePredictor
from tagweave.training.cascades.guided import shared_templates
from tagweave.training.cascades.system import KBest, Parallel, System
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.tree_problem import projectivised

_LEAST = 0.001
"""Heads that are less likely are no candidates."""
_LIKELY = 0.05  # as `_LEAST`, where candidates have no numbers


def with_probabilities(tree: HeadLayer, probabilities: NDArray[Any], least: float = _LEAST) -> HeadLayer:
    """Return the heads of a tree and all others that are likely enough, with their probabilities [(L + 1)^2].

    The heads of the tree are always candidates, so that there is a tree among these. A layer with an unknown head is
    returned as it is.
    """
    if not all(tree):
        return tree
    layer: list[ArcCandidates] = []
    for candidates, row in zip(tree, probabilities.reshape(len(tree) + 1, -1).T[1:], strict=True):
        (arc,) = candidates or ()
        head = arc.head or 0
        rivals = [head_number for head_number in np.flatnonzero(row >= least).tolist() if head_number != head]
        numbers = np.maximum(row[[head, *rivals]].astype(np.float64), _LEAST)
        soft = Soft((arc, *(Arc(rival, None) for rival in rivals)), (numbers / numbers.sum()).tolist())
        layer.append(soft if rivals else candidates)
    return tuple(layer)


def count_open(corpus: Corpus) -> int:
    """Return how many tokens of annotated sentences have no annotated head."""
    return sum(_count_open(sentence, corpus.guideline) for sentence in corpus)


def _count_open(sentence: Sentence, layer: str) -> int:
    heads = sentence.heads.get(layer, ())
    return sum(only_head(candidates) == ANY for candidates in heads) if any(heads) else 0


def with_believed_heads(model: TreeModel, corpus: Corpus, threads: int = 1, in_numbers: bool = True) -> Corpus:
    """Return a corpus in which the beliefs of a parser stand where the annotation of a sentence leaves heads open.

    All tokens of the sentence get their likely heads given the annotation, the likeliest with its relation. A sentence
    of which nothing is said, or that no tree of the parser fits, stays as it is.

    Args:
        in_numbers: whether heads have their probabilities, unless some are uncertain; otherwise they are a set.
    """
    layer, parser = corpus.guideline, TreePredictor(model, threads)
    sentences = list(corpus)
    asked = [number for number, s in enumerate(sentences) if _count_open(s, layer)]
    partial: Sequence[Sentence] = [sentences[number] for number in asked]
    if model.projective:
        partial, _ = projectivised(partial, layer)
    encoded = parser.encode(partial, layer)
    heads = model.best(encoded, True, threads)
    fits = np.logical_and.reduceat(np.append(heads >= 0, True), encoded.token_ptr[:-1])
    kept = np.flatnonzero(fits)
    encoded, heads = encoded.take(kept), heads[np.repeat(fits, encoded.lengths)]
    probabilities, _ = model.marginals(encoded, True, threads)
    tables = (probabilities[first:last] for first, last in pairwise(encoded.evidence.cells.tolist()))
    trees = parser.with_arcs([partial[at] for at in kept.tolist()], encoded, heads, layer)
    for at, tree, table in zip(kept.tolist(), trees, tables, strict=True):
        if in_numbers and all(confidence == 1 for confidence in tree.confidence or ()):
            likely = with_probabilities(tree.heads[layer], table)
        else:
            likely = tuple(tuple(arcs or ()) for arcs in with_probabilities(tree.heads[layer], table, _LIKELY))
        sentences[asked[at]] = tree.with_heads(layer, likely)
    return corpus.with_sentences(sentences)


Tree = tuple[Arc, ...]
Floats = NDArray[np.float64]

_GUIDE = "other"
"""The name of the guideline of guiding trees in transfer models, which are temporary."""


@dataclass(frozen=True)
class TreeSystem(System[Tree]):
    """The system of parsers. An annotation is the tree of a sentence, an arc for every token.

    A transfer model is a parser whose features include the path through another tree. Heads are scored, and they
    determine the trees; relations are added afterwards.
    """

    def __post_init__(self) -> None:
        if self.recipe.templates is None:
            raise ValueError("found a recipe without templates, expected those that all models of an adaptation share")

    def transfer_recipe(self) -> Recipe:
        return replace(self.recipe, templates=shared_templates(self.recipe, ()).with_guide(_GUIDE))

    def shown(self, text: Parallel[Tree], guide: Fitted | None = None) -> Corpus:
        layer = guide_layer(_GUIDE if guide is None else guide.model.guideline)
        return text.corpus.with_sentences(map(partial(_guided, layer=layer), text.corpus, text.guides))

    def annotate(self, fitted: Fitted, corpus: Corpus) -> list[Tree]:
        return _trees(self._parser(fitted).parse(corpus), fitted.model.guideline)

    def own_annotations(self, fitted: Fitted, corpus: Corpus) -> list[Tree]:
        """Return the trees of the corpus; if they are ambiguous, the best that they allow."""
        return _trees(self._parser(fitted).complete(corpus, corpus.guideline), corpus.guideline)

    def candidates(self, transfer: Fitted, text: Parallel[Tree], k: int) -> list[KBest[Tree]]:
        parser = self._parser(transfer)
        shown = self.shown(text).sentences
        encoded = parser.encode(shown)
        best = list(transfer.model.k_best(encoded, k))
        sentence_numbers = np.repeat(np.arange(len(best)), [len(scores) for _, scores in best])
        heads = np.concatenate([np.zeros(0, np.int32), *(heads.reshape(-1) for heads, _ in best)])
        repeated = [shown[i] for i in sentence_numbers.tolist()]
        arcs = parser.with_arcs(repeated, encoded.take(sentence_numbers), heads)
        trees = iter(_trees(arcs, transfer.model.guideline))
        totals = self._totals(transfer.model, encoded)
        return [
            KBest([next(trees) for _ in scores], scores - total)
            for (_, scores), total in zip(best, totals, strict=True)
        ]

    def scores(self, transfer: Fitted, corpus: Corpus, guides: Sequence[Sequence[Tree]]) -> list[Floats]:
        """See `System.scores`. Trees are made projective as in training."""
        sentences: Sequence[Sentence] = corpus.sentences
        if self.recipe.projective:
            sentences, _ = projectivised(sentences, corpus.guideline)
        shown = [
            _guided(sentence, guide)
            for sentence, sentence_guides in zip(sentences, guides, strict=True)
            for guide in sentence_guides
        ]
        encoded = self._parser(transfer).encode(shown, corpus.guideline)
        scores = self._totals(transfer.model, encoded, True) - self._totals(transfer.model, encoded)
        return [scores[first:last] for first, last in pairwise(np.cumsum([0, *map(len, guides)]).tolist())]

    def annotated(self, corpus: Corpus, annotations: Sequence[Tree], guideline: str) -> Corpus:
        """Return the text with these trees as its only head layer; unknown heads stay unknown."""
        sentences = []
        for sentence, tree in zip(corpus, annotations, strict=True):
            heads = sentence.heads.get(corpus.guideline, (None,) * len(tree))
            layer = tuple(None if candidates is None else (arc,) for arc, candidates in zip(tree, heads, strict=True))
            sentences.append(replace(sentence, heads={guideline: layer}))
        return replace(corpus, sentences=tuple(sentences), guideline=guideline)

    def relabelled(self, transfer: Fitted, text: Parallel[Tree], guideline: str) -> Corpus:
        """Return the text with the probabilities of heads under the transfer model.

        Relations come from its best tree; an unlikely head has none. For a perceptron, and in sentences in
        which some head is unknown, the best tree is the annotation.
        """
        best = self.annotated(text.corpus, self.transform(transfer, text), guideline)
        if self.recipe.mistake_driven:
            return best
        encoded = self._parser(transfer).encode(self.shown(text).sentences)
        probabilities = transfer.model.marginals(encoded, threads=self.recipe.threads)[0]
        cells = encoded.evidence.cells
        tables = (probabilities[first:last] for first, last in pairwise(cells.tolist()))
        return best.with_sentences(
            replace(sentence, heads={guideline: with_probabilities(sentence.heads[guideline], table)})
            for sentence, table in zip(best, tables, strict=True)
        )

    def _parser(self, fitted: Fitted) -> TreePredictor:
        return TreePredictor(fitted.model, self.recipe.threads)

    def _totals(self, model: TreeModel, encoded: EncodedArcs, evidence: bool = False) -> Floats:
        """float64[S]: log Z of every sentence, or for a perceptron the score of the best tree."""
        threads = self.recipe.threads
        if not self.recipe.mistake_driven:
            return model.marginals(encoded, evidence, threads)[1]
        return model.tree_scores(encoded, model.best(encoded, evidence, threads), threads)


def _guided(sentence: Sentence, guide: Tree, layer: str = guide_layer(_GUIDE)) -> Sentence:
    return replace(sentence, heads={**sentence.heads, layer: tuple((arc,) for arc in guide)})


def _trees(sentences: Iterable[Sentence], layer: str) -> list[Tree]:
    """Return the arcs of head layers in which every token has one."""
    return [tuple(candidates[0] for candidates in s.heads[layer] if candidates) for s in sentences]
