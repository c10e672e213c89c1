"""Pictures of sentences and corpora: words over their labels, spans highlighted in running text, trees as arcs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from unicodedata import bidirectional

from tagweave.display.markup import (
    Html,
    Position,
    element,
    evidence,
    heat,
    hint,
    joined,
    of_types,
    share,
    with_number,
    word,
)
from tagweave.display.trees import Heads, trees

_OUTSIDE = "O"
_UNKNOWN = {"B-*", _OUTSIDE}
_TOKENS = 200  # shown

Group = Sequence[tuple[int, int | None, str | None]]
"""Alternatives for a span: first token, token after the last (`None` is unknown), type (`None` is any)."""


@dataclass(frozen=True)
class Annotated:
    """A sentence to show.

    Attributes:
        forms: T tokens.
        layers: T positions for each layer of labels.
        spans: for layers that code spans, their groups of alternatives, from left to right.
        heads: T positions for each layer of heads.
        confidence: T numbers, if there are any.
    """

    forms: Sequence[str]
    layers: Mapping[str, Sequence[Position]] = field(default_factory=dict)
    spans: Mapping[str, Sequence[Group]] = field(default_factory=dict)
    heads: Mapping[str, Heads] = field(default_factory=dict)
    confidence: Sequence[float] | None = None


def sentence_picture(sentence: Annotated) -> Html:
    """Show the first tokens of a sentence with all layers."""
    parts = [_highlighted(sentence, name) for name in sentence.layers if name in sentence.spans]
    known = [name for name, layer in sentence.layers.items() if any(layer)] or [*sentence.layers]
    others = [name for name in known if name not in sentence.spans]
    if others or sentence.confidence is not None or not (parts or sentence.heads):
        parts.append(_gloss(sentence, others))
    if len(known) < len(sentence.layers):
        unknown = ", ".join(name for name in sentence.layers if name not in known)
        parts.append(element("div", f"nothing known: {unknown}", class_="quiet"))
    if sentence.heads:
        parts.append(trees(sentence.forms, sentence.heads))
    if len(sentence.forms) > _TOKENS:
        parts.append(element("div", f"... {len(sentence.forms) - _TOKENS:,} more tokens", class_="quiet"))
    return element("div", *parts, class_="sentence", dir=_direction(sentence.forms[:_TOKENS]))


def _direction(forms: Sequence[str]) -> str:
    """Return the direction of writing of the first letter; names of layers have no say."""
    kinds = (bidirectional(letter) for form in forms for letter in form)
    return "rtl" if next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L" else "ltr"


def _gloss(sentence: Annotated, layers: list[str]) -> Html:
    names = [*layers, *(["confidence"] if sentence.confidence is not None else [])]
    lines = (element("span", name, class_="label") for name in names)
    head = [element("span", element("span", "\u00a0"), *lines, class_="names")] if names else []
    columns = (element("span", *_column(sentence, layers, at)) for at in range(min(len(sentence.forms), _TOKENS)))
    return element("div", *head, joined(columns), class_="gloss")


def _column(sentence: Annotated, layers: list[str], at: int) -> Iterator[Html]:
    yield word(sentence.forms[at])
    for name in layers:
        yield element("span", evidence(sentence.layers[name][at]), class_="label")
    if sentence.confidence is not None:
        yield element("span", share(sentence.confidence[at]), class_="label")


def _highlighted(sentence: Annotated, layer: str) -> Html:
    """Show the first tokens with the spans of a layer highlighted."""
    groups = sentence.spans[layer]
    tints = of_types(_type(label) for group in groups for _, _, label in group)
    name = element("span", f"{layer}: ", class_="quiet")
    parts = _parts(sentence.forms, sentence.layers[layer], groups, tints)
    return element("div", name, joined(parts, " "), class_="running")


def _type(label: str | None) -> str:
    return "?" if label is None else label


def _end(group: Group) -> int:
    return max(start + 1 if stop is None else stop for start, stop, _ in group)


def _parts(
    forms: Sequence[str], layer: Sequence[Position], groups: Sequence[Group], tints: Mapping[str, str]
) -> Iterator[Html]:
    begins = {group[0][0]: group for group in groups if {_type(label) for _, _, label in group} != {_OUTSIDE}}
    at = 0
    while at < min(len(forms), _TOKENS):
        if at in begins:
            yield _mark(forms, dict(layer[at] or ()), begins[at], tints)
            at = _end(begins[at])
        else:
            names = {name for name, _ in layer[at] or ()}
            is_open = not names or names >= _UNKNOWN
            yield word(forms[at], class_="open", title="unknown") if is_open else word(forms[at])
            at += 1


def _mark(forms: Sequence[str], numbers: Mapping[str, float | None], group: Group, tints: Mapping[str, str]) -> Html:
    start, stop = group[0][0], _end(group)
    names = dict.fromkeys(_type(label) for _, _, label in group)
    shown = [with_number(each, numbers.get(each if each == _OUTSIDE else f"B-{each}")) for each in names]
    is_open = any(end is None for _, end, _ in group)
    label = element("small", " | ".join(shown) + (" ..." if is_open else ""))
    sure = min(begin + 1 if end is None else end for begin, end, _ in group)
    words = joined(map(word, forms[start:sure]), " ")
    if sure < stop:
        perhaps = element("span", joined(map(word, forms[sure:stop]), " "), class_="perhaps")
        words = joined([words, perhaps], " ")
    return element("mark", words, label, style=_style(group, numbers, tints), title=_hint(forms, group))


def _style(group: Group, numbers: Mapping[str, float | None], tints: Mapping[str, str]) -> str:
    """Fill likely spans, and frame uncertain ones with dashes."""
    first = next(_type(label) for _, _, label in group if _type(label) != _OUTSIDE)
    uncertain = len(group) > 1 or any(stop is None for _, stop, _ in group)
    unlikely = (numbers.get(_OUTSIDE) or 0) > 0.5
    frame = "outline:1px dashed currentColor;outline-offset:-1px" if uncertain else ""
    return f"background:{'transparent' if unlikely else tints[first]};{frame}"


def _hint(forms: Sequence[str], group: Group) -> str:
    """List the alternatives, if they differ in more than their types."""
    stops = {stop for _, stop, _ in group}
    if len(stops) == 1 and None not in stops:
        return ""
    return hint(
        f"{_type(label)}: {' '.join(forms[start : stop or start + 1])}{' ...' if stop is None else ''}"
        for start, stop, label in group
    )


def corpus_picture(
    name: str, path: str, sizes: str, layers: Mapping[str, tuple[int, int, int]], first: Sequence[Html], rest: int
) -> Html:
    """Show a corpus: its sizes, how much of it is known, its first sentences, and how many more there are.

    `layers` counts positions with one candidate, with several, and without any.
    """
    parts = [element("div", element("b", name, title=path), f": {sizes}")]
    if layers:
        titles = ("layer", "one label", "several", "unknown")
        head = element("tr", *(element("th", title, scope="col") for title in titles))
        rows = (element("tr", element("th", layer, scope="row"), *_counts(counts)) for layer, counts in layers.items())
        parts.append(element("table", head, joined(rows), class_="map"))
    parts += first
    if rest > 0:
        parts.append(element("div", f"... {rest:,} more sentences", class_="quiet"))
    return joined(parts)


def _counts(counts: tuple[int, int, int]) -> Iterator[Html]:
    for count in counts:
        part = count / (sum(counts) or 1)
        yield element("td", f"{count:,} ({100 * part:.0f} %)", class_="number", style=f"background:{heat(part)}")
