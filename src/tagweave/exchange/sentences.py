"""From documents to sentences of tokens, with a layer for each annotator, and back.

A line is a sentence. A span that begins or ends within a token is misaligned, and so is one of several lines; the user
decides what becomes of these. A discontinuous span, with gaps, is refused, or nothing is known of its tokens. Blanks at
the ends of a span do not count. Where spans of different types overlap, an annotator has a layer for each type. A
rejected span says nothing about the rest of the text, and nothing at all unless it is whole tokens.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal

from tagweave.corpus.candidates import Soft
from tagweave.corpus.load import key_and_value
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import ANY, OUTSIDE, SPANS, TAGS, FoundSpan, Span, layer_of, spans_of
from tagweave.errors import CorpusError, shortened
from tagweave.exchange.document import Document, Mark, layer_name
from tagweave.exchange.offsets import Places, TokenOffsets, are_words, hint
from tagweave.exchange.quotations import Tally
from tagweave.exchange.tokens import Offsets, Tokenizer, lines

Misalignment = Literal["error", "widen", "unknown"]
Unmarked = Literal["outside", "unknown", "empty-unknown"]
"""What tokens in no span are; with `empty-unknown` they are outside, but unknown where an annotator marked nothing in a
document at all."""
Task = Literal["spans", "tags"]
DOCUMENT, TEXT, START, BEFORE = "document", "text", "start", "before"
"""Comments of a sentence: the document that begins, the text of the line, where it begins in the document, and what
stands before it (JSON), if that is not just line breaks."""
_QUOTED = 1000  # characters, and tokens, that a message is made of
SHOWN = 3
"""Misaligned spans that are shown."""
LONGEST_LINE = 1 << 21
"""Characters of the longest line or sentence: as many as in three novels."""
_MOST_PIECES = 500_000  # of spans by lines
_ALONE = "tag"  # the layer of a single annotator


@dataclass
class Notes:
    """Counts of what happened to spans and documents."""

    spans: int = 0
    misaligned: int = 0  # spans that are not whole tokens of one line; the first of them are `shown` to people
    shown: list[str] = field(default_factory=list)
    hint: str = ""  # how the offsets of the first such span may have been counted
    overlapping: int = 0  # spans that were left out because they overlap longer ones in the same layer
    typed: Counter[str] = field(default_factory=Counter)  # types that have a layer each, since their spans overlap
    several: int = 0  # and because the same tokens have another label already; the first of them is shown
    several_shown: str = ""
    left_out: Counter[str] = field(default_factory=Counter)  # what else was marked and is not kept
    tally: Tally = field(default_factory=Tally)  # of quotations
    documents: int = 0
    empty: int = 0  # documents that somebody saw, but nobody marked
    unseen: int = 0  # documents that nobody saw, or rightly marked
    mixed: int = 0  # documents in which somebody rejected spans and accepted others

    def count(self, document: Document) -> None:
        seen = [marks for marks in document.marks.values() if marks is not None]
        self.documents += 1
        self.unseen += not seen
        self.empty += bool(seen) and not any(seen)
        self.mixed += any(len({mark.rejected for mark in marks}) > 1 for marks in seen)

    def lines(
        self, misaligned: Misalignment = "widen", unmarked: Unmarked = "outside", task: Task = SPANS
    ) -> Iterator[str]:
        """Yield lines on what became of spans and documents; the arguments as in `sentences`."""
        if self.misaligned:
            became = {"widen": "widened", "unknown": "taken for unknown"}.get(misaligned, misaligned)
            subject = f"{self.misaligned:,} of {self.spans:,} spans are not whole tokens of a line and were {became}"
            yield f"{subject}, such as {', '.join(self.shown)}{self.hint}"
        yield from self.tally.lines()
        if self.left_out:
            yield f"not kept: {', '.join(f'{count:,} {what}' for what, count in sorted(self.left_out.items()))}"
        if self.typed:
            yield f"spans of different types overlap, so each type has a layer: {', '.join(self.typed)}"
        if self.overlapping:
            subject = f"{self.overlapping:,} of {self.spans:,} spans"
            of = "type" if self.typed else "annotator"
            yield f"{subject} overlap longer ones of the same {of} and are left out"
        if self.several:
            subject = f"{self.several:,} of {self.spans:,} spans"
            yield f"{subject} are other labels of a span that has one already, and are left out: {self.several_shown}"
        if self.mixed:
            subject = f"{self.mixed:,} of {self.documents:,} documents"
            yield f"{subject} have accepted and rejected spans: their tokens outside of accepted ones are unknown"
        if self.empty:
            assumed = unmarked if task == SPANS else "unknown"
            taken, other = ("outside of spans", "empty-unknown") if assumed == "outside" else ("unknown", "outside")
            yield (
                f"{self.empty:,} of {self.documents:,} documents have no span: their tokens were taken to be {taken}"
                f" (`unmarked={assumed}`; otherwise: `unmarked={other}`)"
            )
        if self.unseen:
            subject = f"{self.unseen:,} of {self.documents:,} documents"
            yield f"{subject} have no usable annotation: their tokens are unknown"


def annotators(documents: Iterable[Document]) -> list[str]:
    """Return the annotators of documents, in the order of their first appearance."""
    return list(dict.fromkeys(name for document in documents for name in document.marks))


def joined(documents: Iterable[Document]) -> list[Document]:
    """Merge documents of the same text; an annotator who has marked a text twice gets two documents."""
    merged: list[Document] = []
    marks: list[dict[str, tuple[Mark, ...] | None]] = []
    of_text: defaultdict[str, list[int]] = defaultdict(list)
    times: Counter[tuple[str, str]] = Counter()
    for document in documents:
        same = of_text[document.text]
        place = max((times[document.text, name] for name in document.marks), default=0)
        if place >= len(same):
            same.append(len(merged))
            merged.append(document)
            marks.append({})
        marks[same[place]].update(document.marks)
        times.update({(document.text, name): place + 1 - times[document.text, name] for name in document.marks})
    return [replace(document, marks=document_marks) for document, document_marks in zip(merged, marks, strict=True)]


def sentences(
    documents: Sequence[Document],
    tokenizer: Tokenizer,
    misaligned: Misalignment,
    unmarked: Unmarked,
    notes: Notes,
    task: Task = SPANS,
    overlap: bool = False,
) -> Iterator[Sentence]:
    """Yield the sentences of documents, with a layer for each annotator, and comments on where they stood.

    The layer of a single annotator is called `tag`. If spans may `overlap`, and some of different types do, each type
    has a layer, called like it, after the name of the annotator if there are several.

    Args:
        tokenizer: for documents that bring no tokens.
        misaligned: `error`, `widen` (to whole tokens of its line) or `unknown` (nothing is known of its tokens).
        task: `spans`, in IOB2, or `tags`: the label of a mark for each of its tokens; other tokens are unknown.
    """
    names = annotators(documents)
    types = {name: overlapping_types(documents, name) if overlap else () for name in names}
    notes.typed.update(kind for kinds in types.values() for kind in kinds)
    layer_names = {
        (name, kind): _layer_name(name if len(names) > 1 else "", kind)
        for name, kinds in types.items()
        for kind in (kinds or ("",))
    }
    for number, document in enumerate(documents, 1):
        notes.count(document)
        places = Places(document.text)
        marks = {called: _Marks(document, *of) for of, called in layer_names.items()}
        comments: tuple[str, ...] = (f"# {DOCUMENT} = {document.name or number}",)
        end = 0
        for tokens in _in_lines(document, tokenizer):
            start, stop = tokens[0][0], tokens[-1][1]
            sentence_comments = (*comments, *place_comments(document.text, end, start, stop))
            aligned = _Aligned(document, tokens, misaligned, unmarked, notes, task, places)
            layers, rejected = {}, {}
            for called, among in marks.items():
                line_marks = among.between(start, stop)
                layers[called] = aligned.layer(line_marks, among)
                if spans := aligned.rejected(line_marks):
                    rejected[called] = spans
            words, end = tuple(document.text[a:b] for a, b in tokens), stop
            yield Sentence(words, layers, comments=sentence_comments, rejected=rejected, location=document.location)
            comments = ()


def overlapping_types(documents: Iterable[Document], annotator: str) -> tuple[str, ...]:
    """Return the types of an annotator's spans, in the order of their first appearance, if some of different types
    overlap; or ()."""
    types: dict[str, None] = {}
    are_there = False
    for document in documents:
        marks = document.marks.get(annotator) or ()
        types.update(dict.fromkeys(mark.label for mark in marks))
        ends: dict[str, int] = {}
        for mark in sorted(mark for mark in marks if not mark.rejected) if not are_there else ():
            are_there = are_there or any(stop > mark.start for kind, stop in ends.items() if kind != mark.label)
            ends[mark.label] = max(mark.stop, ends.get(mark.label, 0))
    return tuple(types) if are_there else ()


def _layer_name(annotator: str, kind: str) -> str:
    """Return the name of the layer of a type, or if that is "", of all, of an annotator, or of the only one, ""."""
    return ":".join(filter(None, (annotator, layer_name(kind)))) or _ALONE


def place_comments(text: str, end: int, start: int, stop: int) -> Iterator[str]:
    """Yield the comments on a sentence from start to stop, after one that ended at `end`."""
    yield f"# {TEXT} = {text[start:stop].translate({10: ' ', 13: ' '})}"
    yield f"# {START} = {start}"
    before = text[end:start]
    if before.strip("\n") or (end and not before):
        yield f"# {BEFORE} = {json.dumps(before)}"


def _in_lines(document: Document, tokenizer: Tokenizer) -> Iterator[list[Offsets]]:
    """Yield the tokens of each line, by their offsets in the document."""
    given_tokens = None if document.tokens is None else sorted(document.tokens)
    for start, stop in lines(document.text):
        if stop - start > LONGEST_LINE:
            raise document.error(f"a line of {stop - start:,} characters", f"at most {LONGEST_LINE:,}: cut it")
        if given_tokens is None:
            tokens = [(start + a, start + b) for a, b in tokenizer(document.text[start:stop])]
        else:
            among = range(bisect_left(given_tokens, (start, start)), bisect_left(given_tokens, (stop, stop)))
            tokens = [
                (a, b) for a, b in map(given_tokens.__getitem__, among) if a < b <= stop and document.text[a:b].strip()
            ]
        if tokens:
            yield tokens


class _Marks:
    """The marks of an annotator in a document, perhaps of one type; lines ask for them one after the other."""

    def __init__(self, document: Document, name: str, kind: str = "") -> None:
        marks = document.marks.get(name)
        self._document, self._seen = document, marks is not None
        of_kind = (mark for mark in marks or () if kind in ("", mark.label))
        self._coming = sorted(of_kind, key=lambda mark: mark.start)[::-1]
        self._open: list[Mark] = []
        self._left = _MOST_PIECES + 4 * len(self._coming)
        self.are_there, self.have_rejected = bool(marks), any(mark.rejected for mark in marks or ())

    def between(self, start: int, stop: int) -> list[Mark] | None:
        """Return the marks from start to stop; `None` if the annotator did not see the document."""
        while self._coming and self._coming[-1].start < stop:
            self._open.append(self._coming.pop())
        self._open = [mark for mark in self._open if mark.stop > start]
        self._left -= len(self._open)
        if self._left < 0:
            raise self._document.error("spans that go on over too many lines", "spans of a line each")
        return [*self._open] if self._seen else None


@dataclass(frozen=True)
class _Aligned:
    """The tokens of a line, to which marks are aligned."""

    document: Document
    tokens: Sequence[Offsets]
    misaligned: Misalignment
    unmarked: Unmarked
    notes: Notes
    task: Task
    places: Places

    def layer(self, marks: Sequence[Mark] | None, among: _Marks) -> Layer:
        """Return the labels of an annotator's marks in the line; `None` if they did not see the document."""
        if marks is None:
            return (None,) * len(self.tokens)
        spans: list[FoundSpan] = []
        unknown: list[tuple[int, int]] = []
        for mark in marks:
            if not mark.rejected:
                self._align(mark, spans, unknown)
        outside = self.unmarked == "outside" or (self.unmarked == "empty-unknown" and among.are_there)
        layer = layer_of(spans, len(self.tokens), outside and not among.have_rejected)
        self._count_left_out(spans, layer)
        if self.task == TAGS:
            layer = layer_of(spans, len(self.tokens), False, TAGS)
        if not unknown:
            return layer
        change = [0] * (len(layer) + 1)
        for first, last in unknown:
            change[first] += 1
            change[last] -= 1
        return tuple(
            None if depth else candidates for depth, candidates in zip(accumulate(change), layer, strict=False)
        )

    def _count_left_out(self, spans: Sequence[FoundSpan], layer: Layer) -> None:
        """Count spans that the layer lacks: other labels of a span, and what overlaps longer ones."""
        first: dict[tuple[int, int], str] = {}
        other = dict.fromkeys(span[:3] for span in spans if first.setdefault(span[:2], span.types[0]) != span.types[0])
        for start, stop, (label,) in other:
            text = self.document.text[self.tokens[start][0] : self.tokens[stop - 1][1]][:_QUOTED]
            shown = f"{shortened(text)!r} is {label} beside {first[start, stop]}"
            self.notes.several_shown = self.notes.several_shown or shown
        self.notes.several += len(other)
        begun = sum(any(label[:2] == "B-" for label in candidates or ()) for candidates in layer)
        self.notes.overlapping += len(first) - begun

    def rejected(self, marks: Sequence[Mark] | None) -> tuple[Span, ...]:
        spans: list[FoundSpan] = []
        for mark in marks or ():
            if mark.rejected:
                self._align(mark, spans, [])
        if spans and self.task == TAGS:
            self.notes.left_out["rejected labels of tokens"] += len(spans)
            return ()
        return tuple(Span(start, stop, label) for start, stop, (label,), _ in spans)

    def _align(self, mark: Mark, spans: list[FoundSpan], unknown: list[tuple[int, int]]) -> None:
        """Add the tokens of a mark to the spans of the line, or its unknown tokens; a mark of other lines adds none."""
        start, stop = self.places.stripped(mark.start, mark.stop)
        first = bisect_right(self.tokens, start, key=lambda token: token[1])
        last = bisect_left(self.tokens, stop, key=lambda token: token[0])
        if first >= last:
            return
        is_aligned = self.tokens[first][0] == start and self.tokens[last - 1][1] == stop and not mark.gaps
        in_line = self.tokens[0][0] <= start and stop <= self.tokens[-1][1]
        self.notes.spans += 1
        if not is_aligned:
            self._note(mark, first, last)
        if is_aligned or (self.misaligned == "widen" and in_line and not mark.rejected):
            spans.append(FoundSpan(first, last, (mark.label,), mark.probability))
        else:
            unknown.append((first, last))

    def _note(self, mark: Mark, first: int, last: int) -> None:
        self.notes.misaligned += 1
        if mark.gaps and self.misaligned != "unknown":
            shown = shortened(self.document.text[mark.start : min(mark.stop, mark.start + _QUOTED)])
            problem = f"the discontinuous span {shown!r} ({mark.start} to {mark.stop}), of type {mark.label}"
            path, line = self.document.location
            expected = "spans of adjacent tokens, or `misaligned=unknown`: nothing is known of its tokens"
            raise CorpusError(problem, expected, path, mark.line or line)
        if self.misaligned != "error" and len(self.notes.shown) == SHOWN:
            return
        text = self.document.text
        quoted = self.tokens[first : min(last, first + _QUOTED)]
        tokens = " ".join(text[a : min(b, a + _QUOTED)] for a, b in quoted)
        span = shortened(text[mark.start : min(mark.stop, mark.start + _QUOTED)])
        problem = f"the span {span!r} ({mark.start} to {mark.stop}), of the tokens {shortened(tokens)!r}"
        if not self.notes.shown and not are_words(text, mark.start, mark.stop):
            self.notes.hint = hint(text, mark.start, mark.stop, lambda start, stop: are_words(text, start, stop))
        if self.misaligned == "error":
            expected = f"whole tokens of a line: cut it, widen it, or take it for unknown{self.notes.hint}"
            raise self.document.error(problem, expected)
        self.notes.shown.append(problem)


_DIGITS = 9  # of a position: a text of a gigabyte is none


def joint(document: Document) -> Document:
    """Return the document with the marks of all its annotators, such as layers of types, as those of one."""
    marks = tuple(sorted(mark for marks in document.marks.values() for mark in marks or ()))
    certainty = {_ALONE: min(document.certainty.values())} if document.certainty else {}
    return replace(document, marks={_ALONE: marks}, certainty=certainty)


def documents(sentences: Iterable[Sentence], layers: Sequence[str], task: Task = SPANS) -> Iterator[Document]:
    """Yield the documents of sentences, as their comments tell; a sentence without such comments is a document.

    Every layer is an annotator. Its labels are spans in IOB2; for `tags`, every token that has one label is marked.
    """
    current: Document | None = None
    for sentence in sentences:
        comments = dict(map(key_and_value, sentence.comments))
        if current is None or DOCUMENT in comments or TEXT not in comments:
            if current is not None:
                yield current
            name, place = comments.get(DOCUMENT, ""), sentence.location
            current = Document("", dict.fromkeys(layers, ()), name, location=place)
        current = _longer(current, sentence, comments, task)
    if current is not None:
        yield current


def _longer(document: Document, sentence: Sentence, comments: Mapping[str, str], task: Task) -> Document:
    text = comments.get(TEXT)
    offsets = TokenOffsets.of(sentence.forms) if text is None else TokenOffsets.in_text(text, sentence.forms)
    if offsets is None:
        raise sentence.error(f"the tokens {' '.join(sentence.forms)!r}", f"those of the text {text!r}")
    before = document.text + _before(document, comments, sentence)
    base = len(before)
    tokens = [(base + start, base + stop) for start, stop in zip(offsets.starts, offsets.stops, strict=True)]
    marks = {
        name: (*(earlier or ()), *_marks(sentence, name, tokens, task)) for name, earlier in document.marks.items()
    }
    numbers = {name: _least(sentence.layers.get(name, ())) for name in document.marks}
    certainty = {
        name: min(number, document.certainty.get(name, 1.0)) for name, number in numbers.items() if number is not None
    }
    return replace(
        document,
        text=before + offsets.text,
        marks=marks,
        certainty={**document.certainty, **certainty},
    )


def _least(layer: Layer) -> float | None:
    """Return the least number of a best label over the positions that have numbers; `None` if none has."""
    return min((_best(candidates)[1] for candidates in layer if isinstance(candidates, Soft)), default=None)


def _before(document: Document, comments: Mapping[str, str], sentence: Sentence) -> str:
    """Return what stands between the text so far and the sentence: line breaks, unless a comment says otherwise."""
    if BEFORE in comments:
        try:
            if isinstance(before := json.loads(comments[BEFORE]), str):
                return before
        except (ValueError, RecursionError):
            pass
        raise sentence.error(f"the comment {BEFORE} = {comments[BEFORE]}", "a JSON string")
    line, start = len(document.text) + bool(document.text), comments.get(START, "")
    missing = int(start) - line if start.isdecimal() and len(start) < _DIGITS else 0
    return "\n" * (bool(document.text) + max(missing, 0))


def _marks(sentence: Sentence, name: str, tokens: Sequence[Offsets], task: Task) -> Iterator[Mark]:
    """Yield the spans or tags of a layer by offsets, none at positions with several candidates, and rejected spans."""
    layer = sentence.layers.get(name, ())
    best = [_best(candidates) for candidates in layer]
    if task == TAGS:
        for (start, stop), candidates, (label, number) in zip(tokens, layer, best, strict=False):
            if candidates is not None and (len(candidates) == 1 or isinstance(candidates, Soft)):
                yield Mark(start, stop, label, number)
    else:
        for (span,) in spans_of(tuple((label,) for label, _ in best), sentence.location):
            if span.label is not None and span.stop is not None and span.label != OUTSIDE:
                number = min(number for _, number in best[span.start : span.stop])
                yield Mark(tokens[span.start][0], tokens[span.stop - 1][1], span.label, number)
    for first, last, rejected in sentence.rejected.get(name, ()):
        yield Mark(tokens[first][0], tokens[(last or 0) - 1][1], rejected or ANY, rejected=True)


def _best(candidates: Candidates) -> tuple[str, float]:
    """Return the label of a position, and its number; numbered candidates begin with the label of the best sequence."""
    if isinstance(candidates, Soft):
        return next(candidates.numbered())
    return (candidates[0], 1.0) if candidates is not None and len(candidates) == 1 else (OUTSIDE, 1.0)


def placed(sentences: Iterable[Sentence], texts: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield sentences at their places in texts, which a store of answers does not keep; texts without one know nothing.

    Of several with the same tokens, the first belongs to the first. Raises CorpusError for a sentence that no text has.
    """
    waiting: defaultdict[tuple[str, ...], deque[Sentence]] = defaultdict(deque)
    for sentence in sentences:
        waiting[sentence.forms].append(sentence)
    for text in texts:
        same = waiting[text.forms]
        yield replace(same.popleft() if same else Sentence(text.forms), comments=text.comments, location=text.location)
    for left in (sentence for same in waiting.values() for sentence in same):
        raise left.error(f"the sentence {' '.join(left.forms)!r}", "one of the texts")
