"""Which spans evidence makes certain, and which it excludes.

Every token has a set of labels that it may have. Two neighbours may join in one span if some pair of their labels does
(`span_rules`), and may part if some pair does not. But if some pair joins, and the others part only because their types
differ, they certainly join: `B-X|B-Y I-X|I-Y` is one span. After a token that is certainly inside a span, an unknown
token does not continue it: annotators mark whole spans (in BIOES, where letters mark the right end, it may).

- A span is *certain* if its tokens are certainly inside and certainly join, and certainly part from their neighbours.
  Its type is one that all its tokens allow.
- A span is *excluded* if one of its tokens may not be inside with its type, or two neighbours may not join with this
  type, or the first or the last one, with this type, may not part from its neighbour.

Both are judged by pairs of neighbours. What is certain occurs in all legal sequences that the evidence allows,
and what is excluded in none. If every set has one label or all of them, it is also the other way round, for sequences
that may be illegal. With other sets, a span may stay open that a search through all sequences would settle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tagweave.labels.span_rules import Booleans, Integers, SpanArrays, SpanRules

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CertainSpans(NamedTuple):
    """G certain spans: first tokens, the tokens after the last ones, and bool[G, T], the types that each may have."""

    starts: Integers
    stops: Integers
    types: Booleans


class SpanVerdict(NamedTuple):
    """What evidence says about the spans of a system.

    Attributes:
        gold: the G certain spans.
        system: the spans of the system.
        gold_match: int64[M], the certain spans that the system has, with a type that they may have.
        system_match: int64[M], the same spans by their numbers in `system`.
        scored: for each span of the system, whether it is one of these (right) or excluded (wrong); others are open.
    """

    gold: CertainSpans
    system: SpanArrays
    gold_match: Integers
    system_match: Integers
    scored: Booleans


class SpanEvidence:
    """The evidence of K sets of labels.

    Args:
        rules: of the L labels.
        allowed: bool[K, L], the labels of each set.
        unknown: bool[K], the sets that stand for positions without annotation.
        closes: whether a span that is followed by an unknown token ends there.
    """

    def __init__(self, rules: SpanRules, allowed: Booleans, unknown: Booleans, closes: bool) -> None:
        kinds = rules.type[:-1]
        of_type = allowed[:, None] & (kinds == np.arange(len(rules.types))[:, None])  # [K, T, L]
        joins = rules.joins[:-1, :-1]
        self._rules = rules
        self._inside: Booleans = np.logical_not(allowed[:, kinds < 0].any(axis=1))
        self._types = of_type.any(axis=2)  # [K, T]
        # for two neighbouring sets, [K, K]; with a third axis T: ... and the token in question has this type
        self._may_join = _pair(allowed, joins, allowed)
        parts = ~(self._may_join & ~_pair(allowed, ~rules.follows[:-1, :-1], allowed))
        self._may_part = parts & _pair(allowed, ~joins, allowed)
        self._may_go_on = np.moveaxis(_pair(of_type, joins, allowed), 1, 2)
        self._may_end = parts[..., None] & np.moveaxis(_pair(of_type, ~joins, allowed), 1, 2)
        self._may_begin = parts[..., None] & _pair(allowed, ~joins, of_type)
        if closes:
            self._close(self._inside[:, None] & unknown)

    def _close(self, pairs: Booleans) -> None:
        """Let neighbours certainly part."""
        self._may_join[pairs], self._may_part[pairs], self._may_go_on[pairs] = False, True, False
        first, second = np.nonzero(pairs)
        self._may_end[pairs], self._may_begin[pairs] = self._types[first], self._types[second]

    def verdict(self, gold: NDArray[np.integer], system: NDArray[np.integer], begins: Booleans) -> SpanVerdict:
        """Judge the spans of a system.

        Args:
            gold: the number of the set of each of N tokens.
            system: the label of each token; -1 means no label.
            begins: bool[N + 1], where a sentence begins, and the end.
        """
        certain, spans = self.certain(gold, begins), self._rules.spans(system, begins)
        keys, other_keys = (item.starts * len(begins) + item.stops for item in (certain, spans))
        _, ours, theirs = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
        agree = certain.types[ours, spans.types[theirs]]
        scored = self._excluded(gold, spans, begins)
        scored[theirs[agree]] = True
        return SpanVerdict(certain, spans, ours[agree], theirs[agree], scored)

    def certain(self, sets: NDArray[np.integer], begins: Booleans) -> CertainSpans:
        """The certain spans of N tokens, from the numbers of their sets and where sentences begin (bool[N + 1])."""
        may_join, may_part = np.zeros(len(begins), np.bool_), np.ones(len(begins), np.bool_)
        may_join[1:-1] = self._may_join[sets[:-1], sets[1:]] & ~begins[1:-1]
        may_part[1:-1] = self._may_part[sets[:-1], sets[1:]] | begins[1:-1]
        starts, stops = np.flatnonzero(may_part[:-1]), np.flatnonzero(may_part[1:]) + 1
        if not len(starts):
            return CertainSpans(starts, stops, np.zeros((0, self._types.shape[1]), np.bool_))
        types = np.logical_and.reduceat(self._types[sets], starts)
        sure = np.logical_and.reduceat(self._inside[sets], starts) & ~may_join[starts] & ~may_join[stops]
        sure &= types.any(axis=1)
        return CertainSpans(starts[sure], stops[sure], types[sure])

    def _excluded(self, gold: NDArray[np.integer], spans: SpanArrays, begins: Booleans) -> Booleans:
        """Whether each span of the system is excluded."""
        lengths = spans.stops - spans.starts
        number, kinds = np.repeat(np.arange(len(lengths)), lengths), np.repeat(spans.types, lengths)
        tokens = np.arange(len(number)) + np.repeat(spans.stops - np.cumsum(lengths), lengths)
        fits = self._types[gold[tokens], kinds]
        inner = np.flatnonzero(number[1:] == number[:-1]) + 1
        fits[inner] &= self._may_go_on[gold[tokens[inner] - 1], gold[tokens[inner]], kinds[inner]]
        wrong = np.bincount(number[~fits], minlength=len(lengths)) > 0
        first, last = np.flatnonzero(~begins[spans.starts]), np.flatnonzero(~begins[spans.stops])
        at, after = spans.starts[first], spans.stops[last]
        wrong[first] |= ~self._may_begin[gold[at - 1], gold[at], spans.types[first]]
        wrong[last] |= ~self._may_end[gold[after - 1], gold[after], spans.types[last]]
        return wrong


def _pair(first: Booleans, pairs: Booleans, second: Booleans) -> Booleans:
    """Whether some label of one set (..., L) and some label of another are such a pair (bool[L, L])."""
    found = np.tensordot(first.astype(np.float32) @ pairs.astype(np.float32), second.astype(np.float32), (-1, -1))
    return found > 0
