"""From documents to sentences of tokens: a layer for each annotator. Without sentences of the tool, a line is one.

A span that begins or ends within a token is misaligned, and so is one of several lines or with gaps. What is to be done
with these is for the user to say; blanks at the ends of a span do not count. Whoever rejects spans says nothing of the
rest, and a rejected span that is not whole tokens tells nothing.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tagweave.corpus.errors import CorpusError, shortened
from tagweave.corpus.found_spans import SPANS, TAGS, FoundSpan, layer_of
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.corpus.spans import Span
from tagweave.exchange.document import Document, Mark
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
_ALONE = "tag"  # the layer of a single annotator


@dataclass
class Notes:
    """What happened to spans.

    Attributes:
        spans: how many there were.
        misaligned: those that are not whole tokens of one line, as they are shown to people.
        overlapping: how many were left out, because they overlap longer ones of the same annotator.
        left_out: what else was marked and is not kept.
        documents: how many there were.
        empty: how many of them somebody saw, but nobody marked.
        unseen: how many of them nobody saw, or rightly marked.
    """

    spans: int = 0
    misaligned: list[str] = field(default_factory=list)
    overlapping: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    empty: int = 0
    unseen: int = 0

    def count(self, document: Document) -> None:
        """Count a document."""
        seen = [marks for marks in document.marks.values() if marks is not None]
        self.documents += 1
        self.unseen += not seen
        self.empty += bool(seen) and not any(seen)


def annotators(documents: Iterable[Document]) -> list[str]:
    """The annotators of documents, in the order of their first appearance."""
    return list(dict.fromkeys(name for each in documents for name in each.marks))


def joined(documents: Iterable[Document]) -> list[Document]:
    """Documents of the same text as one, in which everybody's marks stand side by side, in their order.

    An annotator who has marked a text twice has two documents.
    """
    found: list[Document] = []
    of_text: dict[str, list[int]] = {}
    for each in documents:
        same = of_text.setdefault(each.text, [])
        at = next((at for at in same if not found[at].marks.keys() & each.marks.keys()), None)
        if at is None:
            same.append(len(found))
            found.append(each)
        else:
            found[at] = replace(found[at], marks={**found[at].marks, **each.marks})
    return found


def sentences(
    documents: Sequence[Document],
    tokenizer: Tokenizer,
    misaligned: Misalignment,
    unmarked: Unmarked,
    notes: Notes,
    task: Task = SPANS,
) -> Iterator[Sentence]:
    """The sentences of documents, with the labels of each annotator's spans, and comments on where they stood.

    Args:
        documents: in which every annotator has one layer; that of a single one is called `tag`.
        tokenizer: for documents that bring no tokens.
        misaligned: `error`, `widen` (to whole tokens of its line) or `unknown` (nothing is known of its tokens).
        unmarked: what a token in no span is.
        notes: counts what happened.
        task: `spans`, in IOB2, or `tags`: the label of a mark for each of its tokens; other tokens are unknown.

    Raises:
        CorpusError: a misaligned span, if that is an error.
    """
    names = annotators(documents)
    for number, document in enumerate(documents, 1):
        notes.count(document)
        comments: tuple[str, ...] = (f"# {DOCUMENT} = {document.name or number}",)
        end = 0
        for tokens in _in_lines(document, tokenizer):
            start, stop = tokens[0][0], tokens[-1][1]
            own = (*comments, *place_comments(document.text, end, start, stop))
            aligned = _Aligned(document, tokens, misaligned, unmarked, notes, task)
            called = {name: _ALONE if len(names) == 1 else name for name in names}
            layers = {called[name]: aligned.layer(document.marks.get(name)) for name in names}
            rejected = {called[name]: spans for name in names if (spans := aligned.rejected(document.marks.get(name)))}
            words, end = tuple(document.text[a:b] for a, b in tokens), stop
            yield Sentence(words, layers, comments=own, rejected=rejected, location=document.location)
            comments = ()


def place_comments(text: str, end: int, start: int, stop: int) -> Iterator[str]:
    """The comments on a sentence from start to stop, after one that ended at `end`."""
    yield f"# {TEXT} = {text[start:stop].translate({10: ' ', 13: ' '})}"
    yield f"# {START} = {start}"
    before = text[end:start]
    if before.strip("\n") or (end and not before):
        yield f"# {BEFORE} = {json.dumps(before)}"


def _in_lines(document: Document, tokenizer: Tokenizer) -> Iterator[list[Offsets]]:
    """The tokens of each sentence or line, by their offsets in the document."""
    for start, stop in lines(document.text) if document.sentences is None else document.sentences:
        if document.tokens is None:
            tokens = [(start + a, start + b) for a, b in tokenizer(document.text[start:stop])]
        else:
            tokens = [(a, b) for a, b in document.tokens if start <= a < b <= stop and document.text[a:b].strip()]
        if tokens:
            yield tokens


@dataclass(frozen=True)
class _Aligned:
    """The tokens of a line or sentence, to which marks are aligned."""

    document: Document
    tokens: Sequence[Offsets]
    misaligned: Misalignment
    unmarked: Unmarked
    notes: Notes
    task: Task

    def layer(self, marks: Sequence[Mark] | None) -> Layer:
        """Return the labels of an annotator's marks."""
        if marks is None or any(mark.rejected for mark in marks):
            return (None,) * len(self.tokens)
        spans: list[FoundSpan] = []
        unknown: set[int] = set()
        for mark in marks:
            self._align(mark, spans, unknown)
        outside = self.unmarked == "outside" or (self.unmarked == "empty-unknown" and bool(marks))
        layer = layer_of(spans, len(self.tokens), outside)
        begun = sum(any(each[:2] == "B-" for each in candidates or ()) for candidates in layer)
        self.notes.overlapping += len(spans) - begun
        if self.task == TAGS:
            layer = layer_of(spans, len(self.tokens), False, TAGS)
        return tuple(None if at in unknown else candidates for at, candidates in enumerate(layer))

    def rejected(self, marks: Sequence[Mark] | None) -> tuple[Span, ...]:
        """Return the spans that an annotator rejected."""
        spans: list[FoundSpan] = []
        for mark in marks or ():
            if mark.rejected:
                self._align(mark, spans, set())
        if spans and self.task == TAGS:
            self.notes.left_out["rejected labels of tokens"] += len(spans)
            return ()
        return tuple(Span(start, stop, label) for start, stop, (label,), _ in spans)

    def _align(self, mark: Mark, spans: list[FoundSpan], unknown: set[int]) -> None:
        """Add the tokens of a mark to the spans of the line, or to what is unknown; a mark of other lines adds none."""
        text = self.document.text
        start = mark.start + len(text[mark.start : mark.stop]) - len(text[mark.start : mark.stop].lstrip())
        stop = mark.start + len(text[mark.start : mark.stop].rstrip())
        first = bisect_right(self.tokens, start, key=lambda token: token[1])
        last = bisect_left(self.tokens, stop, key=lambda token: token[0])
        if first >= last:
            return
        whole = self.tokens[first][0] == start and self.tokens[last - 1][1] == stop and not mark.gaps
        in_line = self.tokens[0][0] <= start and stop <= self.tokens[-1][1]
        self.notes.spans += 1
        if not whole:
            self._note(mark, first, last)
        if whole or (self.misaligned == "widen" and in_line and not mark.rejected):
            spans.append(FoundSpan(first, last, (mark.label,), mark.probability))
        else:
            unknown.update(range(first, last))

    def _note(self, mark: Mark, first: int, last: int) -> None:
        """Note a misaligned span, or raise."""
        text = self.document.text
        tokens = " ".join(text[a:b] for a, b in self.tokens[first : min(last, first + _QUOTED)])
        span = shortened(text[mark.start : min(mark.stop, mark.start + _QUOTED)])
        found = f"the span {span!r} ({mark.start} to {mark.stop}), of the tokens {shortened(tokens)!r}"
        if self.misaligned == "error":
            raise CorpusError(
                found,
                "whole tokens of a line: cut it otherwise, widen it, or take it for unknown",
                *self.document.location,
            )
        self.notes.misaligned.append(found)
