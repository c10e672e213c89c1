"""What the writers of all formats share: which layer is written, and what no line of text can hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.sentence import Layer, Sentence

_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")


def layer_to_write(sentence: Sentence, name: str) -> Layer:
    """The layer `name`; of a sentence without any layer, every position unknown.

    Raises:
        CorpusError: the sentence has layers, but not this one.
    """
    if name in sentence.layers:
        return sentence.layers[name]
    if sentence.layers:
        raise CorpusError(f"the layers {', '.join(sentence.layers)}", f"a layer {name!r} to write", *sentence.location)
    return (None,) * len(sentence)


def refuse_labels(sentence: Sentence, format_name: str) -> None:
    """Nothing, if no layer of the sentence knows anything.

    Raises:
        CorpusError: some position is known, and the format has no place for labels.
    """
    for name, layer in sentence.layers.items():
        if any(candidates is not None for candidates in layer):
            expected = f"no labels: the {format_name} format holds forms only"
            raise CorpusError(f"labels in layer {name!r}", expected, *sentence.location)


def checked(line: str, sentence: Sentence) -> str:
    """The line, if it can be one line of a UTF-8 text file.

    Raises:
        CorpusError: a line break, a NUL or half of a surrogate pair in it.
    """
    if bad := _UNWRITABLE.search(line):
        raise CorpusError(f"the character {bad.group()!r} in a token", "text without line breaks", *sentence.location)
    return line


def refuse_blanks(texts: Iterable[str], what: str, blanks: str, sentence: Sentence) -> None:
    """Nothing, if every text is non-empty and free of the `blanks`, which separate texts in the format.

    Raises:
        CorpusError: one is not.
    """
    for text in texts:
        if not text or any(blank in text for blank in blanks):
            raise CorpusError(
                f"the {what} {text!r}", f"a {what} that is neither empty nor has blanks", *sentence.location
            )
