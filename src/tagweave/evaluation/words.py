"""Words in text: which words annotated characters determine, and how well a system finds them.

Characters have labels B, M, E, S, alone or with a tag (`B-NN`; `B-*` if the tag is unknown). A label says whether there
is a word boundary before its character and whether there is one after it. So the labels of a sentence leave to each gap
between characters a set: boundary, no boundary, or both. The sets are computed exactly, by a pass forward and a pass
backward. Labels that contradict each other at a gap (`B` before `S`, `E` before `M`, `M` at the start of a sentence)
make it a boundary, since one side says so; the other gaps of both characters are not affected.

A *word* is a stretch between two certain boundaries with certainly no boundary inside. Any other stretch between two
certain boundaries is kept as one form, marked as uncertain, since its words are unknown.

Scores are precision, recall and F of words and of words with their tags, and recall of known and unknown words. If the
gold standard is partial:

- A gold word is scored if it is certain. The other characters of the gold standard are unscored.
- A system word is scored if it shares a character with a scored gold word. Then it is either that word or contradicts
  it. Words of the system inside unscored stretches are neither right nor wrong.
- A stretch that the system left undecided counts as one word of the system, and is wrong.
- For words with tags, only gold words with known tags are scored, and a word is right if its tag agrees, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import (
    Booleans,
    CandidateCodes,
    Confusion,
    Integers,
    confusions,
    label_scores,
    shares_by_vocabulary,
)
from tagweave.evaluation.alignment import check_text
from tagweave.evaluation.score import Counts, Measure, Result, Score, Share, counts_by_sentence, f_of_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tagweave.corpus.corpus import Corpus, Unit

# Sets as bits: of labels, and of the values of a gap.
B, M, E, S = 1, 2, 4, 8
BITS = {"B": B, "M": M, "E": E, "S": S}
ANY_LABEL = B | M | E | S
NONE, BOUNDARY, EITHER = 1, 2, 3
AFTER_GAP = (0, M | E, B | S, ANY_LABEL)  # for each set of a gap: the labels that may follow it
BEFORE_GAP = (0, B | M, E | S, ANY_LABEL)  # ... and those that may precede it


def _gap_sets(none: int, boundary: int) -> tuple[int, ...]:
    """For each set of labels, the values of a gap; `none` are the labels that imply no boundary."""
    return tuple((NONE if labels & none else 0) | (BOUNDARY if labels & boundary else 0) for labels in range(16))


GAP_BEFORE, GAP_AFTER = _gap_sets(M | E, B | S), _gap_sets(B | M, E | S)


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The words of a sentence."""

    forms: tuple[str, ...]  # the words and the uncertain stretches, in order; together they are the text
    # for each form the candidates of its tag; `None` if the sentence has no tags at all
    tags: tuple[Candidates, ...] | None = None
    certain: tuple[bool, ...] | None = None  # for each form, whether it is certainly a word; `None`: every form is
    location: Location = field(default_factory=Location)  # file and line, for messages

    def __post_init__(self) -> None:
        for name, values in (("tags", self.tags), ("marks of certainty", self.certain)):
            if values is not None and len(values) != len(self.forms):
                raise CorpusError(f"{len(values)} {name}", f"{len(self.forms)}, one a word", *self.location)
        if not all(self.forms):
            raise CorpusError("an empty word", "words of at least one character", *self.location)


class _Reading(NamedTuple):
    """The candidates of one character: the set of letters, and the letter and tag (`None`: no tag) of each label."""

    positions: int
    labels: tuple[tuple[int, str | None], ...]


_UNKNOWN = _Reading(ANY_LABEL, ((ANY_LABEL, None),))


def segmentations(sentences: Iterable[Sentence], guideline: str, unit: Unit) -> tuple[Segmentation, ...]:
    """Return the words of each sentence: its tokens, or the words that the layer of its characters determines.

    A sentence without the layer is unknown throughout: its words have no tags, its characters no certain boundaries.
    """
    if unit == "word":
        return tuple(Segmentation(item.forms, item.layers.get(guideline), None, item.location) for item in sentences)
    readings: dict[Candidates, _Reading] = {None: _UNKNOWN}
    return tuple(_from_characters(item, guideline, readings) for item in sentences)


def _from_characters(sentence: Sentence, guideline: str, readings: dict[Candidates, _Reading]) -> Segmentation:
    layer = sentence.layers.get(guideline, (None,) * len(sentence))
    for candidates in layer:
        if candidates is not None and candidates not in readings:
            readings[candidates] = _read(candidates, sentence.location)
    of_characters = [readings[candidates] for candidates in layer]
    gaps, kept = settle([reading.positions for reading in of_characters])
    ends = [gap for gap in range(1, len(gaps)) if gaps[gap] == BOUNDARY]
    spans = list(zip([0, *ends], ends, strict=False))
    certain = tuple(all(gap == NONE for gap in gaps[start + 1 : end]) for start, end in spans)
    tags = tuple(
        _tag(of_characters[start:end], kept[start:end]) if sure else None
        for (start, end), sure in zip(spans, certain, strict=True)
    )
    tagged = any(tag is not None for reading in of_characters for _, tag in reading.labels)
    forms = tuple("".join(sentence.forms[start:end]) for start, end in spans)
    return Segmentation(forms, tags if tagged else None, certain, sentence.location)


def _read(candidates: tuple[str, ...], location: Location) -> _Reading:
    labels = []
    positions = 0
    for label in candidates:
        position, hyphen, tag = label.partition("-")
        if position not in BITS or (hyphen and not tag):
            raise CorpusError(f"the label {label!r}", "B, M, E or S, alone or with a tag as in B-NN", *location)
        labels.append((BITS[position], None if tag in ("", "*") else tag))
        positions |= BITS[position]
    return _Reading(positions, tuple(labels))


def settle(positions: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the values of T + 1 gaps (bits NONE, BOUNDARY) and of T labels (B, M, E, S) that sets of labels allow.

    Exact if some sequence of labels fits: a value is kept if and only if a fitting sequence has it.
    """
    gaps, kept = [BOUNDARY], []
    for labels in positions:
        fitting = labels & AFTER_GAP[gaps[-1]]
        if not fitting:  # a contradiction: one side says boundary
            gaps[-1], fitting = BOUNDARY, labels
        kept.append(fitting)
        gaps.append(GAP_AFTER[fitting])
    gaps[-1] = BOUNDARY
    for at in reversed(range(len(kept))):
        kept[at] = kept[at] & BEFORE_GAP[gaps[at + 1]] or kept[at]
        gaps[at] = gaps[at] & GAP_BEFORE[kept[at]] or gaps[at]
    return gaps, kept


def _tag(readings: Sequence[_Reading], kept: Sequence[int]) -> Candidates:
    """Return the tags that all characters of a word allow, or else the tags of its first tagged character."""
    first: Candidates = None
    common: Candidates = None
    for reading, positions in zip(readings, kept, strict=True):
        tags = dict.fromkeys(tag for position, tag in reading.labels if position & positions)
        if None in tags:  # a label without a tag allows every tag
            continue
        allowed = tuple(tag for tag in tags if tag is not None)
        first = first or allowed
        common = allowed if common is None else tuple(tag for tag in common if tag in tags)
    return common or first


def training_words(corpus: Corpus) -> frozenset[str]:
    """Return the words of a corpus; of characters, the words that their annotation determines."""
    return frozenset(
        form
        for sentence in segmentations(corpus.sentences, corpus.guideline, corpus.unit)
        for form, sure in zip(sentence.forms, sentence.certain or (True,) * len(sentence.forms), strict=True)
        if sure
    )


@dataclass(frozen=True, slots=True)
class TaggedWordScores(Result):
    """How well a system finds words together with their tags."""

    words: Score  # words with the right span and tag, among the gold words and the system's
    unscored: int  # certain gold words without a known tag
    ambiguous: int  # scored gold words with several candidate tags
    undecided: int  # words with the right span, but no tag or several from the system; they count as wrong
    labels: dict[str, Score]  # for each tag, its scores over the gold words with exactly one tag
    # words with the right span and exactly one gold tag, but another tag, the most frequent first
    confusions: tuple[Confusion, ...]
    counts: Counts = field(repr=False, compare=False)  # int64[S, 3], right, gold and system words of each sentence


@dataclass(frozen=True, slots=True)
class WordScores(Result):
    """How well a system segments text into words."""

    words: Score  # words with the right span, among the gold words and the system's
    unscored: int  # characters of the gold standard that are in no certain word
    undecided: int  # scored stretches that the system left undecided; all are wrong
    oov: Share | None  # right words among the gold words that are not training words; `None` if these are not given
    iv: Share | None  # right words among the gold words that are training words
    tagged: TaggedWordScores | None  # the scores with tags; `None` unless both sides have tags
    counts: Counts = field(repr=False, compare=False)  # int64[S, 3], right, gold and system words of each sentence
    json_names: ClassVar = {"oov": "oov_recall", "iv": "iv_recall"}

    def measures(self) -> dict[str, Measure]:
        words = {"F": Measure(self.counts, f_of_counts)}
        return words if self.tagged is None else {**words, "tagged F": Measure(self.tagged.counts, f_of_counts)}


def word_scores(
    gold: Sequence[Segmentation], system: Sequence[Segmentation], training_words: frozenset[str] | None = None
) -> WordScores:
    """Compare words of the system and of the gold standard, sentence by sentence over the same text."""
    check_text(gold, system)
    pair = _Pair.of(gold, system)
    scored = pair.gold.certain
    system_scored = pair.touching(scored)
    counts = pair.counts(pair.gold_match, scored, system_scored)
    right = np.zeros(len(scored), np.bool_)
    right[pair.gold_match] = True
    oov, iv = shares_by_vocabulary((form for item in gold for form in item.forms), right, scored, training_words)
    have_tags = all(any(item.tags is not None for item in sentences) for sentences in (gold, system))
    return WordScores(
        words=Score(*counts.sum(axis=0).tolist()),
        unscored=int(pair.gold.lengths[~scored].sum()),
        undecided=int((system_scored & ~pair.system.certain).sum()),
        oov=oov,
        iv=iv,
        tagged=_tagged(gold, system, pair) if have_tags else None,
        counts=counts,
    )


class _Forms(NamedTuple):
    """The N forms of all sentences, concatenated: arrays of N."""

    sentence: Integers
    starts: Integers
    lengths: Integers
    certain: Booleans

    @classmethod
    def of(cls, sentences: Sequence[Segmentation]) -> _Forms:
        sizes = np.array([len(item.forms) for item in sentences], dtype=np.int64)
        lengths = np.array([len(form) for item in sentences for form in item.forms], dtype=np.int64)
        sure = chain.from_iterable(item.certain or (True,) * len(item.forms) for item in sentences)
        certain = np.fromiter(sure, dtype=np.bool_, count=len(lengths))
        return cls(np.repeat(np.arange(len(sizes)), sizes), np.cumsum(lengths) - lengths, lengths, certain)


class _Pair(NamedTuple):
    """Gold and system forms over the same text, and the M pairs of certain words with the same span."""

    gold: _Forms
    system: _Forms
    gold_match: Integers
    system_match: Integers
    sentences: int

    @classmethod
    def of(cls, gold: Sequence[Segmentation], system: Sequence[Segmentation]) -> _Pair:
        ours, theirs = _Forms.of(gold), _Forms.of(system)
        size = int(ours.lengths.sum()) + 1
        keys, other_keys = (forms.starts * size + forms.lengths for forms in (ours, theirs))
        _, gold_match, system_match = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
        both = ours.certain[gold_match] & theirs.certain[system_match]
        return cls(ours, theirs, gold_match[both], system_match[both], len(gold))

    def touching(self, gold_scored: Booleans) -> Booleans:
        """Return whether each form of the system shares a character with a scored gold form."""
        if not len(self.system.starts):
            return np.zeros(0, dtype=np.bool_)
        return np.logical_or.reduceat(np.repeat(gold_scored, self.gold.lengths), self.system.starts)

    def counts(self, right: Integers, gold_scored: Booleans, system_scored: Booleans) -> Counts:
        """Return int64[S, 3]: right, gold and system words of each sentence; `right` holds numbers of gold forms."""
        ours, theirs = self.gold.sentence, self.system.sentence
        return counts_by_sentence(self.sentences, ours[right], ours[gold_scored], theirs[system_scored])


def _tagged(gold: Sequence[Segmentation], system: Sequence[Segmentation], pair: _Pair) -> TaggedWordScores:
    codes = CandidateCodes.of(
        *(chain.from_iterable(item.tags or (None,) * len(item.forms) for item in side) for side in (gold, system))
    )
    is_tagged, (ours, theirs) = codes.known[codes.gold], (pair.gold_match, pair.system_match)
    scored = pair.gold.certain & is_tagged
    agree = codes.agree(codes.gold[ours], codes.system[theirs])
    counts = pair.counts(ours[agree], scored, pair.touching(scored))
    tags, system_tags = codes.alone[codes.gold], codes.alone[codes.system]
    single = pair.gold.certain & (tags >= 0)
    matched, matched_system = tags[ours[single[ours]]], system_tags[theirs[single[ours]]]
    right = matched[matched == matched_system]
    return TaggedWordScores(
        words=Score(*counts.sum(axis=0).tolist()),
        unscored=int((pair.gold.certain & ~is_tagged).sum()),
        ambiguous=int((scored & (tags < 0)).sum()),
        undecided=int((scored[ours] & (system_tags[theirs] < 0)).sum()),
        labels=label_scores(codes.labels, tags[single], system_tags[pair.touching(single)], right),
        confusions=confusions(codes.labels, matched, matched_system),
        counts=counts,
    )
