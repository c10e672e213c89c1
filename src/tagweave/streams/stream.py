"""Streams: they take the sentences of an input through a model to an output.

Checks what an output format can hold.

Streams of sentences with trees.

Chains models: a tagger reads the words of a segmenter, and a parser reads the tags of taggers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.conllu import HEAD
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.sentence import Sentence
from tagweave.errors import StreamError
from tagweave.streams.inputs import flushing

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import Layer


def check_can_hold(form: Format, what: str, can_hold: Callable[[Format], bool]) -> None:
    """Raise unless the format can hold what an option asks for.

    Raises:
        StreamError: it cannot; `what` names the option.
    """
    if not can_hold(form):
        expected = _names_of_those(can_hold)
        raise StreamError(f"found {what} and the format {form.name}, expected {expected} (`output_format`)")


def check_holds_heads(form: Format) -> None:
    """Raise unless the format can hold heads.

    Raises:
        StreamError: it cannot.
    """
    if form.heads is None:
        expected = _names_of_those(lambda each: each.heads is not None)
        raise StreamError(f"found {form.name} as the format of the output, expected {expected}: it can hold heads")


def _names_of_those(can_hold: Callable[[Format], bool]) -> str:
    """The names of the formats that pass a test, for messages."""
    from tagweave.corpus.formats.registry import FORMATS

    return " or ".join(sorted(name for name, form in FORMATS.items() if can_hold(form)))


def with_layers(sentence: Sentence, layers: Mapping[str, Layer], form: Format) -> Sentence:
    """The sentence with further layers as the format holds them.

    Raises:
        CorpusError: the format cannot hold another layer.
    """
    for name, layer in layers.items():
        sentence = form.with_labels(sentence, name, layer)
    return sentence


Progress = Callable[[Iterable[Sentence]], Iterable[Sentence]]
"""Passes sentences on, and shows how many have passed."""


class Block(NamedTuple):
    """Sentences as read, and as a corpus of evidence in the model's terms."""

    given: list[Sentence]
    evidence: Corpus


class Stream(ABC):
    """Takes the sentences of an input through a model to an output, in the memory of one block."""

    @property
    @abstractmethod
    def default_format(self) -> Format:
        """The default format of the output.

        Raises:
            CorpusError, OSError: the input cannot be read, or does not suit the model.
        """

    @abstractmethod
    def check_format(self, form: Format) -> None:
        """Raise unless the format can hold the output.

        Raises:
            StreamError: it cannot.
        """

    @abstractmethod
    def sentences(self, form: Format) -> Iterator[Sentence]:
        """The output sentences, in the form that the format holds.

        Raises:
            CorpusError, OSError: during iteration, as the input and the model.
        """

    @abstractmethod
    def layer(self, form: Format) -> str:
        """The layer that the format writes as the output's own annotation."""

    def write(self, output: str, format: str | None = None, progress: Progress = iter) -> None:  # noqa: A002
        """Write the output, as a whole file or not at all; `-` is standard output.

        Args:
            output: the path of the file.
            format: its format; `None`: the one its name implies, or the default.
            progress: shows how many sentences have passed.

        Raises:
            StreamError: the format cannot hold the output.
            CorpusError, OSError: an unknown format, or as `sentences`.
        """
        form = chosen_format(format, output) or self.default_format
        self.check_format(form)
        with written(output) as stream:
            form.write(form.held(flushing(progress(self.sentences(form)), stream)), stream, self.layer(form))


class TreeStream(Stream):
    """A stream whose output has trees, by default in CoNLL-U."""

    @property
    def default_format(self) -> Format:
        """CoNLL-U."""
        return conllu.FORMAT

    def check_format(self, form: Format) -> None:
        """Raise StreamError unless the format can hold heads."""
        check_holds_heads(form)

    def layer(self, form: Format) -> str:
        """The layer of heads."""
        return HEAD


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
