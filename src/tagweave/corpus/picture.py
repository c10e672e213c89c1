"""The picture of a sentence in a notebook: its labels, spans and heads, for `display` to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from tagweave.corpus.candidates import Soft
from tagweave.corpus.spans import OUTSIDE, Candidates, Layer, SpanCandidates, spans_of
from tagweave.display.markup import LEAST, picture
from tagweave.display.pictures import Annotated, sentence_picture
from tagweave.errors import CorpusError


def sentence_html(
    forms: Sequence[str],
    layers: Mapping[str, Layer],
    heads: Mapping[str, Sequence[tuple[Any, ...] | None]],
    confidence: Sequence[float] | None,
) -> str:
    """Show a sentence with all its layers."""
    position = cache(lambda candidates: _numbered(_probable(candidates)))
    labels = {name: [position(candidates) for candidates in layer] for name, layer in layers.items()}
    spans = {name: groups for name, layer in layers.items() if (groups := _spans(layer)) is not None}
    for name, layer in heads.items():
        labels[f"{name} (heads)" if name in labels else name] = [_arcs(candidates) for candidates in layer]
    return picture(sentence_picture(Annotated(forms, labels, spans, confidence)))


def _arcs(candidates: tuple[Any, ...] | None) -> Sequence[tuple[str, float | None]] | None:
    """Write candidates for the head of a word as its number, and the relation."""
    numbered = _numbered(candidates)
    if numbered is None:
        return None
    return [(f"{'?' if head is None else head} {relation or ''}".rstrip(), n) for (head, relation), n in numbered]


def _numbered(candidates: tuple[Any, ...] | None) -> Sequence[tuple[Any, float | None]] | None:
    """Pair candidates with their numbers, the largest first."""
    if candidates is None:
        return None
    if not isinstance(candidates, Soft):
        return [(candidate, None) for candidate in candidates]
    return sorted(candidates.numbered(), key=lambda pair: -pair[1])


def _probable(candidates: Candidates) -> Candidates:
    """Drop candidates whose number is written as 0; if one is left, it needs no number."""
    if not isinstance(candidates, Soft):
        return candidates
    pairs = [pair for pair in candidates.numbered() if pair[1] >= LEAST]
    if not pairs or len(pairs) == len(candidates):
        return candidates
    names, numbers = zip(*pairs, strict=True)
    return names if len(names) == 1 else Soft(names, numbers)


def _spans(layer: Layer) -> tuple[SpanCandidates, ...] | None:
    """Return the spans of a layer; `None` if its labels are not in IOB2."""
    names = {name for candidates in set(layer) for name in candidates or ()}
    if not names or any(name != OUTSIDE and name[:2] not in ("B-", "I-") for name in names):
        return None
    try:
        return spans_of(tuple(map(_probable, layer)))
    except CorpusError:  # labels of another scheme
        return None
