"""From sentences of tokens to documents: the way back of `exchange/reading.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.outline import key_and_value
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.soft import Soft
from tagweave.corpus.spans import OUTSIDE, spans_of
from tagweave.corpus.token_offsets import TokenOffsets
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.reading import DOCUMENT, START, TEXT


def documents(sentences: Iterable[Sentence], layers: Sequence[str]) -> Iterator[Document]:
    """The documents of sentences, as their comments tell; a sentence without such comments is a document.

    Args:
        sentences: with labels of spans in IOB2.
        layers: whose spans are marked, each as those of an annotator.

    Raises:
        CorpusError: tokens that are not those of the text in the comment, or labels that are not in IOB2.
    """
    current: Document | None = None
    for sentence in sentences:
        comments = dict(map(key_and_value, sentence.comments))
        if current is None or DOCUMENT in comments or TEXT not in comments:
            if current is not None:
                yield current
            current = Document("", dict.fromkeys(layers, ()), comments.get(DOCUMENT, ""), location=sentence.location)
        current = _longer(current, sentence, comments.get(TEXT), comments.get(START, ""))
    if current is not None:
        yield current


def _longer(document: Document, sentence: Sentence, text: str | None, start: str) -> Document:
    """The document with one more line, at its place."""
    offsets = TokenOffsets.of(sentence.forms) if text is None else TokenOffsets.in_text(text, sentence.forms)
    if offsets is None:
        raise CorpusError(f"the tokens {' '.join(sentence.forms)!r}", f"those of the text {text!r}", *sentence.location)
    before = document.text + "\n" * bool(document.text)
    gap = int(start) - len(before) if start.isdecimal() else 0
    base = len(before) + max(gap, 0)
    bounds = list(offsets.starts), list(offsets.stops)
    marks = {
        name: (*(known or ()), *_marks(sentence, sentence.layers.get(name), bounds, base))
        for name, known in document.marks.items()
    }
    return replace(document, text=f"{before}{chr(10) * max(gap, 0)}{offsets.text}", marks=marks)


def _marks(sentence: Sentence, layer: Layer | None, bounds: tuple[list[int], list[int]], base: int) -> Iterator[Mark]:
    """The spans of a layer by offsets; a position that is unknown, or has several candidates, is in none."""
    best = [_best(candidates) for candidates in layer or ()]
    starts, stops = bounds
    for group in spans_of(tuple((label,) for label, _ in best), sentence.location):
        (span,) = group
        if span.label is not None and span.stop is not None and span.label != OUTSIDE:
            number = min(number for _, number in best[span.start : span.stop])
            yield Mark(base + starts[span.start], base + stops[span.stop - 1], span.label, number)


def _best(candidates: Candidates) -> tuple[str, float]:
    """The label of a position, and its number; of candidates with numbers, that of the best sequence is the first."""
    if isinstance(candidates, Soft):
        return next(candidates.numbered())
    return (candidates[0], 1.0) if candidates is not None and len(candidates) == 1 else (OUTSIDE, 1.0)
