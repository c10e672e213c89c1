"""The description of a format: how its files are read, written and recognised, and what they can hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tagweave.corpus.corpus import Unit
    from tagweave.corpus.formats.confidence import Confidence
    from tagweave.corpus.formats.first_lines import FirstLines
    from tagweave.corpus.sentence import Layer, Sentence


class Reader(Protocol):
    """Turns lines without line breaks into sentences."""

    def __call__(self, lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
        """The sentences; `path` is for messages."""
        ...


class Sign(IntEnum):
    """Signs of a format, from weak to strong."""

    TEXT = 0
    """Any text can be read this way."""
    WORDS = 1
    """Words between blanks, or text for a model of words."""
    ROWS = 2
    """Rows of equally many words, with blank lines between them."""
    LABELS = 3
    """Apparent labels after words."""
    MARKS = 4
    """Marks between characters."""
    FIELDS = 5
    """Fields between tabs."""
    LAYOUT = 6
    """Rows that no other format has."""


class Look(NamedTuple):
    """What a format recognises in the first lines of a file.

    Attributes:
        sign: the sign of the format.
        is_format: whether the file is of this format, unless another format sees a stronger sign.
        note: a message for the user; if the file is not of this format, only shown if it is read without labels.
        read: a reader, if not the usual one of the format.
    """

    sign: Sign
    is_format: bool = True
    note: str = ""
    read: Reader | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How files of a format are read, written and recognised, and what they can hold.

    A writer refuses what its format cannot hold. If a format holds something new, such as spans, that becomes a field
    here, which the other formats lack by default; code that writes it asks for the field.

    Attributes:
        name: the name for the option `--format`.
        read: reads sentences from lines.
        write: writes sentences to a stream, given the name of the layer that is the corpus's own annotation.
        look: recognises the first lines of a file; `None` if there is no sign of the format.
        extensions: extensions of file names, with the dot.
        unit: what a token of the file is.
        layers: the layers of labels in a file that does not name them, the usual one first; none in a format without
            labels.
        names_layers: whether a file may name any number of layers, of which the last is the usual one.
        partial: whether labels may be unknown, and positions may have several candidates.
        put_beside: adds the labels of a guideline, named second, to those of a sentence. They may replace others if a
            fourth argument names the layer that has to stay. `None`: a file can hold one layer only.
        heads: the layer of heads, if there is one.
        confidence: where files hold the confidence in labels, if they can.
        comments: whether sentences can have comments, which name the guideline, the covered labels and rejected spans.
    """

    name: str
    read: Reader
    write: Callable[[Iterable[Sentence], IO[str], str], None]
    look: Callable[[FirstLines], Look | None]
    extensions: tuple[str, ...] = ()
    unit: Unit = "word"
    layers: tuple[str, ...] = ("tag",)
    names_layers: bool = False
    partial: bool = True
    put_beside: Callable[[Sentence, str, Layer, str | None], Sentence] | None = None
    heads: str | None = None
    confidence: Confidence | None = None
    comments: bool = False

    @property
    def labels(self) -> Unit | None:
        """What has labels: words or characters; `None` if nothing has."""
        return self.unit if self.layers else None

    @property
    def tells_words(self) -> bool:
        """Whether files can say where words end."""
        return self.unit == "word" or bool(self.layers)

    @property
    def layer(self) -> str | None:
        """The usual layer of labels; `None` if that is the last one of a file, or there are no labels."""
        return self.layers[0] if self.layers and not self.names_layers else None

    @property
    def holds_several(self) -> bool:
        """Whether files can hold the labels of several guidelines."""
        return self.put_beside is not None

    def held(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield the sentences for `write`.

        Raises:
            CorpusError: rejected spans, and the format has no comments.
        """
        for sentence in sentences:
            if not self.comments and any(sentence.rejected.values()):
                expected = f"none: the {self.name} format has no comments to hold them"
                raise CorpusError("rejected spans", expected, *sentence.location)
            yield sentence

    def with_labels(self, sentence: Sentence, name: str, layer: Layer, beside: str | None = None) -> Sentence:
        """The sentence with the labels of a guideline, which replace its own if the format holds one layer only.

        Args:
            sentence: as it was read.
            name: the guideline.
            layer: its labels.
            beside: the layer of the sentence that has to stay, if the new labels may replace others.

        Raises:
            CorpusError: the format cannot hold another layer of this sentence.
        """
        if self.put_beside is None:
            return replace(sentence, layers={name: layer})
        return self.put_beside(sentence, name, layer, beside)
