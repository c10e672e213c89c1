"""Models in turn: a parser sees the tags that taggers wrote, these the words that a segmenter cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tagweave.corpus.sentence import Sentence
from tagweave.streams.tree_stream import TreeStream

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format


class First(Protocol):
    """A stream whose sentences other models go on from."""

    def as_conllu(self) -> Iterator[Sentence]:
        """The sentences as the next model reads them, with what CoNLL-U can hold."""
        ...


class Stage(Protocol):
    """A model that fills in something of sentences of words."""

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences, in order, block by block."""
        ...


class Successor(Protocol):
    """A model that can go on where another one stops."""

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        """The model as a stage. Raises StreamError: a model that cannot be one."""
        ...


@dataclass(frozen=True)
class Pipeline(TreeStream):
    """An input through one model after the other.

    Attributes:
        first: the input and the model that reads it.
        stages: the other models, in order.
    """

    first: First
    stages: Sequence[Stage]

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """The sentences, filled in by all. Raises CorpusError as the models, when the place is reached."""
        sentences = self.first.as_conllu()
        for stage in self.stages:
            sentences = stage.filled(sentences)
        return sentences
