"""Spans that somebody found, each with its types and how sure that is, as a layer of labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Layer
from tagweave.corpus.soft import Soft
from tagweave.corpus.spans import OUTSIDE

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
    """The labels of spans in IOB2, or with `TAGS` their types as the labels of each token.

    Of spans that overlap, the longest counts, and of equally long ones the first. A span with a probability below 1 is
    either one or, with the rest of the probability, nothing.

    Raises:
        CorpusError: a span without tokens, or beyond the sentence; a probability that is not above 0 and at most 1.
    """
    labels: list[Candidates] = [(OUTSIDE,) if outside else None] * length
    taken = bytearray(length)
    for span in sorted(spans, key=lambda each: (each.start - each.stop, each.start)):
        if not 0 <= span.start < span.stop <= length:
            raise CorpusError(f"the span {span.start}:{span.stop}", f"tokens from 0 to {length}")
        if not 0 < span.probability <= 1:
            raise CorpusError(f"the probability {span.probability}", "a number above 0, and at most 1")
        if taken[span.start] or taken[span.stop - 1]:  # longer spans came before, so they cover one of its ends
            continue
        length_of_span = span.stop - span.start
        taken[span.start : span.stop] = b"\1" * length_of_span
        first, rest = ("", "") if task == TAGS else ("B-", "I-")
        labels[span.start] = _labels(first, span)
        labels[span.start + 1 : span.stop] = [_labels(rest, span)] * (length_of_span - 1)
    return tuple(labels)


def _labels(place: str, span: FoundSpan) -> tuple[str, ...]:
    return _weighted(tuple(f"{place}{each}" for each in span.types), span.probability)


def _weighted(names: tuple[str, ...], probability: float) -> tuple[str, ...]:
    """The labels, and `O` with the rest of the probability, the most probable first."""
    if probability == 1:
        return names
    shares = {**dict.fromkeys(names, probability / len(names)), OUTSIDE: 1 - probability}
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return Soft((name for name, _ in ordered), (round(share, 6) for _, share in ordered))
