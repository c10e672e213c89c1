"""Segmented text: words between blanks, one sentence a line; a corpus of words without labels.

Blanks are the space, the tab and the ideographic space (U+3000, the separator of some of the SIGHAN bakeoff's files).
A blank line is an empty sentence.
"""

from __future__ import annotations

from sys import intern
from typing import IO, TYPE_CHECKING

from tagweave.corpus.formats.tagged import split_blanks
from tagweave.corpus.output import checked, refuse_blanks, refuse_labels
from tagweave.corpus.sentence import Place, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLANKS = " \t\u3000"


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """The sentences, one a line, with forms and no layers; constant memory."""
    for number, line in enumerate(lines, 1):
        words = split_blanks(line.replace("\u3000", " "))
        yield Sentence(tuple(map(intern, words)), place=Place(path, number))


def write(sentences: Iterable[Sentence], stream: IO[str]) -> None:
    """Each sentence as one line, its words separated by one space.

    Raises:
        CorpusError: a layer that knows a label, for which there is no place; an empty word, or one with blanks.
    """
    for sentence in sentences:
        refuse_labels(sentence, "segmented")
        refuse_blanks(sentence.forms, "form", BLANKS, sentence)
        stream.write(checked(" ".join(sentence.forms), sentence) + "\n")
