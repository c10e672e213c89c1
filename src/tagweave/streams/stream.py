"""Streams: they take the sentences of an input through one model, or several in turn, to an output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.registry import FORMATS, chosen_format
from tagweave.corpus.sentence import Sentence
from tagweave.errors import StreamError
from tagweave.streams.inputs import flushing

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import Layer


def check_can_hold(form: Format, what: str, can_hold: Callable[[Format], bool]) -> None:
    """Raise StreamError unless the format can hold what an option (`what`) asks for."""
    if not can_hold(form):
        expected = " or ".join(sorted(filter(lambda name: can_hold(FORMATS[name]), FORMATS)))
        raise StreamError(f"found {what} and the format {form.name}, expected {expected} (`output_format`)")


def check_holds_heads(form: Format) -> None:
    """Raise StreamError unless the format can hold heads."""
    if form.heads is None:
        expected = " or ".join(sorted(name for name, each in FORMATS.items() if each.heads is not None))
        raise StreamError(f"found {form.name} as the format of the output, expected {expected}: it can hold heads")


def with_layers(sentence: Sentence, layers: Mapping[str, Layer], form: Format) -> Sentence:
    """Add layers to a sentence as the format holds them. Raises CorpusError if it cannot."""
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
    """Takes the sentences of an input through a model to an output, in the memory of one block.

    Methods raise CorpusError or OSError if the input cannot be read, or does not suit the model.
    """

    @property
    @abstractmethod
    def default_format(self) -> Format:
        """The default format of the output."""

    @abstractmethod
    def check_format(self, form: Format) -> None:
        """Raise StreamError unless the format can hold the output."""

    @abstractmethod
    def sentences(self, form: Format) -> Iterator[Sentence]:
        """Yield the output sentences, in the form that the format holds."""

    @abstractmethod
    def layer(self, form: Format) -> str:
        """Return the layer that the format writes as the output's own annotation."""

    def write(self, output: str, format: str | None = None, progress: Progress = iter) -> None:  # noqa: A002
        """Write the output, as a whole file or not at all; `-` is standard output.

        Without a format, the name of the output implies it, or else it is the default. Raises StreamError if the format
        cannot hold the output.
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
        """Return the layer of heads."""
        return conllu.HEAD


class First(Protocol):
    """A stream that other models can follow."""

    def as_conllu(self) -> Iterator[Sentence]:
        """Yield the sentences as input of the next model, with everything that CoNLL-U can hold."""
        ...


Stage = Callable[[Iterable[Sentence]], Iterator[Sentence]]
"""Adds a model's annotation to sentences of words, in order."""


class Successor(Protocol):
    """A model that can follow another one."""

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        """Return the model as a stage. Raises StreamError if it cannot be one."""
        ...


@dataclass(frozen=True)
class Pipeline(TreeStream):
    """An input that passes through several models: the one that reads it, then the stages in order."""

    first: First
    stages: Sequence[Stage]

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """Yield the sentences, filled in by all models."""
        sentences = self.first.as_conllu()
        for stage in self.stages:
            sentences = stage(sentences)
        return sentences
