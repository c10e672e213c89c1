"""Checks what an output format can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tagweave.streams.errors import StreamError

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import Layer, Sentence


def check_can_hold(form: Format, what: str, can_hold: Callable[[Format], bool]) -> None:
    """Raise unless the format can hold what an option asks for.

    Raises:
        StreamError: it cannot; `what` names the option.
    """
    if not can_hold(form):
        expected = _names_of_those(can_hold)
        raise StreamError(f"found {what} and the format {form.name}, expected {expected} (`output_format`)")


def check_holds_heads(form: Format) -> None:
    """Raise unless the format can hold heads.

    Raises:
        StreamError: it cannot.
    """
    if form.heads is None:
        expected = _names_of_those(lambda each: each.heads is not None)
        raise StreamError(f"found {form.name} as the format of the output, expected {expected}: it can hold heads")


def _names_of_those(can_hold: Callable[[Format], bool]) -> str:
    """The names of the formats that pass a test, for messages."""
    from tagweave.corpus.formats.registry import FORMATS

    return " or ".join(sorted(name for name, form in FORMATS.items() if can_hold(form)))


def with_layers(sentence: Sentence, layers: Mapping[str, Layer], form: Format) -> Sentence:
    """The sentence with further layers as the format holds them.

    Raises:
        CorpusError: the format cannot hold another layer.
    """
    for name, layer in layers.items():
        sentence = form.with_labels(sentence, name, layer)
    return sentence
