"""What a format is: how its files are read, written and recognised, and what they can hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

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
    """What tells a format from others, the stronger the later."""

    TEXT = 0
    """Any text can be read so."""
    WORDS = 1
    """Words between blanks, or text for a model of words."""
    ROWS = 2
    """Rows of equally many words, and blank lines between them."""
    LABELS = 3
    """What looks like labels behind words."""
    MARKS = 4
    """Marks between characters."""
    FIELDS = 5
    """Fields between tabs."""
    LAYOUT = 6
    """Rows as no other format has them."""


class Look(NamedTuple):
    """What a format sees in the first lines of a file.

    Attributes:
        sign: what is like the format in them.
        is_format: whether they are taken for it, if no other format sees a stronger sign.
        note: what is to be told of the text; where it is not taken for the format, if it is read without labels.
        read: how it is read, if not as other text of the format.
    """

    sign: Sign
    is_format: bool = True
    note: str = ""
    read: Reader | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of file: how it is read, written and recognised, and what it can hold.

    What a format cannot hold its writer refuses. A format that holds something new, as spans, says so in a field here,
    which all others lack by default; whoever wants to write it asks for that field.

    Attributes:
        name: as the option `--format` takes it.
        read: from lines to sentences.
        write: sentences to a stream, with the name of the layer that is the corpus's own annotation.
        look: what it sees in the first lines of a file; `None` where nothing is like it.
        extensions: endings of file names, with the dot.
        unit: what a token of the file is.
        layers: the layers of labels that a file has which does not name them, the usual one first; none in a format
            without labels.
        names_layers: whether a file may name its layers, any number of them, of which the last one is the usual one.
        partial: whether labels may be unknown, and positions have several candidates.
        put_beside: puts the labels of a guideline, named second, beside those that a sentence has; with a fourth
            argument, the layer that has to stay, they may take the place of others. `None`: there is place for one
            layer only.
        heads: the layer of heads, if it has any.
        confidence: where it says how far labels are believed, if anywhere.
        comments: whether sentences have comments, which name guideline and covered labels.
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
        """What has labels: words or characters; `None`: nothing has any."""
        return self.unit if self.layers else None

    @property
    def tells_words(self) -> bool:
        """Whether it can say where words end."""
        return self.unit == "word" or bool(self.layers)

    @property
    def layer(self) -> str | None:
        """The usual layer of labels; `None` for the last one, or none."""
        return self.layers[0] if self.layers and not self.names_layers else None

    @property
    def holds_several(self) -> bool:
        """Whether it has place for the labels of several guidelines."""
        return self.put_beside is not None

    def with_labels(self, sentence: Sentence, name: str, layer: Layer, beside: str | None = None) -> Sentence:
        """The sentence with the labels of a guideline: beside those that it has, or in their place if there is one.

        Args:
            sentence: as it was read.
            name: of the guideline.
            layer: its labels.
            beside: the layer of the sentence that has to stay, if the new labels may take the place of others.

        Raises:
            CorpusError: there is no place left.
        """
        if self.put_beside is None:
            return replace(sentence, layers={name: layer})
        return self.put_beside(sentence, name, layer, beside)
