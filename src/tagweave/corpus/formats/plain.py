"""Text without labels, one sentence a line: raw text, a corpus of characters, and segmented text, a corpus of words.

In raw text blanks are characters, too. In segmented text the space, the tab and the ideographic space separate words,
and a blank line is an empty sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from sys import intern
from typing import IO

from tagweave.corpus.characters import BLANKS, split_blanks
from tagweave.corpus.formats.format import FirstLines, Format, Look, Sign, checked, refuse_blanks, refuse_labels
from tagweave.corpus.sentence import Location, Sentence


def read_raw(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """Yield the sentences, each form one character, no layers; constant memory."""
    for number, line in enumerate(lines, 1):
        yield Sentence(tuple(map(intern, line)), location=Location(path, number))


def write_raw(sentences: Iterable[Sentence], stream: IO[str]) -> None:
    """Write each sentence as one line."""
    for sentence in sentences:
        refuse_labels(sentence, RAW.name)
        if (long := next((form for form in sentence.forms if len(form) != 1), None)) is not None:
            raise sentence.error(f"the form {long!r}", "forms of one character in raw text")
        stream.write(checked("".join(sentence.forms), sentence) + "\n")


RAW = Format(
    name="raw",
    read=read_raw,
    write=lambda sentences, stream, _: write_raw(sentences, stream),
    look=lambda _: Look(Sign.TEXT),
    extensions=(".raw",),
    unit="character",
    layers=(),
    partial=False,
)


_WORD = 4  # the longest word in a script without blanks, for recognition
_NO_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def read_segmented(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """Yield the sentences, with forms and no layers; constant memory."""
    for number, line in enumerate(lines, 1):
        words = split_blanks(line.replace("\u3000", " "))
        yield Sentence(tuple(map(intern, words)), location=Location(path, number))


def write_segmented(sentences: Iterable[Sentence], stream: IO[str]) -> None:
    """Write each sentence as one line, its words separated by one space."""
    for sentence in sentences:
        refuse_labels(sentence, SEGMENTED.name)
        refuse_blanks(sentence.forms, "form", BLANKS, sentence)
        stream.write(checked(" ".join(sentence.forms), sentence) + "\n")


def _look(text: FirstLines) -> Look | None:
    """Recognise blanks, or for a model rows of one word at most in a script without blanks between words."""
    has_blanks = any(" " in row or "\u3000" in row for row in text.rows)
    are_words = not any(len(_NO_BLANKS.findall(row)) > _WORD and "\t" not in row for row in text.rows)
    return Look(Sign.WORDS) if has_blanks or (text.labels and text.rows and are_words) else None


SEGMENTED = Format(
    name="segmented",
    read=read_segmented,
    write=lambda sentences, stream, _: write_segmented(sentences, stream),
    look=_look,
    extensions=(".seg",),
    layers=(),
    partial=False,
)
