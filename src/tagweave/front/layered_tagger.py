"""Taggers of spans that may overlap: all layers of a text at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import is_not
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.overlapping import by_types, layer_types
from tagweave.corpus.sentence import Sentence, kind_of, labels_of
from tagweave.errors import StreamError
from tagweave.front.corpora import corpus_of
from tagweave.front.label_model import Item
from tagweave.front.taggers import Tagger, label_text
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.layered import LayeredModel, LayeredPredictor

if TYPE_CHECKING:
    from tagweave.explanation.explanation import Explanations
    from tagweave.front.corpora import Given
    from tagweave.front.options import LabelOptions
    from tagweave.models.chain import ChainModel
    from tagweave.streams.conversion import Conversion
    from tagweave.streams.stream import Stage


class LayeredTagger(Tagger):
    """A model of spans that may overlap, each of them in a layer; `guidelines` are the layers.

    `spans` finds those of all layers. `tag` gives sentences and corpora all layers, and words a list of labels by
    layer.
    """

    @property
    def layered(self) -> LayeredModel:
        model: LayeredModel = self.trained
        return model

    @property
    def chain(self) -> ChainModel:
        expected = "a model of one layer of labels"
        raise StreamError(f"{self.name}: found {self._what} {', '.join(self.guidelines)}, expected {expected}")

    @property
    def guidelines(self) -> tuple[str, ...]:
        return self.layered.names

    def under(self, guidelines: Sequence[str] = ()) -> Any:
        """A tagger of some layers, by default of all. Raises StreamError for an unknown layer."""
        for name in guidelines:
            if name not in self.guidelines:
                expected = f"one of {', '.join(self.guidelines)}, the layers"
                raise StreamError(f"found `to={name}`, expected {expected} of {self.name}")
        model = self.layered.only(guidelines) if guidelines else self.layered
        if len(guidelines) == 1 and model.chains[0].space.guidelines == tuple(guidelines):
            return ChainPredictor(model.chains[0], self.threads)
        return LayeredPredictor(model, self.threads)

    def layer_in(self, corpus: Corpus) -> str | None:
        if self._layer_of(corpus) is not None:
            return corpus.guideline
        return next((name for sentence in corpus for name in sentence.layers if name in self.guidelines), None)

    def relabelled(self, corpus: Corpus) -> Corpus:
        """The text of a corpus with all layers of the model; the layer of the corpus has the one of its types."""
        corpus = corpus_of(corpus)
        layer = self._layer_of(corpus)
        tagged = self._tagger.tag(replace(sentence, layers={}, rejected={}) for sentence in corpus)
        names = {} if layer is None else {layer: corpus.guideline}
        return replace(corpus.with_sentences(sentence.renamed(names) for sentence in tagged), covered=None)

    def complete(self, corpus: Corpus) -> Corpus:
        return self._tagger.complete(corpus_of(corpus))

    def correct(
        self,
        tokens: Sequence[str] | Sentence,
        labels: Sequence[str | Iterable[str] | None] | Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Correct the chains of some layers: see `Tagger.correct`; `labels` has those of each layer by its name."""
        from tagweave.models.correction import corrected, of_other_weights  # labelling needs no learner

        if not isinstance(labels, Mapping) or not {*labels} <= {*self.guidelines}:
            what = kind_of(labels) if not isinstance(labels, Mapping) else f"labels of {', '.join(labels)}"
            raise TypeError(f"found {what}, expected a dict of labels by layer: {', '.join(self.guidelines)}")
        layers = {name: labels_of(of_layer) for name, of_layer in labels.items()}
        sentence = tokens if isinstance(tokens, Sentence) else Sentence(tuple(tokens))
        corpus, predictor = Corpus((replace(sentence, layers=layers),)), LayeredPredictor(self.layered)
        parts = predictor.parts(corpus)
        chains = tuple(corrected(chain.model, evidence[0], evidence.guideline) for chain, evidence in parts)
        if any(map(is_not, chains, self.layered.chains)):
            self.trained = replace(self.layered, chains=chains, about=of_other_weights(self.about))
            self._forget()

    def why(self, tokens: Any, token: int | None = None, corpus: Given | None = None) -> Explanations:
        """Explain what the chains say: see `Model.why`. A token is explained by the layers that have a span there."""
        from tagweave.explanation.labels import LEAST_SURE, of_chains  # labelling needs no tables

        annotated = Corpus(()) if corpus is None else by_types(corpus_of(corpus), self.guidelines)
        parts, sentence = LayeredPredictor(self.layered).parts(annotated), self._sentence(tokens)
        explanations = [
            Tagger(chain.model, self.threads, self.name).why(sentence, token, None if corpus is None else evidence)
            for chain, evidence in parts
        ]
        return of_chains(explanations, LEAST_SURE if token is None else 1)

    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        raise StreamError(f"{self.name}: found convert() with {self._what}, expected a model of several guidelines")

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        raise StreamError(f"found `then={self.name}`, {self._what}, expected a tagger of one layer, or a parser")

    def _label(self, input: str, output: str, options: LabelOptions) -> None:  # noqa: A002
        if (options.probabilities or options.best) and not isinstance(tagger := self.under(options.to), ChainPredictor):
            tagger.probabilities()
        super()._label(input, output, options)

    def _conversion(self, *_: Any, **__: Any) -> tuple[Conversion, str]:
        raise StreamError(f"{self.name}: found {self._what}, expected a model of several guidelines, to convert")

    def _layer_of(self, corpus: Corpus) -> str | None:
        """Return the layer of the model that a corpus has as its own: by its name, or by the types of its spans."""
        if corpus.guideline in self.guidelines:
            return corpus.guideline
        kinds = {*layer_types([corpus]).get(corpus.guideline, ())}
        matching = [name for types in self.layered.types for name, of_layer in types.items() if kinds & {*of_layer}]
        return matching[0] if len(matching) == 1 else None

    def _answer(self, item: Item, labelled: list[Sentence]) -> Any:
        if item.corpus is not None:
            return replace(item.corpus.with_sentences(labelled), covered=None)
        if item.kind == "sentence":
            return labelled[0]
        if item.kind == "text":
            raise TypeError(f"found a text for tag() with {self._what}, expected words, or spans() of the text")
        return {
            name: [label_text(candidates) for sentence in labelled for candidates in sentence.layers[name] or ()]
            for name in self.guidelines
        }

    @property
    def _what(self) -> str:
        return "a tagger of layers of spans"
