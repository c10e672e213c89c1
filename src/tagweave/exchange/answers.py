"""Answers of a language model: JSON Lines, each with a text or its tokens, and the names that it has.

    {"text": "Ann Bell left Graz .", "spans": [{"text": "Ann Bell", "label": "PER"}, {"text": "Graz", "label": "LOC"}]}
    {"tokens": ["Ann", "left"], "entities": {"PER": ["Ann"], "LOC": []}}

A span is quoted, since language models hardly count characters, or has offsets, `start` and `end`, and perhaps a
`probability`; offsets where the text differs from the quotation do not count. Lines that are no answer, such as those
that were cut off, or have a label of two lines, are left out and counted, unless they are many. A file may also be one
list of such objects.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import IO, Any

from tagweave.errors import CorpusError
from tagweave.exchange.document import CONTROL, Document, Mark, Tool, layer_name
from tagweave.exchange.json_exports import Values, read_objects, shown
from tagweave.exchange.quotations import Quotation, Tally, located
from tagweave.exchange.tokens import Offsets

ANSWERS = ("spans", "entities")
"""Under which names a line has its spans."""
_KIND, _OTHER = "label", "type"
_MOST_BROKEN = 0.1  # of the lines
_FEW = 10  # lines that may be broken, whatever their share


def read(path: str) -> Iterator[Document]:
    """Yield the texts of a file with their marks. Raises CorpusError if many lines are no answers."""
    broken: list[CorpusError] = []
    last: Document | None = None
    count = 0
    for values in read_objects(path, broken):
        try:
            answer = _document(values)
        except CorpusError as error:
            broken.append(error)
            continue
        if last is not None:
            yield last
        last, count = answer, count + 1
    count += len(broken)
    if broken and (last is None or len(broken) > max(_FEW, _MOST_BROKEN * count)):
        first = broken[0]
        many = f"{first.found}; {len(broken):,} of {count:,} lines are no answers" if count > 1 else first.found
        raise CorpusError(many, first.expected, first.path, first.line)
    if last is not None:
        yield replace(last, left_out={f"lines that are no answers ({broken[0]})": len(broken)} if broken else {})


def _document(values: Values) -> Document:
    tally, location = Tally(), values.location
    text, tokens = _text(values)
    marks = tuple(chain(*spans(values, text, tally)))
    annotator = layer_name(Path(location.path).name.partition(".")[0])
    return Document(text, {annotator: marks}, values.name("id"), tokens, location, tally=tally)


def _text(line: Values) -> tuple[str, tuple[Offsets, ...] | None]:
    tokens = line.values.get("tokens")
    if not isinstance(tokens, list) or not all(isinstance(token, str) and token.strip() for token in tokens):
        return line.get("text", str), None
    stops = [*accumulate((len(token) + 1 for token in tokens), initial=0)]
    return " ".join(tokens), tuple((start, stop - 1) for start, stop in pairwise(stops))


def spans(line: Values, text: str, tally: Tally) -> tuple[list[Mark], list[Mark]]:
    """Return what a line marks in its text by offsets, and by quotations, and count these.

    Raises CorpusError if it has no such list.
    """
    quoted: list[Quotation] = []
    marks: list[Mark] = []
    for label, value in _given(line):
        match value:
            case str():
                quoted.append(Quotation(value, label))
            case [str(part), str(kind)]:
                quoted.append(Quotation(part, kind))
            case dict():
                span = _span(Values(value, line.location), label, text, line)
                (marks if isinstance(span, Mark) else quoted).append(span)  # type: ignore[arg-type]
            case _:
                raise line.error(f"the span {shown(value)}", 'a quotation with its label, {"text": ..., "label": ...}')
    for kind in {quotation.label for quotation in quoted} | {mark.label for mark in marks}:
        if wrong := CONTROL.search(kind):
            raise line.error(f"the character {wrong.group()!r} in the label {kind!r}", "a label in one line")
    if empty := next(
        (quotation for quotation in quoted if not quotation.text.strip() or not quotation.label.strip()), None
    ):
        raise line.error(f"the quotation {empty.text!r} with the label {empty.label!r}", "a quotation and its label")
    try:
        places = located(text, quoted, tally)
    except CorpusError as error:
        raise error.at(*line.location) from None
    return marks, [Mark(start, stop, quotation.label, quotation.probability) for start, stop, quotation in places]


def _given(line: Values) -> Iterator[tuple[str, object]]:
    """Yield each span, with its label if spans are given by label."""
    value = next((line.values[name] for name in ANSWERS if name in line), None)
    if isinstance(value, dict):
        for label, spans in value.items():
            yield from ((label, span) for span in (spans if isinstance(spans, list) else [spans]) if spans is not None)
    elif isinstance(value, list):
        yield from (("", span) for span in value)
    else:
        raise line.error(f"no answer ({shown(value)})", '"spans", a list of quotations with their labels')


def _span(span: Values, label: str, text: str, line: Values) -> Mark | Quotation:
    label = label or span.get(_OTHER if _OTHER in span and _KIND not in span else _KIND, str)
    probability = span.get("probability", float) if "probability" in span else 1.0
    if not 0 < probability <= 1:
        raise span.error(f"the probability {probability}", "a number above 0, and at most 1")
    if "start" in span and "end" in span:
        start, stop = span.get("start", int), span.get("end", int)
        if "text" not in span and "text" not in line:
            raise span.error(f"a span from {start} to {stop} beside tokens", "a quotation: these may be tokens")
        if "text" not in span or (0 <= start < stop and text[start:stop] == span.values["text"]):
            return Mark(start, stop, label, probability)
    return Quotation(span.get("text", str), label, probability)


def is_quoted(line: dict[str, Any]) -> bool | None:
    """Return whether an object has spans as answers have them, and not as annotation tools do; `None` without spans."""
    spans = next((line[name] for name in ANSWERS if line.get(name)), None)
    if isinstance(spans, dict):
        return True
    first = spans[0] if isinstance(spans, list) and spans else None
    if isinstance(first, dict):
        places = {"start", "start_offset"} & first.keys()
        if "start" in places and not line.get("spans") and isinstance(line.get("text"), str):
            return True  # where doccano has entities, these have a start_offset
        return ("text" in first and not places) or "probability" in first
    return None if first is None else isinstance(first, list) and [*map(type, first)] == [str, str]


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents with the spans of all annotators, quoted and with their offsets."""
    for document in documents:
        marks: Sequence[Mark] = [mark for layer in document.marks.values() for mark in layer or ()]
        listed = [
            {
                "text": document.text[mark.start : mark.stop],
                "label": mark.label,
                "start": mark.start,
                "end": mark.stop,
                "probability": mark.probability,
            }
            for mark in marks
        ]
        stream.write(json.dumps({"text": document.text, "spans": listed}, ensure_ascii=False) + "\n")


TOOL = Tool("answers", read, write, ".jsonl")
