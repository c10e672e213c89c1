"""Spans: chunks of tokens with a type (entities, phrases), as a view of a layer of labels in IOB2.

A layer of spans is a sequence of groups. A group holds alternatives of label and boundary, and one of them is true;
most groups have one alternative. As evidence for labels, alternatives become sets of labels at each token, so

    (Span(0, 2, "PER"),)                        B-PER   I-PER
    (Span(0, 2, "PER"), Span(0, 2, "ORG"))      B-PER|B-ORG   I-PER|I-ORG
    (Span(0, 2, None),)                         B-*   I-*                something, of unknown type
    (Span(0, None, "PER"),)                     B-PER   B-*|I-PER|O      its right end is unknown
    (Span(0, 2, "PER"), Span(0, 1, "PER"))      B-PER   B-*|I-PER|O
    (Span(0, 2, "PER"), Span(0, 2, "O"))        B-PER|O   I-PER|O        perhaps no entity

and the transitions of the scheme do the rest. What no group covers is `elsewhere`: `O`, or unknown. A group that is
followed by an unknown position ends there (`chunk_schemes`).

That a span is not there is no set of labels for each token, so rejected spans stand beside the layers
(`Sentence.rejected`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from tagweave.corpus.candidates import Soft
from tagweave.errors import CorpusError

Candidates = tuple[str, ...] | None
"""The labels that a position still allows; `None` allows every label."""
Layer = tuple[Candidates, ...]

OUTSIDE = "O"
ANY = "*"
"""The type of a span that stands for every type."""


class Span(NamedTuple):
    """The tokens start .. stop - 1, from 0, and their type.

    `stop` is `None` if the right end is unknown. `label` is `None` if the type is unknown, and `O` for tokens that are
    in no span.
    """

    start: int
    stop: int | None
    label: str | None


SpanCandidates = tuple[Span, ...]
"""The alternatives of one span; exactly one is true."""


def span_labels(
    groups: Iterable[SpanCandidates],
    length: int,
    elsewhere: Candidates = (OUTSIDE,),
    location: tuple[str, int] = ("", 0),
) -> Layer:
    """Return the labels in IOB2 that spans, in any order, allow for `length` tokens.

    Tokens that no group covers have the candidates `elsewhere`; `None`: unknown. `location` is for messages.
    """
    labels: list[Candidates] = [elsewhere] * length
    end = 0
    for group in sorted(groups):
        if not group:
            raise CorpusError("a span without alternatives", "at least one", *location)
        for first, stop, _ in group:
            if not 0 <= first < length or not first < (first + 1 if stop is None else stop) <= length:
                raise CorpusError(f"the span {first}:{stop}", f"tokens from 0 to {length}", *location)
        if min(span.start for span in group) < end:
            problem = f"the span {group[0].start}:{group[0].stop}, which overlaps the one before it"
            raise CorpusError(problem, "spans that neither overlap nor nest: a token has one label", *location)
        start, end = group[0].start, _end(group)
        for at in range(start, end):
            labels[at] = _union(_allowed_at(span, at, elsewhere, at > start) for span in group)
        _label_rest(labels, group, end, elsewhere)
    return tuple(labels)


def _end(group: Iterable[Span]) -> int:
    return max(span.start + 1 if span.stop is None else span.stop for span in group)


def _allowed_at(span: Span, at: int, elsewhere: Candidates, inside: bool) -> Candidates:
    """Return what one alternative allows at a token of its group."""
    kind = ANY if span.label is None else span.label
    if span.start <= at and (span.stop is None or at < span.stop):
        if kind == OUTSIDE:
            return (OUTSIDE,)
        if at == span.start:
            return (f"B-{kind}",)
        return (f"I-{kind}",) if span.stop is not None else (f"I-{kind}", *_new(elsewhere))
    return _new(elsewhere) if inside else elsewhere


def _new(elsewhere: Candidates) -> tuple[str, ...]:
    """Return the candidates of a token that is covered by no span and does not continue one."""
    return (f"B-{ANY}", OUTSIDE) if elsewhere is None else elsewhere


def _union(parts: Iterable[Candidates]) -> Candidates:
    names: dict[str, None] = {}
    for candidates in parts:
        if candidates is None:
            return None
        names.update(dict.fromkeys(candidates))
    wild = {name[:2] for name in names if name.endswith(f"-{ANY}")}
    return tuple(sorted(name for name in names if name[:2] not in wild or name.endswith(f"-{ANY}")))


def _label_rest(labels: list[Candidates], group: SpanCandidates, end: int, elsewhere: Candidates) -> None:
    """Label what follows a group: it may go on if its right end is unknown, and does not otherwise."""
    more = [f"I-{ANY if span.label is None else span.label}" for span in group if span.stop is None]
    if end >= len(labels):
        return
    if elsewhere is None:
        last = labels[end - 1]
        ends = last == (OUTSIDE,) or (last is not None and all(name[0] in "BI" for name in last))
        if more or not ends:
            labels[end] = _union([_new(None), tuple(more)])
    elif more:
        for at in range(end, len(labels)):
            labels[at] = _union([elsewhere, tuple(more)])


def spans_of(layer: Layer, location: tuple[str, int] = ("", 0)) -> tuple[SpanCandidates, ...]:
    """Return the spans of labels in IOB2, from left to right: the way back from `span_labels`.

    Of a layer with unknown positions, tokens that are certainly in no span are spans of the label `O`; of a layer
    without, everything outside the spans is `O` anyway.
    """
    groups: list[SpanCandidates] = []
    partial, at = any(candidates is None or _begins_anyway(candidates) for candidates in layer), 0
    while at < len(layer):
        candidates = layer[at] or ()
        begins = [name for name in candidates if name[:2] == "B-"]
        if not candidates or _begins_anyway(candidates):
            at += 1
        elif begins:
            spans = [span for name in begins for span in _alternatives(layer, at, name[2:])]
            if not spans:
                problem = (
                    f"the label {'|'.join(layer[at + 1] or ())!r} at token {at + 2} after {'|'.join(candidates)!r}"
                )
                raise CorpusError(problem, "O, B-TYPE, or I- with the type of the span, as in IOB2", *location)
            end = _end(spans)
            groups.append((*spans, Span(at, end, OUTSIDE)) if OUTSIDE in candidates else tuple(spans))
            at = end
        elif candidates != (OUTSIDE,):
            name = next(name for name in candidates if name != OUTSIDE)
            raise CorpusError(f"the label {name!r} at token {at + 1}", "O or B-TYPE where a span may begin", *location)
        else:
            stop = next((t for t in range(at, len(layer)) if layer[t] != (OUTSIDE,)), len(layer))
            if partial:
                groups.append((Span(at, stop, OUTSIDE),))
            at = stop
    return tuple(groups)


def _begins_anyway(candidates: tuple[str, ...]) -> bool:
    """Return whether the candidates say no more than that nothing goes on."""
    return f"B-{ANY}" in candidates and OUTSIDE in candidates


def _alternatives(layer: Layer, start: int, kind: str) -> Iterator[Span]:
    """Yield the spans of one type that may begin at a token: one for each right end."""
    label, more = None if kind == ANY else kind, {f"I-{kind}", f"I-{ANY}"}
    for stop in range(start + 1, len(layer) + 1):
        following = layer[stop] if stop < len(layer) else (OUTSIDE,)
        goes_on = following is not None and not more.isdisjoint(following)
        if goes_on and stop + 1 < len(layer) and layer[stop + 1] is None and _begins_anyway(following or ()):
            yield Span(start, None, label)
            return
        if following is None or {name[:1] for name in following} != {"I"}:
            yield Span(start, stop, label)
        if not goes_on:
            return


SPANS: Literal["spans"] = "spans"
TAGS: Literal["tags"] = "tags"
"""What is found: spans, coded in IOB2, or labels of single tokens."""


class FoundSpan(NamedTuple):
    """The tokens start .. stop - 1, the types that the span may have, and the probability that it is one of these."""

    start: int
    stop: int
    types: tuple[str, ...]
    probability: float = 1.0


def layer_of(spans: Iterable[FoundSpan], length: int, outside: bool, task: str = SPANS) -> Layer:
    """Return the labels of spans in IOB2, or with `TAGS` their types as the labels of each token.

    Of spans that overlap, the longest counts, and of equally long ones the first. A span with a probability below 1 is
    either one or, with the rest of the probability, nothing.
    """
    labels: list[Candidates] = [(OUTSIDE,) if outside else None] * length
    taken = bytearray(length)
    for span in sorted(spans, key=lambda span: (span.start - span.stop, span.start)):
        if not 0 <= span.start < span.stop <= length:
            raise CorpusError(f"the span {span.start}:{span.stop}", f"tokens from 0 to {length}")
        if not 0 < span.probability <= 1:
            raise CorpusError(f"the probability {span.probability}", "a number above 0, and at most 1")
        if taken[span.start] or taken[span.stop - 1]:  # longer spans came before, so they cover one of its ends
            continue
        taken[span.start : span.stop] = b"\1" * (span.stop - span.start)
        first, rest = (
            _with_rest(tuple(f"{place}{kind}" for kind in span.types), span.probability)
            for place in (("", "") if task == TAGS else ("B-", "I-"))
        )
        labels[span.start : span.stop] = [first, *[rest] * (span.stop - span.start - 1)]
    return tuple(labels)


def _with_rest(names: tuple[str, ...], probability: float) -> tuple[str, ...]:
    """Return the labels, and `O` with the rest of the probability, the most probable first."""
    if probability == 1:
        return names
    return Soft.by_number({**dict.fromkeys(names, probability / len(names)), OUTSIDE: 1 - probability})
