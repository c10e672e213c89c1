"""A stream that converts annotated sentences to another guideline."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tagweave.corpus.formats import tagged
from tagweave.streams.review import ReviewList
from tagweave.streams.stream import Block, Stream

if TYPE_CHECKING:
    from tagweave.conversion.labels import UncertainToken
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import Sentence
    from tagweave.streams.input import Input


@dataclass(frozen=True, kw_only=True)
class Conversion(Stream):
    """An input and the model that converts it.

    Args:
        input: the corpus.
        input_layer: the layer to convert, by its name in the file.
        source: the guideline of this layer, by its name in the model.
        threads: how many threads share the work.
        confidence: whether to write the probability of every label.
        soft: whether to write all labels with their probabilities.
        review: collects the least certain tokens as sentences pass.
    """

    input: Input
    input_layer: str
    source: str
    threads: int = 1
    confidence: bool = False
    soft: bool = False
    review: ReviewList = field(default_factory=ReviewList)

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The input in blocks, as read and as evidence.

        Raises:
            CorpusError, OSError: the input cannot be read.
        """

    @abstractmethod
    def convert(self, evidence: Corpus) -> Corpus:
        """A block under the other guideline, with the confidence of every token."""

    @abstractmethod
    def least_certain(self, evidence: Corpus, converted: Corpus) -> list[UncertainToken]:
        """The least certain tokens of a block, at most as many as the review lists."""

    @abstractmethod
    def in_format(self, given: Sentence, converted: Sentence, form: Format) -> Sentence:
        """The sentence as read with its converted annotation, in the form that the format holds."""

    def notes(self) -> Iterator[str]:
        """Notes after all sentences have passed."""
        return iter(())

    @property
    def default_format(self) -> Format:
        """The format of the input; tagged text for an empty input, which looks like raw text."""
        return self.input.format if self.input.first else tagged.SLASH

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """The sentences under the other guideline.

        Raises:
            CorpusError, OSError: as `blocks`, or as the model.
        """
        for block in self.blocks():
            converted = self.convert(block.evidence)
            if self.review.size:
                self.review.add(self.least_certain(block.evidence, converted))
            for given, sentence in zip(block.given, converted, strict=True):
                yield self._with_confidence(self.in_format(given, sentence, form), sentence, form)

    def _with_confidence(self, sentence: Sentence, converted: Sentence, form: Format) -> Sentence:
        if not self.confidence or form.confidence is None:
            return sentence
        return form.confidence.written(sentence, converted.confidence or ())
