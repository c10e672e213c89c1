"""The spans that a tagger finds, with their probabilities and offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tagweave.corpus.spans import OUTSIDE, spans_of

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence
    from tagweave.front.tokenised import Tokenised
    from tagweave.models.chain_predictor import ChainPredictor

LEAST = 1e-6
"""Smaller probabilities are left out, or said to be this large."""
DIGITS = 6


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A span that a model found.

    Attributes:
        label: its label.
        first, last: its tokens, first .. last - 1 of all tokens of the text.
        start, end: its characters, start .. end - 1 of the text; `None` where tokens were given.
        probability: of the span and its label; `None` if nobody asked.
    """

    label: str
    first: int
    last: int
    start: int | None = None
    end: int | None = None
    probability: float | None = None


def labelled_spans(
    tagger: ChainPredictor, labelled: Sequence[Sentence], probable: bool, tables: Sequence[Any] | None = None
) -> list[list[LabelledSpan]]:
    """Return the spans of each sentence.

    The probability of a span is exact if the model has one guideline. Of several it is the smallest of its labels.

    Args:
        tagger: the tagger.
        labelled: sentences that it labelled.
        probable: whether spans get a probability.
        tables: the probabilities of all labels in each sentence, if they are known.
    """
    found = [list(_coded(each, tagger.guideline)) for each in labelled]
    if not probable:
        return found
    if len(tagger.model.space.views) > 1:
        known = tagger.probabilities(labelled) if tables is None else tables
        numbers = [label_probabilities(tagger, *each) for each in zip(labelled, known, strict=True)]
        return [
            [replace(span, probability=min(row[span.first : span.last])) for span in own]
            for own, row in zip(found, numbers, strict=True)
        ]
    exact = ({each[:3]: each.probability for each in some} for some in tagger.spans(labelled, LEAST))
    return [
        [replace(span, probability=_probability(span, some)) for span in own]
        for own, some in zip(found, exact, strict=True)
    ]


def label_probabilities(tagger: ChainPredictor, sentence: Sentence, table: Any) -> list[float]:
    """Return the probability of the label of each token, from those of all labels."""
    number = {name: at for at, name in enumerate(tagger.labels)}
    best = [candidates[0] for candidates in sentence.layers[tagger.guideline] if candidates]
    return [round(float(row[number[label]]), DIGITS) for row, label in zip(table, best, strict=True)]


def in_text(text: Tokenised, spans: Sequence[Sequence[LabelledSpan]]) -> list[LabelledSpan]:
    """Return spans of sentences as those of the text, with characters if it has them."""
    found, before = [], 0
    for at, own in enumerate(spans):
        for each in own:
            start = end = None
            if text.offsets is not None:
                start, end = text.offsets[at][each.first][0], text.offsets[at][each.last - 1][1]
            found.append(replace(each, first=before + each.first, last=before + each.last, start=start, end=end))
        before += len(text.sentences[at])
    return found


def _coded(sentence: Sentence, guideline: str) -> Iterator[LabelledSpan]:
    for (span,) in spans_of(sentence.layers[guideline]):
        if span.label is not None and span.label != OUTSIDE and span.stop is not None:
            yield LabelledSpan(span.label, span.start, span.stop)


def _probability(span: LabelledSpan, known: dict[tuple[int, int, str], float]) -> float:
    return round(known.get((span.first, span.last, span.label), LEAST), DIGITS)
