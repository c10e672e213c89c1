"""Sentences: words over the labels of every layer, spans as highlights, trees as arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import bidirectional

from tagweave.display.evidence import evidence
from tagweave.display.markup import Html, element, joined, word
from tagweave.display.numbers import share
from tagweave.display.spans import highlighted, is_of_spans
from tagweave.display.trees import trees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tagweave.corpus.sentence import Sentence

_TOKENS = 200  # shown


def sentence_picture(sentence: Sentence) -> Html:
    """A sentence with all its layers; of a very long one the beginning."""
    coded = [name for name, layer in sentence.layers.items() if is_of_spans(layer)]
    spans = {name: highlighted(sentence, name, _TOKENS) for name in coded}
    parts = [shown for shown in spans.values() if shown is not None]
    known = [name for name, layer in sentence.layers.items() if any(layer)] or [*sentence.layers]
    others = [name for name in known if spans.get(name) is None]
    if others or sentence.confidence is not None or not (parts or sentence.heads):
        parts.append(_gloss(sentence, others))
    if len(known) < len(sentence.layers):
        unknown = ", ".join(name for name in sentence.layers if name not in known)
        parts.append(element("div", f"nothing known: {unknown}", class_="quiet"))
    if sentence.heads:
        parts.append(trees(sentence))
    if len(sentence) > _TOKENS:
        parts.append(element("div", f"... {len(sentence) - _TOKENS:,} more tokens", class_="quiet"))
    return element("div", *parts, class_="sentence", dir=_direction(sentence))


def _direction(sentence: Sentence) -> str:
    """The direction of writing, by the first letter; the names of layers must not decide it."""
    kinds = (bidirectional(letter) for form in sentence.forms[:_TOKENS] for letter in form)
    return "rtl" if next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L" else "ltr"


def _gloss(sentence: Sentence, layers: list[str]) -> Html:
    names = [*layers, *(["confidence"] if sentence.confidence is not None else [])]
    lines = (element("span", name, class_="label") for name in names)
    head = [element("span", element("span", "\u00a0"), *lines, class_="names")] if names else []
    columns = (element("span", *_column(sentence, layers, at)) for at in range(min(len(sentence), _TOKENS)))
    return element("div", *head, joined(columns), class_="gloss")


def _column(sentence: Sentence, layers: list[str], at: int) -> Iterator[Html]:
    yield word(sentence.forms[at])
    for name in layers:
        yield element("span", evidence(sentence.layers[name][at]), class_="label")
    if sentence.confidence is not None:
        yield element("span", share(sentence.confidence[at]), class_="label")
