"""Recognising the format of a file that neither an option nor its name determines, by its first lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.formats.first_lines import FirstLines, Labels
from tagweave.corpus.formats.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.formats.format import Format, Reader


class Recognised(NamedTuple):
    """The format of a file.

    Attributes:
        format: the format.
        read: the reader.
        note: a message for the user if the file might be of another format.
    """

    format: Format
    read: Reader
    note: str = ""


def recognise(lines: Sequence[str], labels: Labels | None = None) -> Recognised:
    """The format that the first lines of a file look like.

    It is the format that sees the strongest sign in them (`Sign`), and the first of the registry if there are several.
    If the text is read without labels, the notes of other formats are passed on.

    Text for a model is read as words, except for lines in a script without blanks. In it a label counts only if the
    model has it, or if nearly all words have one.

    Args:
        lines: the first lines.
        labels: those of a model of words that the text is for.
    """
    text = FirstLines(lines, labels)
    looks = [(form, look) for form in FORMATS.values() if (look := form.look(text))]
    looks.sort(key=lambda each: each[1].sign, reverse=True)
    form, look = next(each for each in looks if each[1].is_format)
    rejected = (other.note for _, other in looks if not other.is_format and other.note)
    return Recognised(form, look.read or form.read, look.note or ("" if form.labels else next(rejected, "")))
