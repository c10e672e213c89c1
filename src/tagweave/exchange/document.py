"""Documents: texts in which people or models have marked spans of characters, as annotation tools keep them.

A tool has functions to read and to write its files. Libraries whose files have tokens are read as sentences, without a
way over offsets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any, NamedTuple

from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.exchange.offsets import are_words, hint
from tagweave.exchange.quotations import Tally

SKIPPED = ("ignored answers", "skipped annotations")
"""What annotators chose not to answer. It is counted with what is left out, but nothing is lost without it."""
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
CONTROL = re.compile("[\0-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
"""What no file of text can hold, and what a label in one line has not."""


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
    line: int = 0  # of a mark with gaps in its file, for messages


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and what each annotator marked in it."""

    text: str
    # the marks of each annotator, by name; `None` if the annotator saw the text and the answer is unusable. An
    # annotator without an entry did not see it.
    marks: Mapping[str, tuple[Mark, ...] | None] = field(default_factory=dict)
    name: str = ""
    # pairs of offsets in their order, if the tool has them
    tokens: tuple[tuple[int, int], ...] | None = None
    location: Location = Location()
    # what else was marked and cannot be kept, such as relations, and how often
    left_out: Mapping[str, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)  # of quotations that were found in the text, or not
    # the least probability of a label over all tokens, by annotator; none where the labels have no numbers
    certainty: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if wrong := UNWRITABLE.search(self.text):
            raise self.error(f"the character {wrong.group()!r} in a text", "text that UTF-8 can hold, without NUL")
        for mark in (mark for marks in self.marks.values() for mark in marks or ()):
            place = f"a span from {mark.start} to {mark.stop}"
            if not 0 <= mark.start < mark.stop <= len(self.text):
                way = hint(self.text, mark.start, mark.stop, lambda start, stop: are_words(self.text, start, stop))
                raise self.error(place, f"characters of the text, 0 to {len(self.text)}{way}")
            if not mark.label.strip():
                raise self.error(f"{place} without a label", "a label")
            if wrong := CONTROL.search(mark.label):
                raise self.error(f"the character {wrong.group()!r} in the label {mark.label!r}", "a label in one line")
            if not 0 < mark.probability <= 1:
                raise self.error(f"a span with the probability {mark.probability}", "a number above 0, and at most 1")

    def error(self, found: str, expected: str) -> CorpusError:
        return CorpusError(found, expected, *self.location)


def layer_name(name: str) -> str:
    """Return the name of an annotator as that of a layer, which has no blanks."""
    return "_".join(name.split())


def with_skipped(documents: Iterable[Document | str], path: str) -> Iterator[Document]:
    """Yield documents; what stands in place of one is counted with what the last one leaves out.

    Raises CorpusError if there is nothing else.
    """
    skipped: Counter[str] = Counter()
    last: Document | None = None
    for document in documents:
        if isinstance(document, str):
            skipped[document] += 1
            continue
        if last is not None:
            yield last
        last = document
    if last is not None:
        yield replace(last, left_out={**last.left_out, **skipped})
    elif skipped:
        counts = ", ".join(f"{number:,} {what}" for what, number in skipped.items())
        raise CorpusError(f"{counts}, and nothing else", "other answers, too", path)


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
