"""A stream: sentences of an input on their way through a model to an output."""

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
    """Sentences as they were read, and as a model sees them, with what they say as the corpus's own annotation."""

    given: list[Sentence]
    evidence: Corpus


class Stream(ABC):
    """Sentences of an input on their way through a model to an output, in the memory of one block."""

    @property
    @abstractmethod
    def default_format(self) -> Format:
        """The format of the output where nobody names one.

        Raises:
            CorpusError, OSError: the input cannot be read, or is nothing for the model.
        """

    @abstractmethod
    def check_format(self, form: Format) -> None:
        """Raise unless the format can hold what comes out.

        Raises:
            StreamError: it cannot.
        """

    @abstractmethod
    def sentences(self, form: Format) -> Iterator[Sentence]:
        """What comes out, as the format holds it.

        Raises:
            CorpusError, OSError: as the input and the model, when the place is reached.
        """

    @abstractmethod
    def layer(self, form: Format) -> str:
        """The layer that the format writes as the output's own annotation."""

    def write(self, output: str, format: str | None = None, progress: Progress = iter) -> None:  # noqa: A002
        """Write what comes out, as a whole file or not at all; `-` is standard output.

        Args:
            output: the file.
            format: its format; `None`: by its name, else the default.
            progress: shows what has passed.

        Raises:
            StreamError: a format that cannot hold it.
            CorpusError, OSError: an unknown format, or as `sentences`.
        """
        form = chosen_format(format, output) or self.default_format
        self.check_format(form)
        with written(output) as stream:
            form.write(flushing(progress(self.sentences(form)), stream), stream, self.layer(form))
