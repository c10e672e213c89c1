"""The picture of a sentence in a notebook: its labels, spans and trees, for `display` to draw."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE, SpanCandidates, spans_of
from tagweave.display.markup import LEAST, Html
from tagweave.display.pictures import Annotated, sentence_picture
from tagweave.errors import CorpusError


def sentence_html(sentence: Sentence) -> Html:
    """Show a sentence with all its layers."""
    position = cache(lambda candidates: _numbered(_probable(candidates)))
    layers = {name: [position(each) for each in layer] for name, layer in sentence.layers.items()}
    spans = {name: groups for name in sentence.layers if (groups := _spans(sentence, name)) is not None}
    heads = {name: [_numbered(arcs) for arcs in layer] for name, layer in sentence.heads.items()}
    return sentence_picture(Annotated(sentence.forms, layers, spans, heads, sentence.confidence))


def _numbered(candidates: tuple[Any, ...] | None) -> Sequence[tuple[Any, float | None]] | None:
    """Pair candidates with their numbers, the largest first."""
    if candidates is None:
        return None
    if not isinstance(candidates, Soft):
        return [(each, None) for each in candidates]
    return sorted(candidates.numbered(), key=lambda pair: -pair[1])


def _probable(candidates: Candidates) -> Candidates:
    """Drop candidates whose number is written as 0; if one is left, it needs no number."""
    if not isinstance(candidates, Soft):
        return candidates
    pairs = [(name, number) for name, number in _numbered(candidates) or () if number is None or number >= LEAST]
    if not pairs or len(pairs) == len(candidates):
        return candidates
    names, numbers = zip(*pairs, strict=True)
    return names if len(names) == 1 else Soft(names, numbers)


def _spans(sentence: Sentence, layer: str) -> tuple[SpanCandidates, ...] | None:
    """Return the spans of a layer; `None` if its labels are not in IOB2."""
    names = {name for candidates in set(sentence.layers[layer]) for name in candidates or ()}
    if not names or any(name != OUTSIDE and name[:2] not in ("B-", "I-") for name in names):
        return None
    try:
        return spans_of(tuple(map(_probable, sentence.layers[layer])))
    except CorpusError:  # labels of another scheme
        return None
