"""What a format of output has to have a place for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tagweave.cli.errors import OptionError

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import Layer, Sentence


def check_place(form: Format, what: str, has_place: Callable[[Format], bool]) -> None:
    """Nothing, if the format has the place that is asked for.

    Raises:
        OptionError: it has not; `what` is what was to stand there.
    """
    if not has_place(form):
        expected = _names_of_those(has_place)
        raise OptionError(f"found {what} and the format {form.name}, expected {expected} (--output-format)")


def check_has_heads(form: Format) -> None:
    """Nothing, if the format has a place for heads.

    Raises:
        OptionError: it has not.
    """
    if form.heads is None:
        expected = _names_of_those(lambda each: each.heads is not None)
        found = f"found {form.name} as the format of the output"
        raise OptionError(f"{found}, expected {expected}: it has a place for heads")


def _names_of_those(has_place: Callable[[Format], bool]) -> str:
    """The names of the formats that have a place, for messages."""
    from tagweave.corpus.formats.registry import FORMATS

    return " or ".join(sorted(name for name, form in FORMATS.items() if has_place(form)))


def with_layers(sentence: Sentence, layers: Mapping[str, Layer], form: Format) -> Sentence:
    """The sentence with further layers where the format has a place for them.

    Raises:
        CorpusError: no place is left.
    """
    for name, layer in layers.items():
        sentence = form.with_labels(sentence, name, layer)
    return sentence
