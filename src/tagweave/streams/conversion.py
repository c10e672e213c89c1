"""A stream of annotated sentences on its way to another guideline."""

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
    """One input and the model that converts it.

    Args:
        input: the corpus.
        input_layer: the layer of the corpus that is converted, under the name that it has in the file.
        source: the guideline of this layer, under the name that it has in the model.
        threads: how many threads share the work.
        confidence: whether the probability of every label is written.
        review: the least certain tokens, which grow as sentences pass.
    """

    input: Input
    input_layer: str
    source: str
    threads: int = 1
    confidence: bool = False
    review: ReviewList = field(default_factory=ReviewList)

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The input, block by block, as it was read and as evidence.

        Raises:
            CorpusError, OSError: the input cannot be read.
        """

    @abstractmethod
    def convert(self, evidence: Corpus) -> Corpus:
        """A block under the other guideline, with the confidence of every token."""

    @abstractmethod
    def least_certain(self, evidence: Corpus, converted: Corpus) -> list[UncertainToken]:
        """The least certain tokens of a block, as many as the review lists."""

    @abstractmethod
    def in_format(self, given: Sentence, converted: Sentence, form: Format) -> Sentence:
        """A sentence as it was read, with what it becomes, as the format holds it."""

    def notes(self) -> Iterator[str]:
        """What is to be said when all sentences have passed."""
        return iter(())

    @property
    def default_format(self) -> Format:
        """That of the input; nothing looks like raw text."""
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
