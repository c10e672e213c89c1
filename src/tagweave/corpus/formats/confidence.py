"""How far labels are believed, in files: a column `confidence`, or the key `Confidence` in MISC of CoNLL-U."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = "confidence"
_KEY = CONFIDENCE.capitalize()  # as keys of MISC begin
_MISC, _NONE = "misc", "_"


def written_confidence(sentence: Sentence, confidence: Sequence[float], format: str) -> Sentence:  # noqa: A002
    """The sentence with a number for each token where the format has it: a column of its own, or a key in MISC."""
    texts = [f"{each:.6f}" for each in confidence]
    if format != "conllu":
        return _without_layer(sentence).with_column(CONFIDENCE, texts)
    misc = sentence.columns.get(_MISC, (_NONE,) * len(sentence))
    return sentence.with_column(_MISC, (_with_key(field, text) for field, text in zip(misc, texts, strict=True)))


def read_confidence(sentence: Sentence, format: str) -> Sentence:  # noqa: A002
    """The sentence with the confidence that its file gives; a position without a number is believed.

    Raises:
        CorpusError: something else than numbers from 0 to 1.
    """
    fields = _fields(sentence, format)
    if not any(fields):
        return sentence
    confidence = tuple(1.0 if field is None else _number(field, sentence) for field in fields)
    return replace(_without_layer(sentence) if format != "conllu" else sentence, confidence=confidence)


def _fields(sentence: Sentence, format: str) -> list[str | None]:  # noqa: A002
    if format == "conllu":
        return [_value(field) for field in sentence.columns.get(_MISC, ())]
    if format != "columns":
        return []
    return ["|".join(candidates) if candidates else None for candidates in sentence.layers.get(CONFIDENCE, ())]


def _value(misc: str) -> str | None:
    return next((item.partition("=")[2] for item in misc.split("|") if item.startswith(f"{_KEY}=")), None)


def _number(field: str, sentence: Sentence) -> float:
    try:
        value = float(field)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CorpusError(f"the confidence {field!r}", "a number from 0 to 1", *sentence.place)
    return value


def _without_layer(sentence: Sentence) -> Sentence:
    layers = {name: layer for name, layer in sentence.layers.items() if name != CONFIDENCE}
    return replace(sentence, layers=layers)


def _with_key(misc: str, value: str) -> str:
    kept = [item for item in misc.split("|") if item != _NONE and item.partition("=")[0] != _KEY]
    return "|".join([*kept, f"{_KEY}={value}"])
