"""The operation `tag` of taggers of words: labels, and the spans that they code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE, spans_of
from tagweave.labels.transition_scheme import codes_spans
from tagweave.serve.documents import Cut, Item, ServedDocument, in_tokens
from tagweave.serve.messages import SpanResult, TextResult

if TYPE_CHECKING:
    from tagweave.front.tagger import Tagger

_LEAST = 1e-6
"""Smaller probabilities are left out, or said to be this large."""
_DIGITS = 6


class Tagging:
    """A tagger of words.

    Args:
        model: the tagger.
        cut: cuts texts into its words.
    """

    name = "tag"

    def __init__(self, model: Tagger, cut: Cut) -> None:
        self._tagger, self._cut = model.under(), cut
        self._spans = codes_spans(self._tagger.labels)

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """The results of items. Raises CorpusError as `ChainPredictor.tag`."""
        documents = in_tokens(items, self._cut)
        given = [sentence for each in documents for sentence in each.sentences]
        labelled = list(self._tagger.tag(given))
        tables = self._tagger.probabilities(given) if probabilities else None
        spans = iter(self._spans_of(labelled, tables)) if self._spans else None
        labels = iter([_labels(each, self._tagger.guideline) for each in labelled])
        shown = iter([] if tables is None else map(self._shown, labelled, tables, [probabilities] * len(tables)))
        return [self._result(each, labels, spans, shown if probabilities else None) for each in documents]

    def _result(
        self,
        document: ServedDocument,
        labels: Iterator[list[str]],
        spans: Iterator[list[SpanResult]] | None,
        shown: Iterator[list[Any]] | None,
    ) -> TextResult:
        own = len(document.sentences)
        return result(
            document,
            labels=[label for each in islice(labels, own) for label in each],
            spans=None if spans is None else in_document(document, list(islice(spans, own))),
            probabilities=None if shown is None else [number for each in islice(shown, own) for number in each],
        )

    def _shown(self, sentence: Sentence, table: Any, which: bool | str) -> list[Any]:
        """For each token the probability of its label, or those of all labels."""
        names = self._tagger.labels
        if which == "all":
            return [by_label(names, row) for row in table]
        number = {name: at for at, name in enumerate(names)}
        columns = [number[label] for label in _labels(sentence, self._tagger.guideline)]
        return np.round(table[np.arange(len(columns)), columns].astype(float), _DIGITS).tolist()  # type: ignore[no-any-return]

    def _spans_of(self, sentences: Sequence[Sentence], tables: Sequence[Any] | None) -> list[list[SpanResult]]:
        """The spans of each sentence; with the probability of each, exactly, if the model has one guideline.

        Of several it is the smallest probability of its labels.
        """
        found = [list(_coded(each, self._tagger.guideline)) for each in sentences]
        if tables is None:
            return found
        if len(self._tagger.model.space.views) > 1:
            rows = [self._shown(each, table, True) for each, table in zip(sentences, tables, strict=True)]
            return [
                [_with(span, min(row[span.first : span.last])) for span in own]
                for own, row in zip(found, rows, strict=True)
            ]
        probable = ({each[:3]: each.probability for each in some} for some in self._tagger.spans(sentences, _LEAST))
        return [
            [_with(span, _probability(span, known)) for span in own] for own, known in zip(found, probable, strict=True)
        ]


def by_label(names: Sequence[str], row: Any) -> dict[str, float]:
    """The labels that are not impossible, the most probable first."""
    order = np.argsort(-row, kind="stable")
    return {names[at]: round(float(row[at]), _DIGITS) for at in order if row[at] >= _LEAST}


def result(document: ServedDocument, **found: Any) -> TextResult:
    """The result of a document: its tokens, sentences and offsets, and what was found."""
    bounds, at = [], 0
    for sentence in document.sentences:
        bounds.append((at, at + len(sentence)))
        at += len(sentence)
    return TextResult(
        tokens=[form for sentence in document.sentences for form in sentence.forms],
        sentences=bounds,
        offsets=None if document.offsets is None else [pair for each in document.offsets for pair in each],
        **found,
    )


def in_document(document: ServedDocument, spans: Sequence[Sequence[SpanResult]]) -> list[SpanResult]:
    """Spans of sentences as those of the document, with characters if it has them."""
    found, before = [], 0
    for at, own in enumerate(spans):
        for each in own:
            start = end = None
            if document.offsets is not None:
                start, end = document.offsets[at][each.first][0], document.offsets[at][each.last - 1][1]
            found.append(SpanResult(each.label, before + each.first, before + each.last, start, end, each.probability))
        before += len(document.sentences[at])
    return found


def _labels(sentence: Sentence, guideline: str) -> list[str]:
    return [candidates[0] for candidates in sentence.layers[guideline] if candidates]


def _coded(sentence: Sentence, guideline: str) -> Iterator[SpanResult]:
    for (span,) in spans_of(sentence.layers[guideline]):
        if span.label is not None and span.label != OUTSIDE and span.stop is not None:
            yield SpanResult(span.label, span.start, span.stop)


def _with(span: SpanResult, probability: float) -> SpanResult:
    return SpanResult(span.label, span.first, span.last, probability=probability)


def _probability(span: SpanResult, known: dict[tuple[int, int, str], float]) -> float:
    return round(known.get((span.first, span.last, span.label), _LEAST), _DIGITS)
