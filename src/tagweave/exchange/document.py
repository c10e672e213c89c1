"""Documents: texts in which people or models have marked spans of characters, as annotation tools keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Location


class Mark(NamedTuple):
    """The characters start .. stop - 1 (code points), their label, and the probability that the label is right.

    With gaps, not all of these characters are marked, so the span is none of tokens that stand side by side. A rejected
    mark says that it is wrong, and nothing else.
    """

    start: int
    stop: int
    label: str
    probability: float = 1.0
    gaps: bool = False
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and what each annotator marked in it.

    Attributes:
        text: the text, with its line breaks.
        marks: for each annotator, by name, what they marked; `None` if they saw the text and their answer is unusable.
            An annotator who is not here did not see it.
        name: of the document in its tool; "" without one.
        tokens: the tokens, as pairs of offsets, if the tool has them.
        location: where it was read, for messages.
        sentences: the sentences, as pairs of offsets in their order, if the tool has them; otherwise lines are.
        left_out: what else was marked and cannot be kept, such as relations, and how often.

    Raises:
        CorpusError: a span without a label or without characters, or beyond the text; sentences that overlap.
    """

    text: str
    marks: Mapping[str, tuple[Mark, ...] | None] = field(default_factory=dict)
    name: str = ""
    tokens: tuple[tuple[int, int], ...] | None = None
    location: Location = Location()
    sentences: tuple[tuple[int, int], ...] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        end = 0
        for start, stop in self.sentences or ():
            if not end <= start <= stop <= len(self.text):
                expected = f"characters of the text, {end} to {len(self.text)}, after the sentence before"
                raise self.error(f"a sentence from {start} to {stop}", expected)
            end = stop
        for marks in self.marks.values():
            for mark in marks or ():
                self._check(mark)

    def _check(self, mark: Mark) -> None:
        if not 0 <= mark.start < mark.stop <= len(self.text):
            raise self.error(
                f"a span from {mark.start} to {mark.stop}", f"characters of the text, 0 to {len(self.text)}"
            )
        if not mark.label:
            raise self.error(f"a span from {mark.start} to {mark.stop} without a label", "a label")
        if not 0 < mark.probability <= 1:
            raise self.error(f"a span with the probability {mark.probability}", "a number above 0, and at most 1")

    def error(self, found: str, expected: str) -> CorpusError:
        """An error that names the place of the document."""
        return CorpusError(found, expected, *self.location)


@dataclass(frozen=True, slots=True)
class Tool:
    """How a tool's files are read, and how predictions are written for it.

    Attributes:
        name: on the command line.
        read: the documents of a file, by its path.
        write: writes documents to a stream, as annotation that people look at before they accept it.
        extension: of its files.
        binary: whether it writes bytes, such as a zip of files, to the stream; otherwise text.
        rejections: whether its files hold rejected marks.
    """

    name: str
    read: Callable[[str], Iterator[Document]]
    write: Callable[[Iterable[Document], IO[Any]], None]
    extension: str
    binary: bool = False
    rejections: bool = False
