"""Segmented text: words between blanks, one sentence a line, a corpus of words without labels.

Blanks are the space, the tab and the ideographic space (`corpus.blanks`). A blank line is an empty sentence.
"""

from __future__ import annotations

import re
from sys import intern
from typing import IO, TYPE_CHECKING

from tagweave.corpus.blanks import BLANKS, split_blanks
from tagweave.corpus.formats.format import Format, Look, Sign
from tagweave.corpus.formats.writing import checked, refuse_blanks, refuse_labels
from tagweave.corpus.sentence import Location, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tagweave.corpus.formats.first_lines import FirstLines

_WORD = 4  # the longest word in a script without blanks, for recognition
_NO_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """The sentences, one a line, with forms and no layers; constant memory."""
    for number, line in enumerate(lines, 1):
        words = split_blanks(line.replace("\u3000", " "))
        yield Sentence(tuple(map(intern, words)), location=Location(path, number))


def write(sentences: Iterable[Sentence], stream: IO[str]) -> None:
    """Each sentence as one line, its words separated by one space.

    Raises:
        CorpusError: a known label, which the format cannot hold; an empty word, or one with blanks.
    """
    for sentence in sentences:
        refuse_labels(sentence, FORMAT.name)
        refuse_blanks(sentence.forms, "form", BLANKS, sentence)
        stream.write(checked(" ".join(sentence.forms), sentence) + "\n")


def _look(text: FirstLines) -> Look | None:
    has_blanks = any(" " in row or "\u3000" in row for row in text.rows)
    if has_blanks or (text.labels and text.rows and not any(map(_is_line_without_blanks, text.rows))):
        return Look(Sign.WORDS)
    return None


def _is_line_without_blanks(row: str) -> bool:
    """Whether a row is more than one word in a script without blanks between words."""
    return len(_NO_BLANKS.findall(row)) > _WORD and not any(blank in row for blank in BLANKS)


FORMAT = Format(
    name="segmented",
    read=read,
    write=lambda sentences, stream, _: write(sentences, stream),
    look=_look,
    extensions=(".seg",),
    layers=(),
    partial=False,
)
