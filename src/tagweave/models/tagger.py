"""A model put to use: sentences in, sentences with labels out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.encoding.encoded import Encoded
from tagweave.encoding.evidence import allowed_sets
from tagweave.kernels.blas import one_blas_thread
from tagweave.labels.coding import as_layer, to_words
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import View
from tagweave.models.chain import ChainModel

Floats = NDArray[Any]

_BLOCK = 2000  # sentences tagged at a time: a stream of any length needs the memory of one block


@dataclass(frozen=True)
class Ranked:
    """One of the best label sequences of a sentence.

    Attributes:
        labels: one a token.
        probability: of the whole sequence.
    """

    labels: tuple[str, ...]
    probability: float


class Tagger:
    """Labels sentences of the model's tokens (characters, for a model of characters).

    Args:
        model: the model.
        threads: how many threads share the work.
    """

    def __init__(self, model: ChainModel, threads: int = 1) -> None:
        self.model, self.threads = model, threads
        self._view = model.structure.space.views[0]
        self.guideline = self._view.guideline

    def tag(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with the best labels in the layer of the model's guideline, in order, block by block.

        Raises:
            CorpusError: a sentence for which the coding of the model's labels has no sequence.
        """
        for block in _blocks(sentences):
            encoded = self.model.encoder.encode(block)
            with one_blas_thread():
                labels = self.model.best(encoded, threads=self.threads)
            yield from self._labelled(block, encoded, labels, self._view, self.guideline)

    def complete(self, corpus: Corpus) -> Corpus:
        """The corpus with what is unknown or ambiguous filled in; what is given is never changed.

        The labels are those of the best sequence that the annotation allows. Where the corpus's guideline is a view of
        the model's labels, they are projected to it, and every layer that is a view is heeded. Nothing is left that the
        corpus does not cover.

        Raises:
            CorpusError: a label that the model does not know, or evidence that no sequence satisfies.
        """
        done: list[Sentence] = []
        views = {view.guideline: view for view in self.model.structure.space.views}
        view = views.get(corpus.guideline, self._view)
        for block in _blocks(corpus.sentences):
            encoded, sets = self._evidence(block, corpus.guideline, corpus.covered)
            with one_blas_thread():
                labels = self.model.best(encoded, sets.masks, self.threads)
            done.extend(self._labelled(block, encoded, labels, view, corpus.guideline))
        return replace(corpus, sentences=tuple(done), covered=None)

    def probabilities(
        self, sentences: Sequence[Sentence], layer: str | None = None, covered: Sequence[str] | None = None
    ) -> list[Floats]:
        """[L, labels] per sentence: the marginal probability of every label (`labels` gives their names).

        With `layer` it is the probability given what this layer allows; `covered` as in `Corpus`.

        Raises:
            CorpusError: as `complete`, of the layer.
        """
        if not sentences:
            return []
        encoded, masks = self._encoded(sentences, layer, covered)
        with one_blas_thread():
            gamma, log_z = self.model.marginals(encoded, masks, self.threads)
        if (impossible := np.flatnonzero(~np.isfinite(log_z))).size:
            raise _contradiction(sentences[int(impossible[0])])
        by_tag = np.zeros((len(gamma), len(self._view.names)), gamma.dtype)
        np.add.at(by_tag.T, self._view.projection, gamma.T)
        return np.split(by_tag, encoded.sentence_ptr[1:-1])

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels."""
        return self._view.names

    def k_best(
        self, sentence: Sentence, k: int, layer: str | None = None, covered: Sequence[str] | None = None
    ) -> list[Ranked]:
        """The k best label sequences of one sentence with their probabilities, the best first.

        With `layer` only sequences that it allows, and their probabilities given that; `covered` as in `Corpus`.

        Raises:
            CorpusError: as `complete`, of the layer.
        """
        encoded, masks = self._encoded([sentence], layer, covered)
        with one_blas_thread():
            sequences, scores = self.model.k_best(encoded, 0, k, masks)
            _, log_z = self.model.marginals(encoded, masks)
        if not len(scores):
            raise _contradiction(sentence)
        return [
            Ranked(tuple(self._names(labels)), float(np.exp(score - log_z[0])))
            for labels, score in zip(sequences, scores, strict=True)
        ]

    def words(self, sentence: Sentence) -> Sentence:
        """A labelled sentence of characters as words, with their tags in the same layer if the labels carry any.

        Raises:
            CorpusError: a position has no label, or several.
        """
        layer = sentence.layers.get(self.guideline, (None,) * len(sentence))
        labels = [candidates[0] for candidates in layer if candidates is not None and len(candidates) == 1]
        if len(labels) < len(layer):
            raise CorpusError("a position without one label", "labels of a model", *sentence.place)
        forms, tags = to_words(sentence.forms, labels)
        layers = {self.guideline: as_layer(tags)} if any(tags) else {}
        return Sentence(forms, layers, place=sentence.place)

    def _names(self, labels: NDArray[np.int32]) -> list[str]:
        names, projection = self._view.names, self._view.projection
        return [names[projection[label]] for label in labels]

    def _labelled(
        self, block: Sequence[Sentence], encoded: Encoded, labels: NDArray[np.int32], view: View, guideline: str
    ) -> Iterator[Sentence]:
        if len(labels) and labels.min() < 0:
            at = int(np.searchsorted(encoded.sentence_ptr, int(np.argmin(labels)), side="right")) - 1
            raise _contradiction(block[at])
        positions = [(name,) for name in view.names]
        by_label = [positions[tag] for tag in view.projection]
        ptr = encoded.sentence_ptr.tolist()
        chosen = labels.tolist()
        for i, sentence in enumerate(block):
            layer = tuple(by_label[label] for label in chosen[ptr[i] : ptr[i + 1]])
            yield replace(sentence, layers={**sentence.layers, guideline: layer})

    def _encoded(
        self, block: Sequence[Sentence], layer: str | None, covered: Sequence[str] | None
    ) -> tuple[Encoded, NDArray[Any] | None]:
        if layer is None or not block:
            return self.model.encoder.encode(block), None
        encoded, sets = self._evidence(block, layer, covered)
        return encoded, sets.masks

    def _evidence(
        self, block: Sequence[Sentence], guideline: str, covered: Sequence[str] | None
    ) -> tuple[Encoded, LabelSets]:
        sets = LabelSets(self.model.structure.space)
        if guideline not in self.model.structure.space.guidelines:
            block = [_renamed(sentence, guideline, self.guideline) for sentence in block]
        allow = allowed_sets(block, sets, self.model.structure.scheme, covered)
        return self.model.encoder.encode(block).with_evidence(allow), sets


def _contradiction(sentence: Sentence) -> CorpusError:
    return CorpusError("labels that exclude one another", "a sequence that they allow", *sentence.place)


def _renamed(sentence: Sentence, old: str, new: str) -> Sentence:
    """With one layer only, the old one under its new name, or nothing known."""
    return replace(sentence, layers={new: sentence.layers.get(old, (None,) * len(sentence))})


def _blocks(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    iterator = iter(sentences)
    while block := list(islice(iterator, _BLOCK)):
        yield block
