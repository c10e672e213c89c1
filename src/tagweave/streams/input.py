"""An input whose sentences are read as they come: a stream of any length needs the memory of one block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.load import Labels, covered_labels, guideline_comment, parse_argument, stream
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import STANDARD_STREAM
from tagweave.streams.blocks import ready_blocks

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format

_USUAL = ("upos", "tag")


@dataclass(frozen=True)
class Input:
    """A file, or standard input, that is read once.

    Args:
        argument: `[GUIDELINE=]PATH[#LAYER]`.
        format_name: of the format; `None`: the extension or the first lines tell it.
        labels: of the model of words that labels it, by which a format is told that nobody named.
    """

    argument: str
    format_name: str | None = None
    labels: Labels | None = None

    @property
    def path(self) -> str:
        """The file."""
        return parse_argument(self.argument).path

    @cached_property
    def _opened(self) -> tuple[Format, Sentence | None, Iterator[Sentence], str]:
        """The format, the first sentence, all sentences, and what was assumed of them."""
        form, sentences, note = stream(self.argument, self.format_name, self.labels)
        first = next(sentences, None)
        return form, first, sentences if first is None else chain([first], sentences), note

    @property
    def format(self) -> Format:
        """The format.

        Raises:
            CorpusError, OSError: the input cannot be read.
        """
        return self._opened[0]

    @property
    def first(self) -> Sentence | None:
        """The first sentence, if there is any. Raises as `format`."""
        return self._opened[1]

    @property
    def note(self) -> str:
        """What is told of a format that is not sure, or nothing. Raises as `format`."""
        name = "standard input" if self.path == STANDARD_STREAM else self.path
        return self._opened[3] and f"{name} is {self._opened[3]}"

    @property
    def of_characters(self) -> bool:
        """Whether the tokens of the format are characters. Raises as `format`."""
        return self.format.unit == "character"

    def check_words(self) -> None:
        """Raise unless the tokens are words, or there are none.

        Raises:
            CorpusError, OSError: the input cannot be read, or has characters.
        """
        if self.first and self.of_characters:
            expected = "words, for a model of words (or their --format)"
            raise CorpusError(f"{self.format.name} text, characters", expected, self.path)

    def layer(self, preferred: Sequence[str]) -> str:
        """The layer that LAYER names, else one of the `preferred` ones, else the usual one of the format.

        Raises:
            CorpusError, OSError: the input cannot be read or has no layer LAYER.
        """
        asked, layers = parse_argument(self.argument).layer, self.layers
        if asked is not None:
            if asked not in layers:
                found = f"the layers {', '.join(layers)}" if layers else "no layers"
                raise CorpusError(found, f"a layer {asked!r}", self.path)
            return asked
        if self.of_characters and self.format.layer:
            return self.format.layer
        usual = [layer for layer in (*preferred, *_USUAL) if layer in layers]
        return (usual or layers[-1:] or [*preferred, *_USUAL])[0]

    @property
    def layers(self) -> list[str]:
        """The layers of the first sentence. Raises as `format`."""
        return list(self.first.layers) if self.first else []

    @property
    def guideline(self) -> str | None:
        """The name of the guideline, as the argument or a comment of the first sentence tells. Raises as `format`."""
        named = parse_argument(self.argument).guideline
        return named or (guideline_comment([self.first]) if self.first else None)

    @property
    def covered(self) -> tuple[str, ...] | None:
        """The labels that the annotators looked for, as the comments of the first sentence tell. Raises as `format`."""
        return covered_labels([self.first]) if self.first else None

    def blocks(self) -> Iterator[list[Sentence]]:
        """The sentences, as they stand in the file: many, or what a pipe has ready.

        Raises as `format`, when the place is reached.
        """
        yield from ready_blocks(self._opened[2])
