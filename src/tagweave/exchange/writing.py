"""From sentences of tokens to documents: the way back of `exchange/reading.py`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.found_spans import SPANS, TAGS
from tagweave.corpus.outline import key_and_value
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.soft import Soft
from tagweave.corpus.spans import ANY, OUTSIDE, spans_of
from tagweave.corpus.token_offsets import TokenOffsets
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.reading import BEFORE, DOCUMENT, START, TEXT, Task
from tagweave.exchange.tokens import Offsets

_DIGITS = 9  # of a position: a text of a gigabyte is none


def documents(sentences: Iterable[Sentence], layers: Sequence[str], task: Task = SPANS) -> Iterator[Document]:
    """The documents of sentences, as their comments tell; a sentence without such comments is a document.

    Args:
        sentences: with labels of spans in IOB2, or of single tokens.
        layers: whose spans are marked, each as those of an annotator.
        task: `spans`, or `tags`: every token that has one label is marked with it.

    Raises:
        CorpusError: tokens that are not those of the text in the comment, or labels that are not in IOB2.
    """
    current: Document | None = None
    for sentence in sentences:
        comments = dict(map(key_and_value, sentence.comments))
        if current is None or DOCUMENT in comments or TEXT not in comments:
            if current is not None:
                yield current
            name, place = comments.get(DOCUMENT, ""), sentence.location
            current = Document("", dict.fromkeys(layers, ()), name, (), place, sentences=())
        current = _longer(current, sentence, comments, task)
    if current is not None:
        yield current


def _longer(document: Document, sentence: Sentence, comments: Mapping[str, str], task: Task) -> Document:
    """The document with one more line, at its place."""
    text = comments.get(TEXT)
    offsets = TokenOffsets.of(sentence.forms) if text is None else TokenOffsets.in_text(text, sentence.forms)
    if offsets is None:
        raise CorpusError(f"the tokens {' '.join(sentence.forms)!r}", f"those of the text {text!r}", *sentence.location)
    before = document.text + _before(document, comments, sentence)
    base = len(before)
    tokens = [(base + start, base + stop) for start, stop in zip(offsets.starts, offsets.stops, strict=True)]
    marked = _tags if task == TAGS else _marks
    marks = {
        name: (
            *(known or ()),
            *marked(sentence, sentence.layers.get(name), tokens),
            *(
                Mark(tokens[start][0], tokens[(stop or 0) - 1][1], label or ANY, rejected=True)
                for start, stop, label in sentence.rejected.get(name, ())
            ),
        )
        for name, known in document.marks.items()
    }
    return replace(
        document,
        text=before + offsets.text,
        marks=marks,
        tokens=(*(document.tokens or ()), *tokens),
        sentences=(*(document.sentences or ()), (base, base + len(offsets.text))),
    )


def _before(document: Document, comments: Mapping[str, str], sentence: Sentence) -> str:
    """What stands between the text so far and the sentence: line breaks, unless a comment says otherwise."""
    if BEFORE in comments:
        try:
            if isinstance(before := json.loads(comments[BEFORE]), str):
                return before
        except (ValueError, RecursionError):
            pass
        raise CorpusError(f"the comment {BEFORE} = {comments[BEFORE]}", "a JSON string", *sentence.location)
    line, start = len(document.text) + bool(document.text), comments.get(START, "")
    missing = int(start) - line if start.isdecimal() and len(start) < _DIGITS else 0
    return "\n" * (bool(document.text) + max(missing, 0))


def _tags(sentence: Sentence, layer: Layer | None, tokens: Sequence[Offsets]) -> Iterator[Mark]:
    """The tokens of a layer that have one label, or one that is the best."""
    for (start, stop), candidates in zip(tokens, layer or (), strict=False):
        if candidates is not None and (len(candidates) == 1 or isinstance(candidates, Soft)):
            label, number = _best(candidates)
            yield Mark(start, stop, label, number)


def _marks(sentence: Sentence, layer: Layer | None, tokens: Sequence[Offsets]) -> Iterator[Mark]:
    """The spans of a layer by offsets; a position that is unknown, or has several candidates, is in none."""
    best = [_best(candidates) for candidates in layer or ()]
    for group in spans_of(tuple((label,) for label, _ in best), sentence.location):
        (span,) = group
        if span.label is not None and span.stop is not None and span.label != OUTSIDE:
            number = min(number for _, number in best[span.start : span.stop])
            yield Mark(tokens[span.start][0], tokens[span.stop - 1][1], span.label, number)


def _best(candidates: Candidates) -> tuple[str, float]:
    """The label of a position, and its number; of candidates with numbers, that of the best sequence is the first."""
    if isinstance(candidates, Soft):
        return next(candidates.numbered())
    return (candidates[0], 1.0) if candidates is not None and len(candidates) == 1 else (OUTSIDE, 1.0)
