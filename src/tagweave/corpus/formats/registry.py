"""The formats by name, and how a file's format is told from its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Protocol

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import attributes, columns, conllu, kytea, raw, segmented, tagged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tagweave.corpus.corpus import Unit
    from tagweave.corpus.sentence import Sentence


class Reader(Protocol):
    """Turns lines without line breaks into sentences."""

    def __call__(self, lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
        """The sentences; `path` is for messages."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """How one kind of file is read and written.

    Attributes:
        read: from lines to sentences.
        write: sentences to a stream, with the name of the layer that is the corpus's own annotation.
        unit: what a token of the file is.
        layer: the layer that a reader of this format gives; `None` for the last one, or none.
        extensions: endings of file names, with the dot.
        slots: in a format with comments, the names of its layers where no comment names the guideline; else none.
    """

    read: Reader
    write: Callable[[Iterable[Sentence], IO[str], str], None]
    unit: Unit = "word"
    layer: str | None = "tag"
    extensions: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()


_SLOTS = (conllu.UPOS, conllu.XPOS)


def _write_conllu(sentences: Iterable[Sentence], stream: IO[str], layer: str) -> None:
    """The layer goes to XPOS if there is an UPOS beside it, else to UPOS."""
    for sentence in sentences:
        if layer in sentence.heads:
            conllu.write([sentence], stream, head=layer)
        elif layer in _SLOTS or layer not in sentence.layers:
            conllu.write([sentence], stream)
        elif conllu.UPOS not in sentence.layers:
            conllu.write([sentence], stream, upos=layer)
        elif conllu.XPOS not in sentence.layers:
            conllu.write([sentence], stream, xpos=layer)
        else:
            found = f"the layers upos, xpos and {layer}"
            raise CorpusError(found, "two layers at most, for UPOS and XPOS", *sentence.place)


FORMATS: dict[str, Format] = {
    "tagged": Format(tagged.read, lambda sentences, stream, layer: tagged.write(sentences, stream, layer=layer)),
    "tagged-underscore": Format(
        partial(tagged.read, separator="_"),
        lambda sentences, stream, layer: tagged.write(sentences, stream, separator="_", layer=layer),
    ),
    "segmented": Format(
        segmented.read,
        lambda sentences, stream, _: segmented.write(sentences, stream),
        layer=None,
        extensions=(".seg",),
    ),
    "raw": Format(
        raw.read,
        lambda sentences, stream, _: raw.write(sentences, stream),
        unit="character",
        layer=None,
        extensions=(".raw",),
    ),
    "kytea": Format(
        kytea.read,
        lambda sentences, stream, layer: kytea.write(sentences, stream, segmentation=layer),
        unit="character",
        layer=kytea.SEGMENTATION,
        extensions=(".kytea", ".part"),
    ),
    "conllu": Format(
        conllu.read, _write_conllu, layer=conllu.UPOS, extensions=(".conllu",), slots=(*_SLOTS, conllu.HEAD)
    ),
    "columns": Format(
        columns.read,
        columns.write,
        layer=None,
        extensions=(".conll", ".col", ".iob", ".bio"),
        slots=("tag",),
    ),
    "attributes": Format(
        attributes.read,
        lambda sentences, stream, layer: attributes.write(sentences, stream, layer=layer),
        extensions=(".crfsuite",),
    ),
}


def formats() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(FORMATS)


def format_named(name: str) -> Format:
    """The format of this name.

    Raises:
        CorpusError: there is none.
    """
    if name not in FORMATS:
        raise CorpusError(f"the format {name!r}", f"one of {', '.join(FORMATS)}")
    return FORMATS[name]


def format_of_name(path: str) -> str | None:
    """The format that the extension of a file's name tells, `.gz` apart; `None` if it tells none."""
    suffix = PurePath(path.lower().removesuffix(".gz")).suffix
    return next((name for name, each in FORMATS.items() if suffix in each.extensions), None)
