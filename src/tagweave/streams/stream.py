"""Streams: they take the sentences of an input through a model to an output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import written
from tagweave.streams.blocks import flushing

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format

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
