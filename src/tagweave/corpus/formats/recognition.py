"""Which format a file is of that neither an option nor its name tells: its first lines are shown to all of them."""

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
        format: what it is taken for.
        read: how it is read.
        note: what is to be told where the text might be of another format.
    """

    format: Format
    read: Reader
    note: str = ""


def recognise(lines: Sequence[str], labels: Labels | None = None) -> Recognised:
    """The format that the first lines of a file look like.

    It is the one that sees the strongest sign in them (`Sign`), of several the first of the registry. What other
    formats see and do not believe is told where the text is read without labels.

    Text for a model is read in words, but for lines in a script without blanks. There something is a label only if it
    is one of the model's, or if nearly all words have one.

    Args:
        lines: the first ones.
        labels: those of a model of words that the text is for.
    """
    text = FirstLines(lines, labels)
    looks = [(form, look) for form in FORMATS.values() if (look := form.look(text))]
    looks.sort(key=lambda each: each[1].sign, reverse=True)
    form, look = next(each for each in looks if each[1].is_format)
    doubts = (other.note for _, other in looks if not other.is_format and other.note)
    return Recognised(form, look.read or form.read, look.note or ("" if form.labels else next(doubts, "")))
