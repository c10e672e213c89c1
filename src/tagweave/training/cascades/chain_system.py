"""The system of chain models (tags, words, both) for annotation adaptation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.chunk_schemes import ends_only
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import in_blocks
from tagweave.corpus.sentence import Candidates as Allowed
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.evidence.layers import allowed_sets
from tagweave.features.encoded import Encoded
from tagweave.labels.coding import SEGMENTATION, as_layer, letters, to_words
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import is_wildcard
from tagweave.models.cascades import guide_column, labels_of, one_label_each
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.guided import with_guide
from tagweave.training.cascades.jackknife import in_characters, labelled
from tagweave.training.cascades.system import KBest, Parallel, System
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import TAGS, segmentation_name

Labels = tuple[str, ...]
Floats = NDArray[np.float64]

_SHOWN = 4000  # sentences with guides that are encoded at a time
_GUIDE = "other"
"""The name of the guide column of transfer models, which are temporary."""


@dataclass(frozen=True)
class ChainSystem(System[Labels]):
    """The system of chain models. An annotation is the labels of a sentence, in the labels of the task.

    A transfer model is an ordinary model with templates over a column of guide labels.
    """

    def transfer_recipe(self) -> Recipe:
        return with_guide(self.recipe, _GUIDE)

    def shown(self, text: Parallel[Labels], guide: Fitted | None = None) -> Corpus:
        """Return the corpus with the column of guides, in the tokens of the task."""
        column = guide_column(_GUIDE if guide is None else guide.model.space.views[0].guideline)
        corpus = in_characters(text.corpus) if self.recipe.task.of_characters else text.corpus
        return corpus.with_sentences(
            sentence.with_column(column, labels) for sentence, labels in zip(corpus, text.guides, strict=True)
        )

    def annotate(self, fitted: Fitted, corpus: Corpus) -> list[Labels]:
        return labelled(fitted.model, self.recipe.task.prepare(corpus).sentences, self.recipe.threads)

    def own_annotations(self, fitted: Fitted, corpus: Corpus) -> list[Labels]:
        """Return the labels of the corpus; if they are ambiguous, the best sequence that they allow."""
        names = fitted.model.space.views[0].number
        prepared = self.recipe.task.prepare(corpus)
        complete = [one_label_each(sentence.layers.get(prepared.guideline), names) for sentence in prepared]
        incomplete = [sentence for sentence, labels in zip(prepared, complete, strict=True) if labels is None]

        def with_known_labels(sentence: Sentence) -> Sentence:
            """Return the sentence without the evidence of positions that allow a label unknown to the model."""
            layer = sentence.layers.get(prepared.guideline, (None,) * len(sentence))
            kept = [
                candidates if candidates and all(label in names or is_wildcard(label) for label in candidates) else None
                for candidates in layer
            ]
            return sentence.with_layer(prepared.guideline, kept)

        completed = iter(
            ChainPredictor(fitted.model, self.recipe.threads).complete(
                prepared.with_sentences(map(with_known_labels, incomplete))
            )
        )
        return [labels_of(next(completed), prepared.guideline) if labels is None else labels for labels in complete]

    def candidates(self, transfer: Fitted, text: Parallel[Labels], k: int) -> list[KBest[Labels]]:
        model = transfer.model
        shown = self.recipe.task.prepare(self.shown(text)).sentences
        names = model.space.views[0].names
        encoded = model.encoder.encode(shown, self.recipe.threads)
        results: list[KBest[Labels]] = []
        total = self._total(model, encoded)
        for i in range(len(shown)):
            labels, scores = model.k_best(encoded, i, k)
            named = [tuple(names[label] for label in row) for row in labels.tolist()]
            results.append(KBest(named, np.asarray(scores - total[i], np.float64)))
        return results

    def scores(self, transfer: Fitted, corpus: Corpus, guides: Sequence[Sequence[Labels]]) -> list[Floats]:
        prepared = self.recipe.task.prepare(corpus)
        shown = [
            sentence.with_column(guide_column(_GUIDE), guide)
            for sentence, sentence_guides in zip(prepared, guides, strict=True)
            for guide in sentence_guides
        ]
        model = transfer.model
        scores = [np.zeros(0)]
        for block in in_blocks(shown, _SHOWN):
            sets = LabelSets(model.space)
            allow = allowed_sets(block, sets, model.parameters.scheme, prepared.covered)
            encoded = model.encoder.encode(block, self.recipe.threads).with_evidence(allow)
            scores.append(self._total(model, encoded, sets.masks) - self._total(model, encoded))
        bounds = np.cumsum([0, *map(len, guides)]).tolist()
        joined = np.concatenate(scores)
        return [joined[first:last] for first, last in pairwise(bounds)]

    def annotated(self, corpus: Corpus, annotations: Sequence[Labels], guideline: str) -> Corpus:
        """Return the text with these labels in place of the layer of its guideline; unknown positions stay unknown."""
        text = in_characters(corpus) if self.recipe.task.of_characters else corpus

        def relabelled(sentence: Sentence, labels: Labels) -> Sentence:
            if self.recipe.task.of_characters:
                return _relabelled_characters(sentence, text, labels)
            layer = _where(_annotation_test(text, sentence), sentence.layers.get(text.guideline), labels)
            return replace(sentence, layers={guideline: layer})

        sentences = map(relabelled, text, annotations)
        return replace(text, sentences=tuple(sentences), guideline=guideline, covered=None)

    def _total(self, model: ChainModel, encoded: Encoded, masks: NDArray[Any] | None = None) -> Floats:
        """float64[S]: log Z of every sentence, or for a perceptron the score of the best sequence."""
        if not self.recipe.mistake_driven:
            return model.marginals(encoded, masks, self.recipe.threads)[1]
        labels = model.best(encoded, masks, self.recipe.threads)
        totals = model.sequence_scores(encoded, np.maximum(labels, 0), self.recipe.threads)
        if (impossible := labels < 0).any():
            totals[np.searchsorted(encoded.sentence_ptr, np.flatnonzero(impossible), side="right") - 1] = -np.inf
        return totals


def _relabelled_characters(sentence: Sentence, corpus: Corpus, labels: Labels) -> Sentence:
    """Words in the layer `segmentation`, their tags in `tag`."""
    words, tags = to_words(sentence.forms, labels)
    spelled = [letter for word in words for letter in letters(len(word))]
    spread = [tag for word, tag in zip(words, tags, strict=True) for _ in word]
    segmentation = sentence.layers.get(segmentation_name(sentence, corpus.guideline))
    layers = {SEGMENTATION: _where(_is_annotated, segmentation, spelled)}
    if any(tags):
        layers[TAGS] = _where(_annotation_test(corpus, sentence), sentence.layers.get(TAGS), spread)
    return replace(sentence, layers=layers)


def _where(is_known: Callable[[Allowed], bool], annotated: Layer | None, labels: Sequence[str]) -> Layer:
    """Return the labels at the positions that a layer annotates; the others are unknown."""
    layer = as_layer(labels)
    if annotated is None:
        return (None,) * len(layer)
    return tuple(label if is_known(candidates) else None for label, candidates in zip(layer, annotated, strict=True))


def _is_annotated(candidates: Allowed) -> bool:
    return candidates is not None and not ends_only(candidates)


def _annotation_test(corpus: Corpus, sentence: Sentence) -> Callable[[Allowed], bool]:
    """Return a test whether a position is annotated; `O` is not if the corpus covers only some labels."""
    if corpus.covered_in(sentence) is None:
        return _is_annotated
    return lambda candidates: _is_annotated(candidates) and OUTSIDE not in (candidates or ())
