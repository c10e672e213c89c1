"""Chains models: a tagger reads the words of a segmenter, and a parser reads the tags of taggers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tagweave.corpus.sentence import Sentence
from tagweave.streams.tree_stream import TreeStream

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format


class First(Protocol):
    """A stream that other models can follow."""

    def as_conllu(self) -> Iterator[Sentence]:
        """The sentences as input of the next model, with everything that CoNLL-U can hold."""
        ...


class Stage(Protocol):
    """A model that adds annotation to sentences of words."""

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with the model's annotation, in order."""
        ...


class Successor(Protocol):
    """A model that can follow another one."""

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        """The model as a stage. Raises StreamError if the model cannot be one."""
        ...


@dataclass(frozen=True)
class Pipeline(TreeStream):
    """An input that passes through several models.

    Attributes:
        first: the input and the model that reads it.
        stages: the other models, in order.
    """

    first: First
    stages: Sequence[Stage]

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """The sentences, filled in by all models. Iteration raises CorpusError as the models do."""
        sentences = self.first.as_conllu()
        for stage in self.stages:
            sentences = stage.filled(sentences)
        return sentences
