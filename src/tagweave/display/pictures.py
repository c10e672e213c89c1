"""Pictures of sentences and of marginal probabilities.

A sentence is shown as words over their labels and heads, with spans highlighted in running text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from unicodedata import bidirectional

from tagweave.display.markup import (
    LEAST,
    Html,
    Position,
    element,
    evidence,
    heat,
    hint,
    html,
    joined,
    of_types,
    share,
    with_number,
    word,
)

_OUTSIDE = "O"
_UNKNOWN = {"B-*", _OUTSIDE}
_TOKENS = 200  # shown

Group = Sequence[tuple[int, int | None, str | None]]
"""Alternatives for a span: first token, token after the last (`None` is unknown), type (`None` is any)."""


@dataclass(frozen=True)
class Annotated:
    """A sentence of T tokens to show: T positions for each layer, and a confidence for each token if known.

    Layers that code spans have their groups of alternatives in `spans`, from left to right.
    """

    forms: Sequence[str]
    layers: Mapping[str, Sequence[Position]] = field(default_factory=dict)
    spans: Mapping[str, Sequence[Group]] = field(default_factory=dict)
    confidence: Sequence[float] | None = None


def sentence_picture(sentence: Annotated) -> Html:
    """Show the first tokens of a sentence with all layers."""
    parts = [_highlighted(sentence, name) for name in sentence.layers if name in sentence.spans]
    named = [name for name, layer in sentence.layers.items() if any(layer)] or [*sentence.layers]
    as_glosses = [name for name in named if name not in sentence.spans]
    if as_glosses or sentence.confidence is not None or not parts:
        parts.append(_gloss(sentence, as_glosses))
    if len(named) < len(sentence.layers):
        unknown = ", ".join(name for name in sentence.layers if name not in named)
        parts.append(element("div", f"nothing known: {unknown}", class_="quiet"))
    if len(sentence.forms) > _TOKENS:
        parts.append(element("div", f"... {len(sentence.forms) - _TOKENS:,} more tokens", class_="quiet"))
    # the first letter decides the direction of writing; names of layers have no say
    kinds = (bidirectional(letter) for form in sentence.forms[:_TOKENS] for letter in form)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return element("div", *parts, class_="sentence", dir="ltr" if first == "L" else "rtl")


def _gloss(sentence: Annotated, layers: list[str]) -> Html:
    names = [*layers, *(["confidence"] if sentence.confidence is not None else [])]
    lines = (element("span", name, class_="label") for name in names)
    head = [element("span", element("span", "\u00a0"), *lines, class_="names")] if names else []
    columns = []
    for at, form in enumerate(sentence.forms[:_TOKENS]):
        labels = [evidence(sentence.layers[name][at]) for name in layers]
        labels += [] if sentence.confidence is None else [html(share(sentence.confidence[at]))]
        columns.append(element("span", word(form), *(element("span", label, class_="label") for label in labels)))
    return element("div", *head, *columns, class_="gloss")


def _highlighted(sentence: Annotated, layer: str) -> Html:
    forms, positions, groups = sentence.forms, sentence.layers[layer], sentence.spans[layer]
    tints = of_types(_type(label) for group in groups for _, _, label in group)
    begins = {group[0][0]: group for group in groups if {_type(label) for _, _, label in group} != {_OUTSIDE}}
    parts = []
    at = 0
    while at < min(len(forms), _TOKENS):
        if at in begins:
            parts.append(_mark(forms, dict(positions[at] or ()), begins[at], tints))
            at = _end(begins[at])
        else:
            names = {name for name, _ in positions[at] or ()}
            is_open = not names or names >= _UNKNOWN
            parts.append(word(forms[at], class_="open", title="unknown") if is_open else word(forms[at]))
            at += 1
    return element("div", element("span", f"{layer}: ", class_="quiet"), joined(parts, " "), class_="running")


def _type(label: str | None) -> str:
    return "?" if label is None else label


def _end(group: Group) -> int:
    return max(start + 1 if stop is None else stop for start, stop, _ in group)


def _mark(forms: Sequence[str], numbers: Mapping[str, float | None], group: Group, tints: Mapping[str, str]) -> Html:
    start, stop = group[0][0], _end(group)
    names = dict.fromkeys(_type(label) for _, _, label in group)
    shown = [with_number(kind, numbers.get(kind if kind == _OUTSIDE else f"B-{kind}")) for kind in names]
    is_open = any(end is None for _, end, _ in group)
    label = element("small", " | ".join(shown) + (" ..." if is_open else ""))
    sure = min(begin + 1 if end is None else end for begin, end, _ in group)
    words = joined(map(word, forms[start:sure]), " ")
    if sure < stop:
        perhaps = element("span", joined(map(word, forms[sure:stop]), " "), class_="perhaps")
        words = joined([words, perhaps], " ")
    # likely spans are filled, and uncertain ones have a dashed frame
    first = next(name for name in names if name != _OUTSIDE)
    fill = "transparent" if (numbers.get(_OUTSIDE) or 0) > 0.5 else tints[first]
    frame = "outline:1px dashed currentColor;outline-offset:-1px" if len(group) > 1 or is_open else ""
    return element("mark", words, label, style=f"background:{fill};{frame}", title=_hint(forms, group))


def _hint(forms: Sequence[str], group: Group) -> str:
    """List the alternatives, if they differ in more than their types."""
    stops = {stop for _, stop, _ in group}
    if len(stops) == 1 and None not in stops:
        return ""
    return hint(
        f"{_type(label)}: {' '.join(forms[start : stop or start + 1])}{' ...' if stop is None else ''}"
        for start, stop, label in group
    )


_PROBABLE = 0.02  # labels whose probabilities are all smaller are left out
_COLUMNS, _LABELS = 80, 40  # tokens and labels in a heat map


def heat_map(forms: Sequence[str], labels: Sequence[str], rows: Sequence[Sequence[float]]) -> Html:
    """Show probabilities: a row for each label that is probable somewhere, a column for each token."""
    shown = rows[:_COLUMNS]
    most = [max((row[at] for row in shown), default=0.0) for at in range(len(labels))]
    probable = [at for at in range(len(labels)) if most[at] >= _PROBABLE]
    kept = sorted(sorted(probable, key=lambda at: -most[at])[:_LABELS])
    head = element("tr", element("th"), *(element("th", word(form), scope="col") for form in forms[:_COLUMNS]))
    lines = []
    for at in kept:
        cells = [element("th", labels[at], scope="row")]
        for value in (row[at] for row in shown):
            text, title = share(value) if value >= LEAST else "", f"{labels[at]} {value:.4f}"
            cells.append(element("td", text, style=f"background:{heat(value)}", title=title))
        lines.append(element("tr", *cells))
    parts = [element("div", element("table", head, *lines, class_="map"), class_="wide")]
    rest = (("improbable labels", len(labels) - len(kept)), ("more tokens", len(forms) - len(shown)))
    if missing := ", ".join(f"{count:,} {what}" for what, count in rest if count):
        parts.append(element("div", f"not shown: {missing}", class_="quiet"))
    return joined(parts)
