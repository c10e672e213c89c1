"""Spans (entities, phrases) from arrays of labels in IOB1, IOB2 or BIOES, and the spans of a system under evidence.

Every sequence of labels has spans, even one that violates its coding. Two neighbouring tokens are in one span if both
are inside (not `O`), the first is not labelled E or S, the second not B or S, and their types are equal; a span is a
longest run of such neighbours. For B, I and O these are the rules of conlleval (Tjong Kim Sang and Buchholz 2000,
"Introduction to the CoNLL-2000 shared task: chunking"), for all letters the rules of its versions for BIOES and of
seqeval by default; the first conlleval has no S, and joins `E-X B-X`. A label without a type has the type `_`, as in
seqeval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.spans import OUTSIDE
from tagweave.labels.transition_scheme import split_label

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

UNTYPED = "_"
_LABEL = re.compile(r"O|[BIES](-.*)?", re.DOTALL)


def is_span_label(name: str) -> bool:
    """Return whether a label is `O`, or one of B, I, E, S, alone or with a type (`B-PER`)."""
    return _LABEL.fullmatch(name) is not None


def are_span_labels(names: Iterable[str]) -> bool:
    """Return whether labels code spans: all have that form, and one has a type, or B or I stands beside `O`."""
    distinct = set(names)
    has_spans = any(name[1:2] == "-" for name in distinct) or (OUTSIDE in distinct and not distinct.isdisjoint("BI"))
    return has_spans and all(map(is_span_label, distinct))


def ends_are_marked(labels: Iterable[str]) -> bool:
    """Return whether labels are of a coding that marks the right ends of spans: one of them is E or S."""
    return any(label[0] in "ES" for label in labels)


def all_span_labels(names: Iterable[str], marked: bool) -> tuple[str, ...]:
    """Return the labels, then `O` and the missing labels of their types: B and I, also E and S if ends are `marked`."""
    labels = tuple(names)
    kinds = [name[1:] for name in labels if name != OUTSIDE] or [""]
    letters = "BIES" if marked else "BI"
    return tuple(dict.fromkeys([*labels, OUTSIDE, *(letter + kind for kind in kinds for letter in letters)]))


class SpanArrays(NamedTuple):
    """Spans in rising order, which do not overlap: the first token of each, the token after its last one, its type."""

    starts: Integers
    stops: Integers
    types: Integers


class SpanRules:
    """How L labels code spans. Raises ValueError for a label of another form.

    Attributes:
        types: the names of the types.
        type: int64[L + 1], the number of the type of every label; -1 for `O`, and at the end for "no label".
        follows: bool[L + 1, L + 1], whether the letters of two neighbouring tokens allow that they are in one span.
        joins: bool[L + 1, L + 1], whether they are: the types agree, too.
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
        """Return the spans of N labels; `begins` (bool[N + 1]) marks where a sentence begins, and the end."""
        types = self.type[labels]
        parts = begins.copy()
        parts[1:-1] |= ~self.joins[labels[:-1], labels[1:]]
        inside = types >= 0
        starts = np.flatnonzero(parts[:-1] & inside)
        return SpanArrays(starts, np.flatnonzero(parts[1:] & inside) + 1, types[starts])


def sentence_begins(sentence_ptr: NDArray[np.integer]) -> Booleans:
    """Return bool[N + 1]: where a sentence begins, and the end, from int[S + 1], the first token of every sentence."""
    begins = np.zeros(int(sentence_ptr[-1]) + 1, np.bool_)
    begins[sentence_ptr] = True
    return begins


_BIOES = "BIES"
_IOB2 = "BIIB"


def span_types(names: Sequence[str]) -> tuple[str, ...]:
    """Return the types of spans that labels code, in the order in which rejected spans number them."""
    return tuple(dict.fromkeys(kind for letter, kind in map(split_label, names) if letter != "O"))


class SplitLabels:
    """Labels that tell where their span began, so that sets of labels can reject whole spans.

    "Tokens 1 to 3 are not an X" is no set of labels for each token, since B-X, I-X and E-X may each be right. So states
    are split, as in a product of automata: a span that begins where a rejected one does has copies of its labels.

        token          0     1                   2     3           4
        rejected             B-X                 I-X   E-X
        allowed here   all   B-X' for B-X,       all   all but     all
                             S-X' for S-X              E-X'

    Sequences of split labels and of labels correspond one to one, except that rejected spans (int32[R, 5], as
    `Encoded.rejected`) are excluded. The Y labels of a coding, BIOES or IOB2, are followed by four copies in BIOES for
    each beginning of a rejected span: W in all.

    Attributes:
        projection: int64[W], the label that each split label stands for.
        follows: bool[W, W], whether the second may follow the first, if the coding allows it for what they stand for.
        ends: bool[W], whether it may be the last of a sentence, likewise; the coding's own labels come first.
    """

    def __init__(self, names: Sequence[str], rejected: NDArray[np.integer]) -> None:
        number, letters = {name: at for at, name in enumerate(names)}, _BIOES if ends_are_marked(names) else _IOB2
        suffixes = [f"-{kind}" if kind else "" for kind in span_types(names)]
        of_type = np.array([[number[letter + suffix] for letter in letters] for suffix in suffixes], np.int64)
        beginnings, beginning = np.unique(rejected[:, 3] + len(suffixes) * rejected[:, 4], return_inverse=True)
        self._rejected, self._size, self._copy = rejected, len(names), len(names) + 4 * beginning
        self._copied = of_type[rejected[:, 3]]
        self.projection: NDArray[np.int64] = np.append(np.arange(len(names)), of_type[beginnings % len(suffixes)])
        copy_of = np.repeat([-1, *range(len(beginnings))], [len(names), *[4] * len(beginnings)])
        kind = np.array([split_label(name)[1] for name in names])[self.projection]
        letter = np.array([*(name[0] for name in names), *_BIOES * len(beginnings)])
        is_copy, is_inner, is_open = copy_of >= 0, np.isin(letter, ["I", "E"]), np.isin(letter, ["B", "I"])
        within = is_copy & is_inner & (copy_of[:, None] == copy_of)
        goes_on = ~is_copy & is_inner & (kind[:, None] == kind)  # a copy that ends a span ends it also in IOB2
        after = (is_copy & ~is_inner) | (~is_copy & ~(is_copy[:, None] & goes_on))
        self.follows: Booleans = np.where((is_copy & is_open)[:, None], within, after)
        self.ends: Booleans = ~(is_copy & is_open)

    def allowed(self, sentence_ptr: NDArray[np.int64]) -> Booleans:
        """Return bool[N, W]: the split labels that each token may have; int64[S + 1], where its sentences begin."""
        allowed = np.ones((int(sentence_ptr[-1]), len(self.projection)), np.bool_)
        allowed[:, self._size :: 4] = allowed[:, self._size + 3 :: 4] = False
        first = sentence_ptr[self._rejected[:, 0]]
        start, last = first + self._rejected[:, 1], first + self._rejected[:, 2] - 1
        for letter in (0, 3):
            allowed[start, self._copied[:, letter]] = False
            allowed[start, self._copy + letter] = True
        allowed[last, self._copy + np.where(start == last, 3, 2)] = False
        return allowed


class CertainSpans(NamedTuple):
    """G certain spans: first tokens, the tokens after the last ones, and bool[G, T], the types that each may have."""

    starts: Integers
    stops: Integers
    types: Booleans


class SpanVerdict(NamedTuple):
    """How evidence judges the spans of a system."""

    gold: CertainSpans
    system: SpanArrays
    gold_match: Integers  # [M], the certain spans that the system has, with a type that they may have
    system_match: Integers  # [M], the same spans by their numbers in `system`
    scored: Booleans  # of each span of the system: one of these (right) or excluded (wrong); others are open


class SpanEvidence:
    """The spans that K sets of labels make certain, and those that they exclude.

    Two neighbours may join in one span if some pair of their labels does, and may part if some pair does not. But if
    some pair joins, and the others part only because their types differ, they certainly join: `B-X|B-Y I-X|I-Y` is one
    span. After a token that is certainly inside a span, an unknown token does not continue it (`closes`).

    - A span is *certain* if its tokens are certainly inside and certainly join, and certainly part from their
      neighbours. Its type is one that all its tokens allow.
    - A span is *excluded* if one of its tokens may not be inside with its type, two neighbours may not join with this
      type, or the first or the last one, with this type, may not part from its neighbour.

    Judged by pairs of neighbours: a certain span occurs in all legal sequences that the evidence allows, an excluded
    one in none. The converse holds if every set has one label or all; other sets may leave a span open that a search
    through all sequences would settle.

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
        if closes:  # these neighbours certainly part
            pairs: Booleans = self._inside[:, None] & unknown
            self._may_join[pairs], self._may_part[pairs], self._may_go_on[pairs] = False, True, False
            first, second = np.nonzero(pairs)
            self._may_end[pairs], self._may_begin[pairs] = self._types[first], self._types[second]

    def verdict(self, gold: NDArray[np.integer], system: NDArray[np.integer], begins: Booleans) -> SpanVerdict:
        """Judge the spans of a system.

        `gold` has the number of the set of each of N tokens, `system` its label, -1 for none; `begins` (bool[N + 1])
        marks where a sentence begins, and the end.
        """
        certain, spans = self.certain(gold, begins), self._rules.spans(system, begins)
        keys, other_keys = (item.starts * len(begins) + item.stops for item in (certain, spans))
        _, ours, theirs = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
        agree = certain.types[ours, spans.types[theirs]]
        scored = self._excluded(gold, spans, begins)
        scored[theirs[agree]] = True
        return SpanVerdict(certain, spans, ours[agree], theirs[agree], scored)

    def certain(self, sets: NDArray[np.integer], begins: Booleans) -> CertainSpans:
        """Return the certain spans of N tokens, from the numbers of their sets and where sentences begin."""
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
        """Return whether each span of the system is excluded."""
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
    """Return whether some label of one set (..., L) and some label of another are such a pair (bool[L, L])."""
    count = np.tensordot(first.astype(np.float32) @ pairs.astype(np.float32), second.astype(np.float32), (-1, -1))
    return count > 0


class SpanCounter:
    """Counts the spans that two label sequences over the same tokens have in common.

    Labels are `O`, `LETTER` or `LETTER-TYPE`, in any of the codings; sentence_ptr, int64[S + 1], has the first token of
    every sentence.
    """

    def __init__(self, names: Sequence[str], sentence_ptr: NDArray[np.int64]) -> None:
        marked = ends_are_marked(names)
        labels = all_span_labels(names, marked)
        self._rules = SpanRules(labels)
        self._begins = sentence_begins(sentence_ptr)
        anything = np.ones((2, len(labels)), np.bool_)
        allowed = np.concatenate([np.eye(len(labels), dtype=np.bool_), anything])
        unknown = np.arange(len(allowed)) == len(labels) + 1
        self._evidence = SpanEvidence(self._rules, allowed, unknown, closes=not marked)

    def f_score(self, gold: NDArray[np.int32], system: NDArray[np.int32]) -> float:
        """Return the F measure of the system's spans, 0 to 1, from the label of each token.

        In `gold`, -1 is unknown, -2 is one of several, and nothing is concluded from it. If there are such tokens, only
        spans that are certain are scored, and of the system's spans only those that are among them or are excluded. In
        `system`, -1 is no label.
        """
        if gold.min(initial=0) < 0:
            verdict = self._evidence.verdict(gold, system, self._begins)
            right, count = len(verdict.gold_match), len(verdict.gold.starts) + int(verdict.scored.sum())
        else:
            ours, theirs = self._numbers(gold), self._numbers(system)
            right, count = len(np.intersect1d(ours, theirs, assume_unique=True)), len(ours) + len(theirs)
        return 2 * right / max(1, count)

    def _numbers(self, labels: NDArray[np.int32]) -> Integers:
        """Return a number for each span that identifies its start, stop and type."""
        starts, stops, types = self._rules.spans(labels, self._begins)
        return (starts * len(self._begins) + stops) * len(self._rules.types) + types
