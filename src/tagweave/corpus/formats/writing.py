"""What the writers of all formats share: the layer to write, and checks on what a line can hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.sentence import Layer, Sentence

_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")


def layer_to_write(sentence: Sentence, name: str) -> Layer:
    """The layer `name`; a sentence without any layers is unknown at every position.

    Raises:
        CorpusError: the sentence has layers, but not this one.
    """
    if name in sentence.layers:
        return sentence.layers[name]
    if sentence.layers:
        raise CorpusError(f"the layers {', '.join(sentence.layers)}", f"a layer {name!r} to write", *sentence.location)
    return (None,) * len(sentence)


def refuse_labels(sentence: Sentence, format_name: str) -> None:
    """Raise unless all layers of the sentence are unknown.

    Raises:
        CorpusError: some position is known, and the format cannot hold labels.
    """
    for name, layer in sentence.layers.items():
        if any(candidates is not None for candidates in layer):
            expected = f"no labels: the {format_name} format holds forms only"
            raise CorpusError(f"labels in layer {name!r}", expected, *sentence.location)


def checked(line: str, sentence: Sentence) -> str:
    """The line, if it can be a line of a UTF-8 text file.

    Raises:
        CorpusError: it contains a line break, a NUL or half of a surrogate pair.
    """
    if bad := _UNWRITABLE.search(line):
        raise CorpusError(f"the character {bad.group()!r} in a token", "text without line breaks", *sentence.location)
    return line


def refuse_blanks(texts: Iterable[str], what: str, blanks: str, sentence: Sentence) -> None:
    """Raise unless every text is non-empty and free of the `blanks`, which separate texts in the format.

    Raises:
        CorpusError: a text that is empty or contains a blank.
    """
    for text in texts:
        if not text or any(blank in text for blank in blanks):
            raise CorpusError(
                f"the {what} {text!r}", f"a {what} that is neither empty nor has blanks", *sentence.location
            )
