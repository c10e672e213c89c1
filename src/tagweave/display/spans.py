"""Spans as highlights in running text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tagweave.display.colours import of_types
from tagweave.display.evidence import hint, numbered, probable, with_number
from tagweave.display.markup import Html, element, joined, word

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Layer, Sentence
    from tagweave.corpus.spans import Span, SpanCandidates

_OUTSIDE = "O"


def is_of_spans(layer: Layer) -> bool:
    """Whether the labels look like IOB2."""
    names = {name for candidates in set(layer) for name in candidates or ()}
    return bool(names) and all(name == _OUTSIDE or name[:2] in ("B-", "I-") for name in names)


def highlighted(sentence: Sentence, layer: str, most: int) -> Html | None:
    """The first tokens of a sentence with the spans of a layer highlighted; `None` if its labels are not in IOB2."""
    try:
        sentence = sentence.with_layer(layer, map(probable, sentence.layers[layer]))
        groups = sentence.spans(layer)
    except ValueError:  # `CorpusError`, of a room above this one: labels of another scheme
        return None
    tints = of_types(_type(span) for group in groups for span in group)
    name = element("span", f"{layer}: ", class_="quiet")
    return element("div", name, joined(_parts(sentence, layer, groups, tints, most), " "), class_="running")


def _type(span: Span) -> str:
    return "?" if span.label is None else span.label


def _end(group: SpanCandidates) -> int:
    return max(span.start + 1 if span.stop is None else span.stop for span in group)


def _parts(
    sentence: Sentence, layer: str, groups: tuple[SpanCandidates, ...], tints: dict[str, str], most: int
) -> Iterator[Html]:
    begins = {group[0].start: group for group in groups if {_type(span) for span in group} != {_OUTSIDE}}
    at = 0
    while at < min(len(sentence), most):
        if at in begins:
            yield _mark(sentence, layer, begins[at], tints)
            at = _end(begins[at])
        else:
            known = not {"B-*", _OUTSIDE} <= {*(sentence.layers[layer][at] or ("B-*", _OUTSIDE))}
            yield word(sentence.forms[at]) if known else word(sentence.forms[at], class_="open", title="unknown")
            at += 1


def _mark(sentence: Sentence, layer: str, group: SpanCandidates, tints: dict[str, str]) -> Html:
    start, stop = group[0].start, _end(group)
    numbers = dict(numbered(sentence.layers[layer][start] or ()))
    names = dict.fromkeys(_type(span) for span in group)
    shown = [with_number(each, numbers.get(each if each == _OUTSIDE else f"B-{each}")) for each in names]
    is_open = any(span.stop is None for span in group)
    label = element("small", " | ".join(shown) + (" ..." if is_open else ""))
    sure = min(start + 1 if span.stop is None else span.stop for span in group)
    words = joined(map(word, sentence.forms[start:sure]), " ")
    perhaps = element("span", joined(map(word, sentence.forms[sure:stop]), " "), class_="perhaps")
    words = joined([words, perhaps], " ") if sure < stop else words
    return element("mark", words, label, style=_style(group, numbers, tints), title=_hint(sentence, group))


def _style(group: SpanCandidates, numbers: dict[str, float | None], tints: dict[str, str]) -> str:
    """Filled where it is a span, framed by dashes where that is uncertain, and only framed where it is unlikely."""
    first = next(_type(span) for span in group if _type(span) != _OUTSIDE)
    uncertain = len(group) > 1 or any(span.stop is None for span in group)
    unlikely = (numbers.get(_OUTSIDE) or 0) > 0.5
    frame = "outline:1px dashed currentColor;outline-offset:-1px" if uncertain else ""
    return f"background:{'transparent' if unlikely else tints[first]};{frame}"


def _hint(sentence: Sentence, group: SpanCandidates) -> str:
    """The alternatives, if they differ in more than their types."""
    if len({span.stop for span in group}) == 1 and group[0].stop is not None:
        return ""
    return hint(
        f"{_type(span)}: {' '.join(sentence.forms[span.start : span.stop or span.start + 1])}"
        f"{' ...' if span.stop is None else ''}"
        for span in group
    )
