"""Labels an input by a model of labels: known labels are evidence, unknown ones are filled in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.load import COVERED, parse_argument
from tagweave.corpus.outline import key_and_value
from tagweave.corpus.sentence import Sentence
from tagweave.streams.notes import Tell, say
from tagweave.streams.output_format import check_can_hold, with_layers
from tagweave.streams.stream import Block, Stream

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.streams.input import Input


@dataclass(frozen=True)
class Labelling(Stream):
    """An input and the model that labels it.

    Args:
        tagger: the model.
        argument: `PATH[#LAYER]` of the input; LAYER is evidence and is filled in.
        format: the format of the input; `None`: recognised by its name or its first lines.
        retag: whether to ignore the labels of the layer.
        completes: whether the output is the completed annotation of the input, also in KyTea's format.
        tell: receives notes on the assumed format.
    """

    tagger: ChainPredictor
    argument: str
    format: str | None = None
    retag: bool = False
    completes: bool = False
    tell: Tell = say

    @property
    def chosen_format(self) -> Format | None:
        """The format of the input by option or name.

        Raises:
            CorpusError: there is no such format.
        """
        return chosen_format(self.format, parse_argument(self.argument).path)

    @property
    @abstractmethod
    def input(self) -> Input:
        """The input."""

    @property
    def input_format(self) -> Format:
        """The format of the input.

        Raises:
            CorpusError, OSError: the input cannot be read, or has characters where the model needs words.
        """
        return self.input.format

    @cached_property
    def input_layer(self) -> str:
        """The layer of the input that is evidence, by its name in the file.

        Raises:
            CorpusError, OSError: as `input_format`; or the input does not have the requested layer.
        """
        return self.input.layer((self.tagger.guideline,), self.tagger.model.layers(self.tagger.guideline))

    @property
    def has_labels(self) -> bool:
        """Return whether the model labels tokens, and does not only cut text into words."""
        return True

    def blocks(self) -> Iterator[Block]:
        """The input in blocks. Raises as `input_layer`."""
        _ = self.input_format
        own, layer = self.tagger.guideline, self.input_layer
        lacking = self.input.lacking(layer, (own, *self.tagger.model.layers(own))) if self.has_labels else ""
        for note in filter(None, (self.input.note, lacking)):
            self.tell(note)
        for given in self.input.blocks():
            yield Block(given, self.evidence(given))

    def labelled(self) -> Iterator[tuple[Sentence, Sentence]]:
        """Every sentence as read, and in the model's tokens with the best labels under its evidence.

        Raises:
            CorpusError: as `ChainPredictor.complete`.
        """
        for block in self.blocks():
            yield from zip(block.given, self.tagger.complete(block.evidence), strict=True)

    @abstractmethod
    def evidence(self, given: Sequence[Sentence]) -> Corpus:
        """Sentences of the input in tokens of the model, with their labels in the layer of its guideline."""

    @abstractmethod
    def filled(self, given: Sentence, labelled: Sentence, form: Format) -> Sentence:
        """A sentence of the input with its labels, in the form that the format holds."""

    def words(self, forms: tuple[str, ...], labels: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words, and their labels or "", of a sequence of the model's tokens and labels."""
        return forms, labels

    def check_format(self, form: Format) -> None:
        """See `Stream.check_format`."""
        if len(self.tagger.guidelines) > 1:
            check_can_hold(form, "several `to`", lambda each: each.holds_several)

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """The sentences, filled in. Raises as `labelled`."""
        for given, labelled in self.labelled():
            yield _covering_all(self.filled(given, labelled, form))

    def as_conllu(self) -> Iterator[Sentence]:
        """The sentences as input of the next model, with labels in a field of CoNLL-U.

        Raises:
            CorpusError: as `labelled`.
        """
        own, layer = self.tagger.guideline, self.layer(conllu.FORMAT)
        for sentence in self.sentences(conllu.FORMAT):
            if layer in conllu.FORMAT.layers:
                yield sentence
                continue
            layers = dict(sentence.layers)
            labels = layers.pop(layer, None)
            words = replace(sentence, layers=layers)
            yield words if labels is None else with_layers(words, {own: labels}, conllu.FORMAT)


def _covering_all(sentence: Sentence) -> Sentence:
    """The sentence without what it says of covered labels, which is wrong for complete annotation."""
    if sentence.covered is None and not sentence.comments:
        return sentence
    comments = (each for each in sentence.comments if key_and_value(each)[0] != COVERED)
    return replace(sentence, comments=tuple(comments), covered=None)
