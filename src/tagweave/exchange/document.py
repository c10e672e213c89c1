"""Documents: texts in which people or models have marked spans of characters, as annotation tools keep them.

A tool has functions to read and to write its files. Libraries whose files have tokens are read as sentences, without a
way over offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.exchange.quotations import Tally


class Mark(NamedTuple):
    """The characters start .. stop - 1 (code points), their label, and the probability that the label is right.

    A mark with gaps leaves out some of these characters, so it is no span of adjacent tokens. A rejected mark says that
    it is wrong, and nothing else.
    """

    start: int
    stop: int
    label: str
    probability: float = 1.0
    gaps: bool = False
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and what each annotator marked in it."""

    text: str
    # the marks of each annotator, by name; `None` if the annotator saw the text and the answer is unusable. An
    # annotator without an entry did not see it.
    marks: Mapping[str, tuple[Mark, ...] | None] = field(default_factory=dict)
    name: str = ""
    # tokens, sentences: pairs of offsets in their order, if the tool has them; without sentences, lines are used
    tokens: tuple[tuple[int, int], ...] | None = None
    location: Location = Location()
    sentences: tuple[tuple[int, int], ...] | None = None
    # what else was marked and cannot be kept, such as relations, and how often
    left_out: Mapping[str, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)  # of quotations that were found in the text, or not

    def __post_init__(self) -> None:
        end = 0
        for start, stop in self.sentences or ():
            if not end <= start <= stop <= len(self.text):
                expected = f"characters of the text, {end} to {len(self.text)}, after the sentence before"
                raise self.error(f"a sentence from {start} to {stop}", expected)
            end = stop
        for mark in (mark for marks in self.marks.values() for mark in marks or ()):
            place = f"a span from {mark.start} to {mark.stop}"
            if not 0 <= mark.start < mark.stop <= len(self.text):
                raise self.error(place, f"characters of the text, 0 to {len(self.text)}")
            if not mark.label:
                raise self.error(f"{place} without a label", "a label")
            if not 0 < mark.probability <= 1:
                raise self.error(f"a span with the probability {mark.probability}", "a number above 0, and at most 1")

    def error(self, found: str, expected: str) -> CorpusError:
        return CorpusError(found, expected, *self.location)


@dataclass(frozen=True, slots=True)
class Tool:
    """How documents are read from a tool's file, and how predictions are written for people to look over."""

    name: str
    read: Callable[[str], Iterator[Document]]
    write: Callable[[Iterable[Document], IO[Any]], None]
    extension: str
    binary: bool = False  # whether it writes bytes, such as a zip of files, to the stream; otherwise text
    rejections: bool = False  # whether its files hold rejected marks


@dataclass(frozen=True, slots=True)
class TokenTool:
    """How a library's files of tokens are read and written."""

    name: str
    # yields the sentences of a file, by its path; the second argument counts what is left out
    read: Callable[[str, Callable[[str], None]], Iterator[Sentence]]
    # writes sentences, with these layers of labels, to a stream; the last argument is the name of the file, whose
    # extension may say in which form
    write: Callable[[Sequence[Sentence], IO[bytes], Sequence[str], str], None]
    extensions: tuple[str, ...]  # of its files, the usual one first


def single(layer: Layer, sentence: Sentence, tool: str) -> list[str | None]:
    """Return the label of each position, `None` where it is unknown. Raises CorpusError for several candidates."""
    labels = []
    for candidates in layer:
        if candidates is not None and len(candidates) > 1:
            raise sentence.error(f"the candidates {' '.join(candidates)}", f"one label or none, as {tool} has them")
        labels.append(None if candidates is None else candidates[0])
    return labels
