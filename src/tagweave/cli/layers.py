"""Several layers of one sentence in a format of output: column files have a column for each, CoNLL-U has two fields."""

from __future__ import annotations

from collections.abc import Mapping

from tagweave.cli.errors import OptionError
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats.conllu import UPOS, XPOS
from tagweave.corpus.sentence import Layer, Sentence

SEVERAL = ("columns", "conllu")
"""The formats with a place for more than one layer of labels."""


def check_format(format: str, what: str) -> None:  # noqa: A002
    """Nothing, if the format has a place for more than a layer.

    Raises:
        OptionError: it has not; `what` is what was to stand there.
    """
    if format not in SEVERAL:
        raise OptionError(f"found {what} and the format {format}, expected {' or '.join(SEVERAL)} (--output-format)")


def with_layers(sentence: Sentence, layers: Mapping[str, Layer], format: str) -> Sentence:  # noqa: A002
    """The sentence with further layers where the format has a place for them.

    In CoNLL-U these are the fields of which nothing is known, XPOS first; a layer `upos` or `xpos` keeps its own.

    Raises:
        CorpusError: no such field is left.
    """
    for name, layer in layers.items():
        place = _field(sentence, name) if format == "conllu" else name
        sentence = sentence.with_layer(place, layer)
    return sentence


def _field(sentence: Sentence, name: str) -> str:
    if name in (UPOS, XPOS):
        return name
    for field in (XPOS, UPOS):
        if not any(sentence.layers.get(field, ())):
            return field
    raise CorpusError("labels in UPOS and in XPOS", f"one of them empty, for the labels of {name}", *sentence.place)
