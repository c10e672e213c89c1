"""The operation `tag` of taggers of words: labels, and the spans that they code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.front.spans import DIGITS, LEAST, LabelledSpan, in_text, label_probabilities, labelled_spans
from tagweave.front.tokenised import Cut, Tokenised
from tagweave.labels.transition_scheme import codes_spans
from tagweave.serve.documents import Item, in_tokens
from tagweave.serve.messages import SpanResult, TextResult

if TYPE_CHECKING:
    from tagweave.front.tagger import Tagger


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
        spans = iter(labelled_spans(self._tagger, labelled, bool(probabilities), tables)) if self._spans else None
        labels = iter([_labels(each, self._tagger.guideline) for each in labelled])
        shown = iter([] if tables is None else map(self._shown, labelled, tables, [probabilities] * len(tables)))
        return [self._result(each, labels, spans, shown if probabilities else None) for each in documents]

    def _result(
        self,
        document: Tokenised,
        labels: Iterator[list[str]],
        spans: Iterator[list[LabelledSpan]] | None,
        shown: Iterator[list[Any]] | None,
    ) -> TextResult:
        own = len(document.sentences)
        return result(
            document,
            labels=[label for each in islice(labels, own) for label in each],
            spans=None if spans is None else _results(document, list(islice(spans, own))),
            probabilities=None if shown is None else [number for each in islice(shown, own) for number in each],
        )

    def _shown(self, sentence: Sentence, table: Any, which: bool | str) -> list[Any]:
        """For each token the probability of its label, or those of all labels."""
        names = self._tagger.labels
        if which == "all":
            return [by_label(names, row) for row in table]
        return label_probabilities(self._tagger, sentence, table)


def by_label(names: Sequence[str], row: Any) -> dict[str, float]:
    """The labels that are not impossible, the most probable first."""
    order = np.argsort(-row, kind="stable")
    return {names[at]: round(float(row[at]), DIGITS) for at in order if row[at] >= LEAST}


def result(document: Tokenised, **found: Any) -> TextResult:
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


def _results(document: Tokenised, spans: Sequence[Sequence[LabelledSpan]]) -> list[SpanResult]:
    return [SpanResult(*astuple(each)) for each in in_text(document, spans)]


def _labels(sentence: Sentence, guideline: str) -> list[str]:
    return [candidates[0] for candidates in sentence.layers[guideline] if candidates]
