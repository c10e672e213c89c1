"""Reads an input in blocks of sentences, as many as memory should hold, or as a pipe has ready."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, TypeVar

from tagweave.corpus.candidates import format_candidates
from tagweave.corpus.files import STANDARD_STREAM, is_awaited, read_lines, written
from tagweave.corpus.formats import plain
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.load import comment_value, parse_argument, with_covered
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.exchange.load import stream

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.exchange.tokens import Tokenizer

_USUAL = ("upos", "tag")


@dataclass(frozen=True)
class Input:
    """A file or standard input, `[GUIDELINE=]PATH[#LAYER]`, which is read once.

    Without `format_name`, the extension or the first lines tell the format; the `labels` of the model of words help.
    `tokens` cuts every line of raw text into tokens; `None`: the format has tokens. Properties raise CorpusError or
    OSError if the input cannot be read.
    """

    argument: str
    format_name: str | None = None
    labels: ModelLabels | None = None
    tokens: Tokenizer | None = None

    @property
    def path(self) -> str:
        return parse_argument(self.argument).path

    @cached_property
    def _opened(self) -> tuple[Format, Sentence | None, Iterator[Sentence], str]:
        """The format, the first sentence, all sentences, and a note on the assumed format."""
        if (tokens := self.tokens) is None:
            form, sentences, note = stream(self.argument, self.format_name, self.labels)
        else:
            named = chosen_format(self.format_name, self.path)
            if named is not None and named.name not in (plain.SEGMENTED.name, plain.RAW.name):
                raise CorpusError(f"{named.name} with tokens of its own", "raw text, for `tokens`", self.path)
            form, note = plain.SEGMENTED, ""
            sentences = (
                Sentence(tuple(line[a:b] for a, b in tokens(line)), location=Location(self.path, number))
                for number, line in enumerate(read_lines(self.path), 1)
            )
        first = next(sentences, None)
        return form, first, sentences if first is None else chain([first], sentences), note

    @property
    def format(self) -> Format:
        return self._opened[0]

    @property
    def first(self) -> Sentence | None:
        return self._opened[1]

    @property
    def note(self) -> str:
        """A note on an uncertain format, or ""."""
        return self._opened[3] and f"{self._name} is {self._opened[3]}"

    @property
    def _name(self) -> str:
        return "standard input" if self.path == STANDARD_STREAM else self.path

    @property
    def of_characters(self) -> bool:
        return self.format.unit == "character"

    def check_words(self) -> None:
        """Raise CorpusError unless the tokens are words or there are none."""
        if self.first and self.of_characters:
            expected = "words, for a model of words (or their `format`)"
            raise CorpusError(f"{self.format.name} text, characters", expected, self.path)

    def layer(self, guidelines: Sequence[str] = (), trained: Sequence[str] = ()) -> str:
        """Return the layer LAYER, or the first that guidelines or training (`trained`) name, or the default.

        The only layer of a file that names none is the one of training if it has labels of the model.
        """
        layer, layers = parse_argument(self.argument).layer, self.layers
        if layer is not None:
            if layer not in layers:
                content = f"the layers {', '.join(layers)}" if layers else "no layers"
                raise CorpusError(content, f"a layer {layer!r}", self.path)
            return layer
        if self.of_characters and self.format.layer:
            return self.format.layer
        known = [layer for layer in (*guidelines, *trained) if layer in layers]
        if known or not layers:
            return [*known, *guidelines, *_USUAL][0]
        if not trained or not self.format.holds_several:
            return next((layer for layer in _USUAL if layer in layers), layers[-1])
        if self.format.names_layers:
            return layers[0] if self._is_unnamed(layers) else trained[0]
        expected = f"a layer {trained[0]!r}, as in training; {self.path}#{layers[0]} names another"
        raise CorpusError(f"the layers {', '.join(layers)}", expected, self.path)

    def _is_unnamed(self, layers: Sequence[str]) -> bool:
        """Return whether the only layer has the name of a layer without one, and labels that the model has."""
        if not self.first or self.labels is None or tuple(layers) != self.format.layers:
            return False
        labels = self.first.layers[layers[0]]
        return self.labels.fill("_" if each is None else format_candidates(each) for each in labels)

    def lacking(self, layer: str, expected: Sequence[str]) -> str:
        """Return a note if a file of several layers has none of those expected; or ""."""
        layers = self.layers
        if parse_argument(self.argument).layer or self.of_characters or {*layers} & {*expected}:
            return ""
        if layer not in layers:
            return f"{self._name} has no layer {layer}: it is added" if layers and self.format.names_layers else ""
        where = f"its layer {layer} is used ({self.path}#LAYER names another)"
        return f"{self._name} has no layer {expected[0]}: {where}" if len(layers) > 1 else ""

    @property
    def layers(self) -> list[str]:
        """The layers of the first sentence."""
        return list(self.first.layers) if self.first else []

    @property
    def guideline(self) -> str | None:
        """The name of the guideline in the argument or a comment of the first sentence."""
        named = parse_argument(self.argument).guideline
        return named or (comment_value([self.first], "guideline", "") if self.first else None)

    def blocks(self) -> Iterator[list[Sentence]]:
        """Yield the sentences of the file in blocks (`ready_blocks`), with the labels that were looked for in each."""
        return ready_blocks(with_covered(self._opened[2]))


Item = TypeVar("Item")

_BLOCK = 2000  # items at a time


def ready_blocks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in blocks of a fixed size, or smaller ones when a pipe has no more ready."""
    block: list[Item] = []
    for item in items:
        block.append(item)
        if len(block) == _BLOCK or is_awaited():
            yield block
            block = []
    if block:
        yield block


def flushing(items: Iterable[Item], stream: IO[str]) -> Iterator[Item]:
    """Pass items on, and flush the stream when no more come for now: who reads it may write the next line."""
    for item in items:
        yield item
        if is_awaited():
            stream.flush()


def write_lines(output: str, lines: Iterable[str]) -> None:
    """Write lines, as a whole file or not at all; `-` is standard output."""
    with written(output) as stream:
        stream.writelines(flushing((line + "\n" for line in lines), stream))
