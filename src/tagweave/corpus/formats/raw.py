"""Raw text, one sentence a line: a corpus of characters (code points) without labels. Blanks are characters, too."""

from __future__ import annotations

from sys import intern
from typing import IO, TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats.format import Format, Look, Sign
from tagweave.corpus.formats.writing import checked, refuse_labels
from tagweave.corpus.sentence import Location, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """The sentences, one a line, each form one character, no layers; constant memory."""
    for number, line in enumerate(lines, 1):
        yield Sentence(tuple(map(intern, line)), location=Location(path, number))


def write(sentences: Iterable[Sentence], stream: IO[str]) -> None:
    """Each sentence as one line.

    Raises:
        CorpusError: a form that is not one character (word boundaries would be lost), or a known label.
    """
    for sentence in sentences:
        refuse_labels(sentence, FORMAT.name)
        if (long := next((form for form in sentence.forms if len(form) != 1), None)) is not None:
            raise CorpusError(f"the form {long!r}", "forms of one character in raw text", *sentence.location)
        stream.write(checked("".join(sentence.forms), sentence) + "\n")


FORMAT = Format(
    name="raw",
    read=read,
    write=lambda sentences, stream, _: write(sentences, stream),
    look=lambda _: Look(Sign.TEXT),
    extensions=(".raw",),
    unit="character",
    layers=(),
    partial=False,
)
