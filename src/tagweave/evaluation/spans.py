"""Precision, recall and F of spans (entities, phrases) in layers of labels, by type, micro and macro.

Labels are in IOB1, IOB2 or BIOES; gold standard and system may differ in that. Labels that violate the coding are read
as conlleval and seqeval (in its default mode) read them (`labels/spans`), and the scores are theirs:

- *exact*: a span of the system is right if the gold standard has a span of the same boundaries and type. The score over
  all spans is the micro average; the macro average is the mean of the types' precisions, recalls and Fs, where what is
  undefined counts as 0.
- *unseen*: the same over the spans whose sequence of words is not one of a span, of any type, of the training corpus.
- *partial overlap* and *type only* are defined in `span_pairs`.

If the gold standard is partial:

- A gold span is scored if it is certain that there is a span with these boundaries (`labels/spans`). A span
  that is followed by an unknown token ends there, except in BIOES. If its type is ambiguous or unknown, any of the
  possible types is right; it counts in no table of types.
- A span of the system is right if it is one of these, wrong if the gold standard excludes it, and otherwise unscored:
  nothing is wrong where the gold standard is unknown.
- If the gold standard covers only some labels (`labels_covered`), `O` excludes only spans of their types.
- A token that the system left undecided is in no span.

Span labels as arrays: the sets that a gold standard allows, and the labels that a system gave.

Spans of a gold standard and of a system that overlap, and the looser scores that come from them.

Both scores pair spans that share a token, each span with one other at most, from left to right. (Spans with the same
boundaries overlap no others.) They are those of SemEval-2013, task 9.1 (Segura-Bedmar et al. 2013, "SemEval-2013 Task
9: Extraction of Drug-Drug Interactions from Biomedical Texts"), with the half points of MUC-5 (Chinchor and Sundheim
1993, "MUC-5 evaluation metrics"):

- *partial overlap* (there "partial boundary matching"): the types do not matter. A pair with the same boundaries counts
  as one right span, any other pair as half of one.
- *type only* (there "type matching"): only spans of the same type are paired, and every pair counts as one right span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagweave.corpus.spans import ANY
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import (
    Booleans,
    CandidateCodes,
    Confusion,
    Integers,
    accuracy,
    confusions,
    encode,
    guideline_layers,
    label_scores,
)
from tagweave.evaluation.score import Counts, Measure, Score, Share, f_of_counts, number
from tagweave.labels.space import is_wildcard
from tagweave.labels.spans import (
    OUTSIDE,
    UNTYPED,
    SpanEvidence,
    SpanRules,
    SpanVerdict,
    all_span_labels,
    are_span_labels,
    ends_are_marked,
    is_span_label,
    sentence_begins,
)
from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence, Set

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates


class SpanCodes(NamedTuple):
    """The evidence of a gold standard for N tokens, and the labels of a system.

    Attributes:
        types: the names of the types.
        evidence: of the sets of labels in the gold standard.
        gold: int64[N], the number of the set of every token.
        system: int64[N], the label of every token; -1 means none, or several.
        begins: bool[N + 1], where a sentence begins, and the end.
    """

    types: tuple[str, ...]
    evidence: SpanEvidence
    gold: Integers
    system: Integers
    begins: Booleans

    @classmethod
    def of(cls, gold: Corpus, system: Corpus) -> SpanCodes:
        """The codes of the guideline layers of two corpora with the same tokens.

        Raises:
            CorpusError: a corpus without its layer, or with labels that do not code spans.
        """
        layers = guideline_layers(gold)
        codes = encode(chain.from_iterable(layers), chain.from_iterable(guideline_layers(system)))
        _check(gold, codes, codes.gold)
        _check(system, codes, codes.system)
        used, numbers = np.unique(codes.gold, return_inverse=True)
        sets = [codes.sets[number] for number in used.tolist()]
        possible, marked = _possible(sets, codes.labels)
        labels = tuple(dict.fromkeys([*possible, *codes.labels]))
        rules, allowed = SpanRules(labels), _allowed(sets, possible, labels, gold.covered)
        evidence = SpanEvidence(rules, allowed, ~codes.known[used], closes=not marked)
        given = np.array([*map(labels.index, codes.labels), -1])[codes.alone[codes.system]]
        return cls(rules.types, evidence, numbers, given, sentence_begins(np.cumsum([0, *map(len, layers)])))

    def verdict(self) -> SpanVerdict:
        """What the gold standard says about the spans of the system."""
        return self.evidence.verdict(self.gold, self.system, self.begins)


def has_spans(corpus: Corpus) -> bool:
    """Whether the labels in the corpus's guideline layer code spans (`are_span_labels`)."""
    sets = {each for sentence in corpus for each in set(sentence.layers.get(corpus.guideline, ()))}
    return are_span_labels(_plain(name) for each in sets for name in each or ())


def spans_of_training(corpus: Corpus, guideline: str) -> frozenset[tuple[str, ...]] | None:
    """The words of all certain spans of a corpus, whatever their type.

    They are those of the layer `guideline`, or of the corpus's own if it has none of this name; `None` if the labels of
    this layer code no spans.

    Raises:
        CorpusError: as `SpanCodes.of`.
    """
    named = any(guideline in sentence.layers for sentence in corpus)
    training = replace(corpus, guideline=guideline) if named else corpus
    if not has_spans(training):
        return None
    codes = SpanCodes.of(training, training)
    starts, stops, _ = codes.evidence.certain(codes.gold, codes.begins)
    return frozenset(words_of(training, starts, stops))


def words_of(corpus: Corpus, starts: Integers, stops: Integers) -> Iterator[tuple[str, ...]]:
    """The words of spans, whose first tokens, and tokens after the last ones, are counted over all sentences."""
    forms = [form for sentence in corpus for form in sentence.forms]
    return (tuple(forms[start:stop]) for start, stop in zip(starts.tolist(), stops.tolist(), strict=True))


def _plain(name: str) -> str:
    """The label that a candidate names, also one that it excludes (`!O`)."""
    return name[1:] if name.startswith("!") and is_wildcard(name) else name


def _check(corpus: Corpus, codes: CandidateCodes, numbers: Integers) -> None:
    """Refuse labels that do not code spans, and say where the first one is."""
    strange = {number for number in np.unique(numbers).tolist() if not _are_span_labels(codes.sets[number])}
    if strange:
        token = int(np.flatnonzero(np.isin(numbers, list(strange)))[0])
        number = int(np.searchsorted(np.cumsum([len(sentence) for sentence in corpus]), token, side="right"))
        found = f"the label {'|'.join(codes.sets[numbers[token]] or ())!r}"
        path, line = corpus[number].location
        expected = "O, or B, I, E or S, alone or with -TYPE"
        raise CorpusError(found, expected, path or corpus.path, line)


def _are_span_labels(candidates: Candidates) -> bool:
    return all(is_span_label(_plain(name)) for name in candidates or ())


def _possible(sets: Iterable[Candidates], given: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """The labels that an unknown token may have, and whether they mark right ends.

    They are those of the gold standard's coding, with the types of its sets and of the labels that were given.
    """
    names = [_plain(name) for candidates in sets for name in candidates or ()]
    marked = ends_are_marked(names)
    named = (name for name in names if not is_wildcard(name))
    kinds = (f"B{name[1:]}" for name in given if name != OUTSIDE)
    return all_span_labels(dict.fromkeys([*named, *kinds]), marked), marked


def _allowed(
    sets: Sequence[Candidates], possible: Sequence[str], labels: Sequence[str], covered: Iterable[str] | None
) -> Booleans:
    """bool[K, L]: the labels that each set allows; wildcards and unknown positions allow those that are `possible`."""
    number = {name: at for at, name in enumerate(labels)}
    allowed = np.zeros((len(sets), len(labels)), np.bool_)
    others = () if covered is None else tuple(_of_other_types(possible, covered))
    for row, candidates in zip(allowed, sets, strict=True):
        for name in ("!",) if candidates is None else candidates:
            row[[number[label] for label in _meant(name, possible, others)]] = True
    return allowed


def _meant(candidate: str, possible: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """The labels that a candidate stands for; `others` are those that `O` stands for besides."""
    if candidate.startswith("!"):
        return [name for name in possible if name != candidate[1:]]
    if is_wildcard(candidate):
        return [name for name in possible if name[0] == candidate[0] and name != OUTSIDE]
    return [candidate, *others] if candidate == OUTSIDE else [candidate]


def _of_other_types(possible: Iterable[str], covered: Iterable[str]) -> Iterator[str]:
    """The labels of types that nobody looked for."""
    types = {split_label(name)[1] or UNTYPED for name in covered if name != OUTSIDE}
    return (name for name in possible if name != OUTSIDE and (split_label(name)[1] or UNTYPED) not in types)


@dataclass(frozen=True, slots=True)
class PartialScore(Score):
    """Spans found in whole or in part; `right` counts the latter half.

    Attributes:
        exact: pairs of a gold and a system span with the same boundaries.
        overlapping: other pairs.
    """

    exact: int
    overlapping: int

    @classmethod
    def of(cls, exact: int, overlapping: int, gold: int, system: int) -> PartialScore:
        """The score of so many pairs, among so many spans of the gold standard and of the system."""
        return cls(exact + overlapping / 2, gold, system, exact, overlapping)

    def to_json(self) -> dict[str, Any]:
        """Counts and ratios as a plain dict."""
        return {**Score.to_json(self), "exact": self.exact, "overlapping": self.overlapping}


class TypedSpans(NamedTuple):
    """N spans in rising order, none of which overlap: int64[N] starts and stops, bool[N, T] possible types."""

    starts: Integers
    stops: Integers
    types: Booleans


def overlap_scores(gold: TypedSpans, system: TypedSpans) -> tuple[PartialScore, Score]:
    """The scores for partial overlap, and for the type only."""
    first = np.searchsorted(system.stops, gold.starts, side="right")
    counts = np.maximum(np.searchsorted(system.starts, gold.stops, side="left") - first, 0)
    ours = np.repeat(np.arange(len(gold.starts)), counts)
    theirs = np.arange(len(ours)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    same = (gold.starts[ours] == system.starts[theirs]) & (gold.stops[ours] == system.stops[theirs])
    agree = (gold.types[ours] & system.types[theirs]).any(axis=1)
    pairs = np.stack([ours, theirs], axis=1)
    sizes = len(gold.starts), len(system.starts)
    partial = PartialScore.of(int(same.sum()), _paired(pairs[~same].tolist()), *sizes)
    return partial, Score(int((same & agree).sum()) + _paired(pairs[~same & agree].tolist()), *sizes)


def _paired(overlaps: Iterable[tuple[int, int]]) -> int:
    """How many pairs are left, if each span is paired with the first that is free."""
    count, last, last_other = 0, -1, -1
    for one, other in overlaps:  # rising, so what is taken is the last pair's
        if one > last and other > last_other:
            count, last, last_other = count + 1, one, other
    return count


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
