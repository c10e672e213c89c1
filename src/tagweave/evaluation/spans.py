"""Precision, recall and F of spans (entities, phrases) in layers of labels, by type, micro and macro.

Labels are in IOB1, IOB2 or BIOES; gold standard and system may differ in that. Labels that violate the coding are read
as conlleval and seqeval (in its default mode) read them (`labels/spans`), and the scores are theirs:

- *exact*: a span of the system is right if the gold standard has a span of the same boundaries and type. The score over
  all spans is the micro average; the macro average is the mean of the types' precisions, recalls and Fs, where an
  undefined one counts as 0.
- *unseen*: the same over the spans whose sequence of words is not one of a span, of any type, of the training corpus.

If the gold standard is partial:

- A gold span is scored if it is certain that there is a span with these boundaries (`labels/spans`). Where annotators
  marked whole spans (`corpus/chunk_schemes.gaps_in`), one that is followed by an unknown token ends there. If its type
  is ambiguous or unknown, any of the possible types is right; it counts in no table of types.
- A span of the system is right if it is one of these, wrong if the gold standard excludes it, and otherwise unscored:
  nothing is wrong where the gold standard is unknown.
- If the gold standard covers only some labels (`labels_covered`), `O` excludes only spans of their types.
- A token that the system left undecided is in no span.

The looser scores pair spans that share a token, each span with one other at most, from left to right. (Spans with the
same boundaries overlap no others.) They follow SemEval-2013, task 9.1 (Segura-Bedmar et al. 2013, "SemEval-2013
Task 9: Extraction of Drug-Drug Interactions from Biomedical Texts"), with the half points of MUC-5 (Chinchor and
Sundheim 1993, "MUC-5 evaluation metrics"):

- *partial overlap* (there "partial boundary matching"): the types do not matter. A pair with the same boundaries counts
  as one right span, any other pair as half of one.
- *type only* (there "type matching"): only spans of the same type are paired, and every pair counts as one right span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tagweave.corpus.chunk_schemes import gaps_in
from tagweave.corpus.spans import ANY, OUTSIDE
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import (
    Booleans,
    CandidateCodes,
    Confusion,
    Integers,
    accuracy,
    confusions,
    guideline_layers,
    label_scores,
)
from tagweave.evaluation.score import Counts, Measure, Result, Score, Share, counts_by_sentence, f_of_counts
from tagweave.labels.space import is_wildcard
from tagweave.labels.spans import (
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
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates


class SpanCodes(NamedTuple):
    """The evidence of a gold standard for N tokens, and the labels of a system."""

    types: tuple[str, ...]  # the names of the types
    evidence: SpanEvidence  # the spans that the gold standard's sets of labels allow
    gold: Integers  # int64[N], the number of the set of every token
    system: Integers  # int64[N], the label of every token; -1 means none, or several
    begins: Booleans  # bool[N + 1], where a sentence begins, and the end

    @classmethod
    def of(cls, gold: Corpus, system: Corpus) -> SpanCodes:
        layers = guideline_layers(gold)
        codes = CandidateCodes.of(chain.from_iterable(layers), chain.from_iterable(guideline_layers(system)))
        _check(gold, codes, codes.gold)
        _check(system, codes, codes.system)
        used, numbers = np.unique(codes.gold, return_inverse=True)
        sets = [codes.sets[number] for number in used.tolist()]
        # An unknown token may have any label of the gold standard's coding, with the types that occur on either side.
        names = [_plain(name) for candidates in sets for name in candidates or ()]
        marked = ends_are_marked(names)
        named = (name for name in names if not is_wildcard(name))
        kinds = (f"B{name[1:]}" for name in codes.labels if name != OUTSIDE)
        possible = all_span_labels(dict.fromkeys([*named, *kinds]), marked)
        labels = tuple(dict.fromkeys([*possible, *codes.labels]))
        rules, allowed = SpanRules(labels), _allowed(sets, possible, labels, gold.covered)
        closes = not marked and gaps_in(gold, gold.guideline) == "spans"
        evidence = SpanEvidence(rules, allowed, ~codes.known[used], closes)
        system_labels = np.array([*map(labels.index, codes.labels), -1])[codes.alone[codes.system]]
        return cls(rules.types, evidence, numbers, system_labels, sentence_begins(np.cumsum([0, *map(len, layers)])))

    def verdict(self) -> SpanVerdict:
        return self.evidence.verdict(self.gold, self.system, self.begins)


def has_spans(corpus: Corpus) -> bool:
    """Return whether the labels in the corpus's guideline layer code spans."""
    sets = {candidates for sentence in corpus for candidates in set(sentence.layers.get(corpus.guideline, ()))}
    return are_span_labels(_plain(name) for candidates in sets for name in candidates or ())


def spans_of_training(corpus: Corpus, guideline: str) -> frozenset[tuple[str, ...]] | None:
    """Return the words of all certain spans of a corpus, whatever their type; `None` if its labels code no spans.

    Spans are read from the layer `guideline`, or if the corpus has none of this name, from its own.
    """
    named = any(guideline in sentence.layers for sentence in corpus)
    training = replace(corpus, guideline=guideline) if named else corpus
    if not has_spans(training):
        return None
    codes = SpanCodes.of(training, training)
    starts, stops, _ = codes.evidence.certain(codes.gold, codes.begins)
    return frozenset(_words_of(training, starts, stops))


def _words_of(corpus: Corpus, starts: Integers, stops: Integers) -> Iterator[tuple[str, ...]]:
    """Return the words of spans; starts and stops count tokens over all sentences."""
    forms = [form for sentence in corpus for form in sentence.forms]
    return (tuple(forms[start:stop]) for start, stop in zip(starts.tolist(), stops.tolist(), strict=True))


def _plain(name: str) -> str:
    """Return the label that a candidate names, also one that it excludes (`!O`)."""
    return name[1:] if name.startswith("!") and is_wildcard(name) else name


def _check(corpus: Corpus, codes: CandidateCodes, numbers: Integers) -> None:
    """Refuse labels that do not code spans, and say where the first one is."""
    strange = {
        number
        for number in np.unique(numbers).tolist()
        if not all(is_span_label(_plain(name)) for name in codes.sets[number] or ())
    }
    if strange:
        token = int(np.flatnonzero(np.isin(numbers, list(strange)))[0])
        number = int(np.searchsorted(np.cumsum([len(sentence) for sentence in corpus]), token, side="right"))
        problem = f"the label {'|'.join(codes.sets[numbers[token]] or ())!r}"
        path, line = corpus[number].location
        expected = "O, or B, I, E or S, alone or with -TYPE"
        raise CorpusError(problem, expected, path or corpus.path, line)


def _allowed(
    sets: Sequence[Candidates], possible: Sequence[str], labels: Sequence[str], covered: Iterable[str] | None
) -> Booleans:
    """bool[K, L]: the labels that each set allows; wildcards and unknown positions allow `possible` labels."""
    number = {name: at for at, name in enumerate(labels)}
    allowed = np.zeros((len(sets), len(labels)), np.bool_)
    beside_outside: list[str] = []  # the labels of types that nobody looked for
    if covered is not None:
        types = {split_label(name)[1] or UNTYPED for name in covered if name != OUTSIDE}
        beside_outside = [
            name for name in possible if name != OUTSIDE and (split_label(name)[1] or UNTYPED) not in types
        ]
    for row, candidates in zip(allowed, sets, strict=True):
        for candidate in ("!",) if candidates is None else candidates:
            if candidate.startswith("!"):
                meant = [name for name in possible if name != candidate[1:]]
            elif is_wildcard(candidate):
                meant = [name for name in possible if name[0] == candidate[0] and name != OUTSIDE]
            else:
                meant = [candidate, *(beside_outside if candidate == OUTSIDE else ())]
            row[[number[label] for label in meant]] = True
    return allowed


@dataclass(frozen=True, slots=True)
class PartialScore(Score):
    """Spans found in whole or in part; `right` counts the latter half."""

    exact: int  # pairs of a gold and a system span with the same boundaries
    overlapping: int  # other pairs


def _overlap_scores(verdict: SpanVerdict, size: int) -> tuple[PartialScore, Score]:
    """Return the scores for partial overlap, and for the type only, of `size`."""
    gold = verdict.gold
    starts, stops, kinds = (array[verdict.scored] for array in verdict.system)
    first = np.searchsorted(stops, gold.starts, side="right")
    counts = np.maximum(np.searchsorted(starts, gold.stops, side="left") - first, 0)
    ours = np.repeat(np.arange(len(gold.starts)), counts)
    theirs = np.arange(len(ours)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    same = (gold.starts[ours] == starts[theirs]) & (gold.stops[ours] == stops[theirs])
    agree = (gold.types[ours] & (kinds[:, None] == np.arange(size))[theirs]).any(axis=1)
    pairs = np.stack([ours, theirs], axis=1)
    sizes, exact, overlapping = (len(gold.starts), len(starts)), int(same.sum()), _paired(pairs[~same].tolist())
    partial = PartialScore(exact + overlapping / 2, *sizes, exact, overlapping)
    return partial, Score(int((same & agree).sum()) + _paired(pairs[~same & agree].tolist()), *sizes)


def _paired(overlaps: Iterable[tuple[int, int]]) -> int:
    """Count the pairs that are left if each span is paired with the first free one; pairs are in rising order."""
    count, last, last_other = 0, -1, -1
    for one, other in overlaps:
        if one > last and other > last_other:
            count, last, last_other = count + 1, one, other
    return count


@dataclass(frozen=True, slots=True)
class Averages(Result):
    """Means over types, 0..1; `nan` without types."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class SpanScores(Result):
    """How well a system finds spans together with their types."""

    spans: Score  # right, gold and system spans, over all types (micro)
    macro: Averages  # the averages over types
    labels: dict[str, Score]  # for each type, its scores over the gold spans with exactly one type
    # the scores over spans whose words are no span of the training corpus; `None` if this is not given
    unseen: Score | None
    partial: PartialScore  # the scores for partial overlap
    type_only: Score  # the score for types regardless of boundaries
    unscored: int  # spans of the system that are neither right nor wrong
    ambiguous: int  # scored gold spans with several possible types
    undecided: int  # tokens with known gold labels for which the system gave no label or several
    confusions: tuple[Confusion, ...]  # spans with the right boundaries and another type, the most frequent first
    accuracy: Share  # right and scored labels of tokens
    counts: Counts = field(repr=False, compare=False)  # int64[S, 3], right, gold and system spans of each sentence

    def measures(self) -> dict[str, Measure]:
        return {"F": Measure(self.counts, f_of_counts)}


def score_of_layers(gold: Corpus, system: Corpus, names: Iterable[str]) -> Score:
    """Return the score of the spans of several layers together. Raises as `span_scores`."""
    pairs = ((replace(gold, guideline=name), replace(system, guideline=name)) for name in names)
    return Score.total(span_scores(*pair).spans for pair in pairs)


def span_scores(gold: Corpus, system: Corpus, training_spans: frozenset[tuple[str, ...]] | None = None) -> SpanScores:
    """Compare the spans in the guideline layers of a system and a gold corpus, over the same tokens.

    The gold standard may be partial or ambiguous; `training_spans` come from `spans_of_training`.
    """
    tokens = accuracy(gold, system)
    codes = SpanCodes.of(gold, system)
    types = codes.types
    verdict = with_rejected(codes.verdict(), gold, types)
    only = np.where(verdict.gold.types.sum(axis=1) == 1, verdict.gold.types.argmax(axis=1), -1)  # -1: several types
    of_type = verdict.scored.copy()
    of_type[verdict.system_match[only[verdict.gold_match] < 0]] = False
    scores = label_scores(types, only, verdict.system.types[of_type], only[verdict.gold_match])
    partial, type_only = _overlap_scores(verdict, len(types))
    keys, other_keys = (spans.starts * len(codes.begins) + spans.stops for spans in (verdict.gold, verdict.system))
    _, ours, theirs = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    single = only[ours] >= 0
    ends = np.cumsum([len(sentence) for sentence in gold])
    starts = verdict.gold.starts
    starts_of = (starts[verdict.gold_match], starts, verdict.system.starts[verdict.scored])
    counts = counts_by_sentence(len(ends), *(np.searchsorted(ends, starts, side="right") for starts in starts_of))
    return SpanScores(
        spans=Score(*counts.sum(axis=0).tolist()),
        macro=_macro(scores.values()),
        labels=scores,
        unseen=None if training_spans is None else _unseen(gold, verdict, training_spans),
        partial=partial,
        type_only=type_only,
        unscored=int((~verdict.scored).sum()),
        ambiguous=int((only < 0).sum()),
        undecided=tokens.undecided,
        confusions=confusions(types, only[ours[single]], verdict.system.types[theirs[single]]),
        accuracy=tokens.tokens,
        counts=counts,
    )


def with_rejected(verdict: SpanVerdict, gold: Corpus, types: Sequence[str]) -> SpanVerdict:
    """Return the verdict with spans of the system that the gold standard rejects as wrong."""
    begins = np.cumsum([0, *(len(sentence) for sentence in gold)]).tolist()
    rejected = {
        (first + start, first + (stop or 0), label)
        for first, sentence in zip(begins, gold, strict=False)
        for start, stop, label in sentence.rejected.get(gold.guideline, ())
    }
    if not rejected:
        return verdict
    spans = zip(*(array.tolist() for array in verdict.system), strict=True)
    wrong = [not rejected.isdisjoint({(a, b, types[kind]), (a, b, ANY)}) for a, b, kind in spans]
    return verdict._replace(scored=verdict.scored | np.array(wrong, np.bool_))


def _macro(scores: Collection[Score]) -> Averages:
    if not scores:
        return Averages(math.nan, math.nan, math.nan)
    rows = np.array([[score.precision, score.recall, score.f] for score in scores])
    return Averages(*np.nan_to_num(rows).mean(axis=0).tolist())


def _unseen(gold: Corpus, verdict: SpanVerdict, training_spans: frozenset[tuple[str, ...]]) -> Score:
    ours, theirs = (
        np.array([words not in training_spans for words in _words_of(gold, spans.starts, spans.stops)], np.bool_)
        for spans in (verdict.gold, verdict.system)
    )
    return Score(int(ours[verdict.gold_match].sum()), int(ours.sum()), int((theirs & verdict.scored).sum()))
