"""Spans (entities, phrases) directly from arrays of labels, whatever their coding: IOB1, IOB2 or BIOES.

Every sequence of labels gives spans, also one that violates its coding. Two neighbouring tokens are in one span if both
are inside (not `O`), the first is not labelled E or S, the second not B or S, and their types are the same; a span is a
longest run of such neighbours. For B, I and O these are the rules of conlleval (Tjong Kim Sang and Buchholz 2000,
"Introduction to the CoNLL-2000 shared task: chunking"; its `startOfChunk` and `endOfChunk`), for all letters those of
its versions for BIOES and of seqeval by default. (The first conlleval has no S, and joins `E-X B-X`.) All of them have
a function for either end, but these agree: where a span starts within another, that one ends.

A label without a type has the type `_`, as in seqeval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.transition_scheme import split_label

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

OUTSIDE = "O"
UNTYPED = "_"
_LABEL = re.compile(r"O|[BIES](-.*)?", re.DOTALL)


def is_span_label(name: str) -> bool:
    """Whether a label is `O`, or one of B, I, E, S, alone or with a type (`B-PER`)."""
    return _LABEL.fullmatch(name) is not None


def are_span_labels(names: Iterable[str]) -> bool:
    """Whether labels code spans: all have that form, and one has a type, or B or I stands beside `O`."""
    distinct = set(names)
    has_spans = any(name[1:2] == "-" for name in distinct) or (OUTSIDE in distinct and not distinct.isdisjoint("BI"))
    return has_spans and all(map(is_span_label, distinct))


def ends_are_marked(labels: Iterable[str]) -> bool:
    """Whether labels are of a coding that marks the right ends of spans: one of them is E or S."""
    return any(label[0] in "ES" for label in labels)


def all_span_labels(names: Iterable[str], marked: bool) -> tuple[str, ...]:
    """The labels, followed by `O` and what else their types have in a coding: B and I, and E and S if it marks ends."""
    known = tuple(names)
    kinds = [name[1:] for name in known if name != OUTSIDE] or [""]
    letters = "BIES" if marked else "BI"
    return tuple(dict.fromkeys([*known, OUTSIDE, *(letter + kind for kind in kinds for letter in letters)]))


class SpanArrays(NamedTuple):
    """Spans in rising order, which do not overlap: the first token of each, the token after its last one, its type."""

    starts: Integers
    stops: Integers
    types: Integers


class SpanRules:
    """What L labels say about spans.

    Attributes:
        types: the names of the types.
        type: int64[L + 1], the number of the type of every label; -1 for `O`, and at the end for "no label".
        follows: bool[L + 1, L + 1], whether the letters of two neighbouring tokens allow that they are in one span.
        joins: bool[L + 1, L + 1], whether they are: the types agree, too.

    Raises:
        ValueError: a label of another form.
    """

    def __init__(self, names: Sequence[str]) -> None:
        if strange := [name for name in names if not is_span_label(name)]:
            raise ValueError(f"found the label {strange[0]!r}, expected O, or B, I, E or S, alone or with -TYPE")
        parts = [split_label(name) for name in (*names, OUTSIDE)]
        kinds = [None if letter == OUTSIDE else kind or UNTYPED for letter, kind in parts]
        self.types = tuple(dict.fromkeys(kind for kind in kinds if kind is not None))
        self.type = np.array([-1 if kind is None else self.types.index(kind) for kind in kinds])
        goes_on = np.array([letter in "BI" for letter, _ in parts])
        continues = np.array([letter in "IE" for letter, _ in parts])
        self.follows = goes_on[:, None] & continues
        self.joins = self.follows & (self.type[:, None] == self.type)

    def spans(self, labels: NDArray[np.integer], begins: Booleans) -> SpanArrays:
        """The spans of N labels; `begins` (bool[N + 1]) marks where a sentence begins, and the end."""
        types = self.type[labels]
        parts = begins.copy()
        parts[1:-1] |= ~self.joins[labels[:-1], labels[1:]]
        inside = types >= 0
        starts = np.flatnonzero(parts[:-1] & inside)
        return SpanArrays(starts, np.flatnonzero(parts[1:] & inside) + 1, types[starts])


def sentence_begins(sentence_ptr: NDArray[np.integer]) -> Booleans:
    """bool[N + 1]: where a sentence begins, and the end, from int[S + 1], the first token of every sentence."""
    begins = np.zeros(int(sentence_ptr[-1]) + 1, np.bool_)
    begins[sentence_ptr] = True
    return begins
