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
    from tagweave.models.chain_predictor import ChainPredictor

_MOST = 0.5  # share of words with labels from which text counts as labelled, if labels are ignored


@dataclass(frozen=True)
class WordLabelling(Labelling):
    """A `Labelling` of words by a model of words."""

    @cached_property
    def input(self) -> Input:
        """The input.

        In text, what looks like a label is one if the model knows it. If labels are ignored, and so lost, most words
        must have one.
        """
        name = self.chosen_format.name if self.chosen_format else None
        labels = Labels(self.tagger.knows, _MOST) if self.retag else Labels(self.tagger.knows)
        return Input(self.argument, name, labels)

    @property
    def input_format(self) -> Format:
        """See `Labelling.input_format`."""
        self.input.check_words()
        return self.input.format

    def evidence(self, given: Sequence[Sentence]) -> Corpus:
        """Evidence in the layer of the model's guideline, without other layers of the file."""
        sentences = tuple(self._with_evidence(sentence, sentence.layers.get(self.input_layer)) for sentence in given)
        return Corpus(sentences, self.tagger.guideline, "word")

    def _with_evidence(self, sentence: Sentence, layer: Layer | None) -> Sentence:
        unknown = (None,) * len(sentence)
        return replace(sentence, layers={self.tagger.guideline: unknown if self.retag or layer is None else layer})

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
        """The layer that is filled in."""
        return self.input_layer

    def filled(self, given: Sentence, labelled: Sentence, form: Format) -> Sentence:
        """The sentence with labels in its layer, and those of further guidelines in layers of their own."""
        own, *others = self.tagger.guidelines
        with_labels = given.with_layer(self.input_layer, labelled.layers[own])
        return with_layers(with_labels, {name: labelled.layers[name] for name in others}, form)


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
                yield with_layers(given, {own: sentence.layers[own]}, conllu.FORMAT)

    def _evidence(self, sentence: Sentence) -> Layer:
        unknown: Layer = (None,) * len(sentence)
        return unknown if self.retag else sentence.layers.get(self.tagger.guideline, unknown)
