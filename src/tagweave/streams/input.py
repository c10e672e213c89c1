"""Reads an input sentence by sentence, so that a stream of any length needs the memory of one block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.load import Labels, guideline_comment, parse_argument, stream, with_covered
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import STANDARD_STREAM
from tagweave.streams.blocks import ready_blocks

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format

_USUAL = ("upos", "tag")


@dataclass(frozen=True)
class Input:
    """A file or standard input, which is read once.

    Args:
        argument: `[GUIDELINE=]PATH[#LAYER]`.
        format_name: the name of the format; `None`: recognised by the extension or the first lines.
        labels: the labels of the model of words, which help to recognise the format.
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
        """The format, the first sentence, all sentences, and a note on the assumed format."""
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
        """The first sentence, if there is one. Raises as `format`."""
        return self._opened[1]

    @property
    def note(self) -> str:
        """A note on an uncertain format, or "". Raises as `format`."""
        name = "standard input" if self.path == STANDARD_STREAM else self.path
        return self._opened[3] and f"{name} is {self._opened[3]}"

    @property
    def of_characters(self) -> bool:
        """Whether the tokens of the format are characters. Raises as `format`."""
        return self.format.unit == "character"

    def check_words(self) -> None:
        """Raise unless the tokens are words or there are none.

        Raises:
            CorpusError, OSError: the input cannot be read, or has characters.
        """
        if self.first and self.of_characters:
            expected = "words, for a model of words (or their --format)"
            raise CorpusError(f"{self.format.name} text, characters", expected, self.path)

    def layer(self, preferred: Sequence[str]) -> str:
        """The layer LAYER, or one of the `preferred` layers, or the default of the format.

        Raises:
            CorpusError, OSError: the input cannot be read or has no layer LAYER.
        """
        layer, layers = parse_argument(self.argument).layer, self.layers
        if layer is not None:
            if layer not in layers:
                content = f"the layers {', '.join(layers)}" if layers else "no layers"
                raise CorpusError(content, f"a layer {layer!r}", self.path)
            return layer
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
        """The name of the guideline in the argument or a comment of the first sentence. Raises as `format`."""
        named = parse_argument(self.argument).guideline
        return named or (guideline_comment([self.first]) if self.first else None)

    def blocks(self) -> Iterator[list[Sentence]]:
        """The sentences of the file in blocks (`ready_blocks`), each with the labels that were looked for in it.

        Iteration raises as `format`.
        """
        yield from ready_blocks(with_covered(self._opened[2]))
