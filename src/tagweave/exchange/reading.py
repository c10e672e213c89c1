"""From documents to sentences of tokens: a sentence for each line, a layer of spans for each annotator.

A span that begins or ends within a token is misaligned, and so is one of several lines. What is to be done with these
is for the user to say; blanks at the ends of a span do not count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.found_spans import FoundSpan, layer_of
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.tokens import Offsets, Tokenizer, lines

Misalignment = Literal["error", "widen", "unknown"]
Unmarked = Literal["outside", "unknown"]
DOCUMENT, TEXT, START = "document", "text", "start"
"""Comments of a sentence: the document that begins, the text of the line, and where it begins in the document."""
_ALONE = "tag"  # the layer of a single annotator


@dataclass
class Notes:
    """What happened to spans.

    Attributes:
        spans: how many there were.
        misaligned: those that are not whole tokens of one line, as they are shown to people.
        overlapping: how many were left out, because they overlap longer ones of the same annotator.
    """

    spans: int = 0
    misaligned: list[str] = field(default_factory=list)
    overlapping: int = 0


def annotators(documents: Iterable[Document]) -> list[str]:
    """The annotators of documents, in the order of their first appearance."""
    return list(dict.fromkeys(name for each in documents for name in each.marks))


def joined(documents: Iterable[Document]) -> list[Document]:
    """Documents of the same text as one, in which everybody's marks stand side by side.

    An annotator who has marked a text twice has two documents.
    """
    kept: dict[str, list[Document]] = {}
    for each in documents:
        same = kept.setdefault(each.text, [])
        at = next((at for at, other in enumerate(same) if not other.marks.keys() & each.marks.keys()), None)
        if at is None:
            same.append(each)
        else:
            same[at] = replace(same[at], marks={**same[at].marks, **each.marks})
    return [each for same in kept.values() for each in same]


def sentences(
    documents: Sequence[Document], tokenizer: Tokenizer, misaligned: Misalignment, unmarked: Unmarked, notes: Notes
) -> Iterator[Sentence]:
    """The sentences of documents, with the labels of each annotator's spans in IOB2, and comments on where they stood.

    Args:
        documents: in which every annotator has one layer; that of a single one is called `tag`.
        tokenizer: for documents that bring no tokens.
        misaligned: `error`, `widen` (to whole tokens of its line) or `unknown` (nothing is known of its tokens).
        unmarked: whether a token in no span is outside of spans, or unknown.
        notes: counts what happened.

    Raises:
        CorpusError: a misaligned span, if that is an error.
    """
    names = annotators(documents)
    for number, document in enumerate(documents, 1):
        comments: tuple[str, ...] = (f"# {DOCUMENT} = {document.name or number}",)
        for tokens in _in_lines(document, tokenizer):
            start, stop = tokens[0][0], tokens[-1][1]
            own = (*comments, f"# {TEXT} = {document.text[start:stop]}", f"# {START} = {start}")
            aligned = _Aligned(document, tokens, misaligned, unmarked == "outside", notes)
            layers = aligned.layers(names)
            yield Sentence(
                tuple(document.text[a:b] for a, b in tokens),
                {_ALONE if len(names) == 1 else name: layer for name, layer in layers.items()},
                comments=own,
                location=document.location,
            )
            comments = ()


def _in_lines(document: Document, tokenizer: Tokenizer) -> Iterator[list[Offsets]]:
    """The tokens of each line, by their offsets in the document."""
    for start, stop in lines(document.text):
        if document.tokens is None:
            tokens = [(start + a, start + b) for a, b in tokenizer(document.text[start:stop])]
        else:
            tokens = [(a, b) for a, b in document.tokens if start <= a < b <= stop and document.text[a:b].strip()]
        if tokens:
            yield tokens


@dataclass(frozen=True)
class _Aligned:
    """The tokens of a line, to which marks are aligned."""

    document: Document
    tokens: Sequence[Offsets]
    misaligned: Misalignment
    outside: bool
    notes: Notes

    def layers(self, names: Sequence[str]) -> Mapping[str, Layer]:
        return {name: self._layer(self.document.marks.get(name)) for name in names}

    def _layer(self, marks: Sequence[Mark] | None) -> Layer:
        if marks is None:
            return (None,) * len(self.tokens)
        spans: list[FoundSpan] = []
        unknown: set[int] = set()
        for mark in marks:
            self._align(mark, spans, unknown)
        layer = layer_of(spans, len(self.tokens), self.outside)
        begun = sum(any(each[:2] == "B-" for each in candidates or ()) for candidates in layer)
        self.notes.overlapping += len(spans) - begun
        return tuple(None if at in unknown else candidates for at, candidates in enumerate(layer))

    def _align(self, mark: Mark, spans: list[FoundSpan], unknown: set[int]) -> None:
        """Add the tokens of a mark to the spans of the line, or to what is unknown; a mark of other lines adds none."""
        text = self.document.text
        start = mark.start + len(text[mark.start : mark.stop]) - len(text[mark.start : mark.stop].lstrip())
        stop = mark.start + len(text[mark.start : mark.stop].rstrip())
        first = bisect_right(self.tokens, start, key=lambda token: token[1])
        last = bisect_left(self.tokens, stop, key=lambda token: token[0])
        if first >= last:
            return
        whole = self.tokens[first][0] == start and self.tokens[last - 1][1] == stop
        in_line = "\n" not in text[start:stop]
        self.notes.spans += 1
        if not whole:
            self._note(mark, first, last)
        if whole or (self.misaligned == "widen" and in_line):
            spans.append(FoundSpan(first, last, (mark.label,), mark.probability))
        else:
            unknown.update(range(first, last))

    def _note(self, mark: Mark, first: int, last: int) -> None:
        """Note a misaligned span, or raise."""
        text = self.document.text
        tokens = " ".join(text[a:b] for a, b in self.tokens[first:last])
        found = f"the span {text[mark.start : mark.stop]!r} ({mark.start} to {mark.stop}), of the tokens {tokens!r}"
        if self.misaligned == "error":
            raise CorpusError(
                found,
                "whole tokens of a line: cut it otherwise, widen it, or take it for unknown",
                *self.document.location,
            )
        self.notes.misaligned.append(found)
