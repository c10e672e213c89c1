"""Precision, recall and F of spans (entities, phrases) in layers of labels, by type, micro and macro.

Labels are in IOB1, IOB2 or BIOES; gold standard and system may differ in that. Labels that violate the coding are read
as conlleval and seqeval (in its default mode) read them (`labels/span_rules`), and the scores are theirs:

- *exact*: a span of the system is right if the gold standard has a span of the same boundaries and type. The score over
  all spans is the micro average; the macro average is the mean of the types' precisions, recalls and Fs, where what is
  undefined counts as 0.
- *unseen*: the same over the spans whose sequence of words is not one of a span, of any type, of the training corpus.
- *partial overlap* and *type only* are defined in `span_pairs`.

If the gold standard is partial:

- A gold span is scored if it is certain that there is a span with these boundaries (`labels/span_evidence`). A span
  that is followed by an unknown token ends there, except in BIOES. If its type is ambiguous or unknown, any of the
  possible types is right; it counts in no table of types.
- A span of the system is right if it is one of these, wrong if the gold standard excludes it, and otherwise unscored:
  nothing is wrong where the gold standard is unknown.
- If the gold standard covers only some labels (`labels_covered`), `O` excludes only spans of their types.
- A token that the system left undecided is in no span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagweave.corpus.spans import ANY
from tagweave.evaluation.accuracy import Confusion, accuracy, confusions, label_scores
from tagweave.evaluation.score import Counts, Measure, Score, Share, f_of_counts, number
from tagweave.evaluation.span_codes import SpanCodes, words_of
from tagweave.evaluation.span_pairs import PartialScore, TypedSpans, overlap_scores

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence, Set

    from tagweave.corpus.corpus import Corpus
    from tagweave.evaluation.candidates import Booleans, Integers
    from tagweave.labels.span_evidence import SpanVerdict


class Averages(NamedTuple):
    """Means over types, 0..1; `nan` without types."""

    precision: float
    recall: float
    f: float

    def to_json(self) -> dict[str, float | None]:
        """The means as a plain dict."""
        return {name: number(value) for name, value in self._asdict().items()}


@dataclass(frozen=True, slots=True)
class SpanScores:
    """How well a system finds spans together with their types.

    Attributes:
        spans: right, gold and system spans, over all types (micro).
        macro: the averages over types.
        labels: for each type, its scores over the gold spans with exactly one type.
        unseen: the scores over spans whose words are no span of the training corpus; `None` if this is not given.
        partial: the scores for partial overlap.
        type_only: the score for types regardless of boundaries.
        unscored: spans of the system that are neither right nor wrong.
        ambiguous: scored gold spans with several possible types.
        undecided: tokens with known gold labels for which the system gave no label or several.
        confusions: spans with the right boundaries and another type, the most frequent first.
        accuracy: right and scored labels of tokens.
        counts: int64[S, 3], right, gold and system spans of each sentence.
    """

    spans: Score
    macro: Averages
    labels: dict[str, Score]
    unseen: Score | None
    partial: PartialScore
    type_only: Score
    unscored: int
    ambiguous: int
    undecided: int
    confusions: tuple[Confusion, ...]
    accuracy: Share
    counts: Counts = field(repr=False, compare=False)

    def measures(self) -> dict[str, Measure]:
        """The measures by which systems are compared."""
        return {"F": Measure(self.counts, f_of_counts)}

    def to_json(self) -> dict[str, Any]:
        """Everything except the counts per sentence, as a plain dict."""
        return {
            "spans": self.spans.to_json(),
            "macro": self.macro.to_json(),
            "labels": {name: score.to_json() for name, score in self.labels.items()},
            "unseen": self.unseen.to_json() if self.unseen else None,
            "partial": self.partial.to_json(),
            "type_only": self.type_only.to_json(),
            "unscored": self.unscored,
            "ambiguous": self.ambiguous,
            "undecided": self.undecided,
            "confusions": [confusion.to_json() for confusion in self.confusions],
            "accuracy": self.accuracy.to_json(),
        }


def span_scores(gold: Corpus, system: Corpus, training_spans: frozenset[tuple[str, ...]] | None = None) -> SpanScores:
    """Compare the spans in the system's guideline layer with those of the gold corpus, over the same tokens.

    Args:
        gold: the gold standard, which may be partial or ambiguous.
        system: the output.
        training_spans: the spans of the training corpus (`span_codes.spans_of_training`).

    Raises:
        CorpusError: different tokens or numbers of sentences, a corpus without its layer, or labels that do not code
            spans.
    """
    tokens = accuracy(gold, system)
    codes = SpanCodes.of(gold, system)
    types = codes.types
    verdict = _with_rejected(codes.verdict(), gold, types)
    only = _only_type(verdict.gold.types)
    of_type = verdict.scored.copy()
    of_type[verdict.system_match[only[verdict.gold_match] < 0]] = False
    right = only[verdict.gold_match]
    scores = label_scores(types, only, verdict.system.types[of_type], right[right >= 0])
    partial, type_only = _overlaps(verdict, len(types))
    counts = _counts(verdict, [len(sentence) for sentence in gold])
    return SpanScores(
        spans=Score(*counts.sum(axis=0).tolist()),
        macro=_macro(list(scores.values())),
        labels=scores,
        unseen=None if training_spans is None else _unseen(gold, verdict, training_spans),
        partial=partial,
        type_only=type_only,
        unscored=int((~verdict.scored).sum()),
        ambiguous=int((only < 0).sum()),
        undecided=tokens.undecided,
        confusions=_confusions(verdict, only, types, len(codes.begins)),
        accuracy=tokens.tokens,
        counts=counts,
    )


def _with_rejected(verdict: SpanVerdict, gold: Corpus, types: Sequence[str]) -> SpanVerdict:
    """Return the verdict with spans of the system that the gold standard rejects as wrong."""
    begins = np.cumsum([0, *(len(sentence) for sentence in gold)]).tolist()
    rejected = {
        (first + start, first + (stop or 0), label)
        for first, sentence in zip(begins, gold, strict=False)
        for start, stop, label in sentence.rejected.get(gold.guideline, ())
    }
    if not rejected:
        return verdict
    spans = zip(*(each.tolist() for each in verdict.system), strict=True)
    wrong = [not rejected.isdisjoint({(a, b, types[kind]), (a, b, ANY)}) for a, b, kind in spans]
    return verdict._replace(scored=verdict.scored | np.array(wrong, np.bool_))


def _only_type(types: Booleans) -> Integers:
    """int64[G]: the number of the only type that a gold span may have, or -1."""
    only: Integers = np.where(types.sum(axis=1) == 1, types.argmax(axis=1), -1)
    return only


def _macro(scores: Collection[Score]) -> Averages:
    if not scores:
        return Averages(math.nan, math.nan, math.nan)
    rows = np.array([[score.precision, score.recall, score.f] for score in scores])
    return Averages(*np.nan_to_num(rows).mean(axis=0).tolist())


def _unseen(gold: Corpus, verdict: SpanVerdict, training_spans: Set[tuple[str, ...]]) -> Score:
    ours, theirs = (
        np.array([words not in training_spans for words in words_of(gold, spans.starts, spans.stops)], np.bool_)
        for spans in (verdict.gold, verdict.system)
    )
    return Score(int(ours[verdict.gold_match].sum()), int(ours.sum()), int((theirs & verdict.scored).sum()))


def _overlaps(verdict: SpanVerdict, size: int) -> tuple[PartialScore, Score]:
    starts, stops, types = (each[verdict.scored] for each in verdict.system)
    return overlap_scores(TypedSpans(*verdict.gold), TypedSpans(starts, stops, types[:, None] == np.arange(size)))


def _confusions(verdict: SpanVerdict, only: Integers, types: tuple[str, ...], size: int) -> tuple[Confusion, ...]:
    keys, other_keys = (spans.starts * size + spans.stops for spans in (verdict.gold, verdict.system))
    _, ours, theirs = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    single = only[ours] >= 0
    return confusions(types, only[ours[single]], verdict.system.types[theirs[single]])


def _counts(verdict: SpanVerdict, lengths: list[int]) -> Counts:
    """int64[S, 3]: right, gold and system spans of each sentence."""
    ends = np.cumsum(lengths)
    starts = verdict.gold.starts
    items = (starts[verdict.gold_match], starts, verdict.system.starts[verdict.scored])
    columns = [np.bincount(np.searchsorted(ends, item, side="right"), minlength=len(ends)) for item in items]
    return np.stack(columns, axis=1).astype(np.int64)
