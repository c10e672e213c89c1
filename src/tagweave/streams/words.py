"""Labels words of any format by a model of words (task `tag`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import conllu, tagged
from tagweave.corpus.load import Labels
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.streams.blocks import ready_blocks
from tagweave.streams.errors import StreamError
from tagweave.streams.input import Input
from tagweave.streams.labelling import Labelling
from tagweave.streams.output_format import with_layers

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.exchange.tokens import Tokenizer
    from tagweave.models.chain_predictor import ChainPredictor

_MOST = 0.5  # share of words with labels from which text counts as labelled, if labels are ignored


@dataclass(frozen=True)
class WordLabelling(Labelling):
    """A `Labelling` of words by a model of words.

    Args:
        tokens: cuts raw text into words; `None`: the input has words.
    """

    tokens: Tokenizer | None = None

    @cached_property
    def input(self) -> Input:
        """The input.

        In text, what looks like a label is one if the model knows it. If labels are ignored, and so lost, most words
        must have one.
        """
        name = self.chosen_format.name if self.chosen_format else None
        labels = Labels(self.tagger.knows, _MOST) if self.retag else Labels(self.tagger.knows)
        return Input(self.argument, name, labels, self.tokens)

    @property
    def input_format(self) -> Format:
        """See `Labelling.input_format`."""
        self.input.check_words()
        return self.input.format

    def evidence(self, given: Sequence[Sentence]) -> Corpus:
        """Evidence in the layer of the model's guideline, without other layers of the file."""
        return Corpus(tuple(map(self._with_evidence, given)), self.tagger.guideline, "word")

    def _with_evidence(self, sentence: Sentence) -> Sentence:
        unknown: Layer = (None,) * len(sentence)
        if self.retag:
            return replace(sentence, layers={self.tagger.guideline: unknown}, rejected={})
        own = {self.tagger.guideline: self.input_layer, **self._other_layers(sentence)}
        layers = {name: sentence.layers.get(layer, unknown) for name, layer in own.items()}
        rejected = {name: sentence.rejected.get(layer, ()) for name, layer in own.items()}
        return replace(sentence, layers=layers, rejected=rejected)

    def _other_layers(self, sentence: Sentence) -> dict[str, str]:
        """The layers of a sentence in which further guidelines are read and written."""
        rest = [name for name in sentence.layers if name != self.input_layer]
        found = {name: self.tagger.layer_in(rest, name) for name in self.tagger.guidelines[1:]}
        return {name: layer for name, layer in found.items() if layer is not None}

    @property
    def default_format(self) -> Format:
        """The format of the input if it can hold labels, otherwise tagged text."""
        form = self.input_format
        return form if form.labels == "word" else tagged.SLASH

    def check_format(self, form: Format) -> None:
        """See `Labelling.check_format`; a model of words does not output characters."""
        if form.unit == "character":
            raise StreamError(f"found {form.name} as the format of the output, expected a format of words")
        super().check_format(form)

    def layer(self, form: Format) -> str:
        """The layer that is filled in; of an input that does not name its layer, the one of the model."""
        own = None if self.input.layers and self.input_format.holds_several else self.tagger.layer_in(form.layers)
        return own or self.input_layer

    def filled(self, given: Sentence, labelled: Sentence, form: Format) -> Sentence:
        """The sentence with labels in its layer, and those of further guidelines in layers of their own."""
        own, *others = self.tagger.guidelines
        layer, there = self.layer(form), self._other_layers(given)
        if layer != self.input_layer:
            given = given.with_layers_of({*given.layers} - {self.input_layer})
        filled = given.with_layer(layer, labelled.layers[own])
        return with_layers(filled, {there.get(name, name): labelled.layers[name] for name in others}, form)


@dataclass(frozen=True)
class TaggingStage:
    """A tagger of words as a stage; with `retag`, the layer of its guideline is ignored."""

    tagger: ChainPredictor
    retag: bool = False

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with the tags of the tagger's guideline. Raises CorpusError as `ChainPredictor.complete`."""
        own = self.tagger.guideline
        for block in ready_blocks(sentences):
            evidence = tuple(replace(s, layers={own: self._evidence(s)}) for s in block)
            labelled = self.tagger.complete(Corpus(evidence, own))
            for given, sentence in zip(block, labelled, strict=True):
                layer = self.tagger.layer_in((*given.layers, *conllu.FORMAT.layers)) or own
                yield with_layers(given, {layer: sentence.layers[own]}, conllu.FORMAT)

    def _evidence(self, sentence: Sentence) -> Layer:
        layer = None if self.retag else self.tagger.layer_in(sentence.layers)
        return (None,) * len(sentence) if layer is None else sentence.layers[layer]
