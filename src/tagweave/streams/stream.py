"""Streams: they take the sentences of an input through one model, or several in turn, to an output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.formats import FORMATS, chosen_format, conllu
from tagweave.corpus.sentence import Sentence
from tagweave.errors import StreamError
from tagweave.streams.inputs import flushing

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import Layer


def check_can_hold(form: Format, what: str, can_hold: Callable[[Format], bool]) -> None:
    """Raise StreamError unless the format can hold the output or what an option asks for (`what`)."""
    if not can_hold(form):
        expected = " or ".join(sorted(filter(lambda name: can_hold(FORMATS[name]), FORMATS)))
        raise StreamError(f"found {what} and the format {form.name}, expected {expected} (`output_format`)")


def with_layers(sentence: Sentence, layers: Mapping[str, Layer], form: Format) -> Sentence:
    """Add layers to a sentence as the format holds them. Raises CorpusError if it cannot."""
    for name, layer in layers.items():
        sentence = form.with_labels(sentence, name, layer)
    return sentence


Progress = Callable[[Iterable[Sentence]], Iterable[Sentence]]
"""Passes sentences on, and shows how many have passed."""


class Block(NamedTuple):
    """Sentences as read, and as a corpus of evidence in the model's terms."""

    originals: list[Sentence]
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
        return conllu.FORMAT

    def check_format(self, form: Format) -> None:
        check_can_hold(form, "trees", lambda candidate_format: candidate_format.heads is not None)

    def layer(self, form: Format) -> str:
        return conllu.HEAD


Stage = Callable[[Iterable[Sentence]], Iterator[Sentence]]
"""Adds a model's annotation to sentences of words, in order."""


@dataclass(frozen=True)
class Pipeline(TreeStream):
    """The sentences that come out of several models in turn, with everything that CoNLL-U can hold."""

    passed: Iterator[Sentence]

    def sentences(self, form: Format) -> Iterator[Sentence]:
        return self.passed
