"""Precision, recall and F of words and of words with their tags, and recall of known and unknown words.

If the gold standard is partial:

- A gold word is scored if it is certain. The other characters of the gold standard are unscored.
- A system word is scored if it shares a character with a scored gold word. Then it is either that word or contradicts
  it. Words of the system inside unscored stretches are neither right nor wrong.
- A stretch that the system left undecided counts as one word of the system, and is wrong.
- For words with tags, only gold words with known tags are scored, and a word is right if its tag agrees, too (see
  `candidates`).

With a full gold standard these are the usual scores.

The words of a sentence, as far as its annotation determines them.

Characters have labels B, M, E, S, alone or with a tag (`B-NN`; `B-*` if the tag is unknown). A label says whether there
is a word boundary before its character and whether there is one after it. So the labels of a sentence leave to each gap
between characters a set: boundary, no boundary, or both. The sets are computed exactly, by a pass forward and a pass
backward.

A *word* is a stretch between two certain boundaries with certainly no boundary inside. Any other stretch between two
certain boundaries is kept as one form, marked as uncertain, since its words are unknown.

Labels that contradict each other at a gap (`B` before `S`, `E` before `M`, `M` at the start of a sentence) are decoded
leniently: the gap is a boundary, since one side says so, and the other gaps of both characters are not affected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import Booleans, CandidateCodes, Confusion, Integers, confusions, encode, label_scores
from tagweave.evaluation.alignment import check_text
from tagweave.evaluation.score import Counts, Measure, Score, Share, f_of_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tagweave.corpus.corpus import Unit

# Sets as bits: of labels, and of the values of a gap.
B, M, E, S = 1, 2, 4, 8
BITS = {"B": B, "M": M, "E": E, "S": S}
ANY_LABEL = B | M | E | S
NONE, BOUNDARY, EITHER = 1, 2, 3
AFTER_GAP = (0, M | E, B | S, ANY_LABEL)  # for each set of a gap: the labels that may follow it
BEFORE_GAP = (0, B | M, E | S, ANY_LABEL)  # ... and those that may precede it


def _gap_sets(none: int, boundary: int) -> tuple[int, ...]:
    """For each set of labels the values of a gap, given the labels that imply no boundary and those that imply one."""
    return tuple((NONE if labels & none else 0) | (BOUNDARY if labels & boundary else 0) for labels in range(16))


GAP_BEFORE, GAP_AFTER = _gap_sets(M | E, B | S), _gap_sets(B | M, E | S)


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The words of a sentence.

    Attributes:
        forms: the words and the uncertain stretches, in order; together they are the text.
        tags: for each form the candidates of its tag; `None` if the sentence has no tags at all.
        certain: for each form, whether it is certainly a word; `None`: every form is.
        location: file and line, for messages.

    Raises:
        CorpusError: an empty form, or tags or marks of certainty of a different length.
    """

    forms: tuple[str, ...]
    tags: tuple[Candidates, ...] | None = None
    certain: tuple[bool, ...] | None = None
    location: Location = field(default_factory=Location)

    def __post_init__(self) -> None:
        for name, values in (("tags", self.tags), ("marks of certainty", self.certain)):
            if values is not None and len(values) != len(self.forms):
                raise CorpusError(f"{len(values)} {name}", f"{len(self.forms)}, one a word", *self.location)
        if not all(self.forms):
            raise CorpusError("an empty word", "words of at least one character", *self.location)


class _Reading(NamedTuple):
    """The candidates of one character: the set of its letters, and for each label its bit and tag (`None`: no tag)."""

    positions: int
    labels: tuple[tuple[int, str | None], ...]


UNKNOWN = _Reading(ANY_LABEL, ((ANY_LABEL, None),))


def segmentations(sentences: Iterable[Sentence], guideline: str, unit: Unit) -> tuple[Segmentation, ...]:
    """The words of each sentence: its tokens, or those that the guideline layer of its characters determines.

    A sentence without the layer is unknown throughout: its words have no tags, its characters no certain boundaries.

    Raises:
        CorpusError: a label of a character other than B, M, E, S, alone or followed by `-` and a tag.
    """
    if unit == "word":
        return tuple(Segmentation(item.forms, item.layers.get(guideline), None, item.location) for item in sentences)
    readings: dict[Candidates, _Reading] = {None: UNKNOWN}
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
    """The values of the T + 1 gaps and the labels of the T characters that the label sets of a sentence allow.

    Exact if some sequence of labels fits: a value is kept if and only if a fitting sequence has it.

    Returns:
        the T + 1 sets of the gaps (bits NONE and BOUNDARY), and the T sets of labels (bits B, M, E, S) that remain.
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
    """The tags that every character of a word allows; those of its first tagged character if they disagree."""
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
    """The words of a corpus: of a corpus of characters those that its annotation settles."""
    return frozenset(
        form
        for sentence in segmentations(corpus.sentences, corpus.guideline, corpus.unit)
        for form, sure in zip(sentence.forms, sentence.certain or (True,) * len(sentence.forms), strict=True)
        if sure
    )


@dataclass(frozen=True, slots=True)
class TaggedWordScores:
    """How well a system finds words together with their tags.

    Attributes:
        words: words with the right span and tag, among the gold words and the system's.
        unscored: certain gold words without a known tag.
        ambiguous: scored gold words with several candidate tags.
        undecided: words with the right span, but no tag or several from the system; they count as wrong.
        labels: for each tag, its scores over the gold words with exactly one tag.
        confusions: words with the right span and exactly one gold tag, but another tag, the most frequent first.
        counts: int64[S, 3], right, gold and system words of each sentence.
    """

    words: Score
    unscored: int
    ambiguous: int
    undecided: int
    labels: dict[str, Score]
    confusions: tuple[Confusion, ...]
    counts: Counts = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Everything except the counts per sentence, as a plain dict."""
        return {
            "words": self.words.to_json(),
            "unscored": self.unscored,
            "ambiguous": self.ambiguous,
            "undecided": self.undecided,
            "labels": {label: score.to_json() for label, score in self.labels.items()},
            "confusions": [confusion.to_json() for confusion in self.confusions],
        }


@dataclass(frozen=True, slots=True)
class WordScores:
    """How well a system segments text into words.

    Attributes:
        words: words with the right span, among the gold words and the system's.
        unscored: characters of the gold standard that are in no certain word.
        undecided: scored stretches that the system left undecided; all are wrong.
        oov: right words among the gold words that are not training words; `None` if these are not given.
        iv: right words among the gold words that are training words.
        tagged: the scores with tags; `None` unless both sides have tags.
        counts: int64[S, 3], right, gold and system words of each sentence.
    """

    words: Score
    unscored: int
    undecided: int
    oov: Share | None
    iv: Share | None
    tagged: TaggedWordScores | None
    counts: Counts = field(repr=False, compare=False)

    def measures(self) -> dict[str, Measure]:
        """The measures by which systems are compared."""
        words = {"F": Measure(self.counts, f_of_counts)}
        return words if self.tagged is None else {**words, "tagged F": Measure(self.tagged.counts, f_of_counts)}

    def to_json(self) -> dict[str, Any]:
        """Everything except the counts per sentence, as a plain dict."""
        return {
            "words": self.words.to_json(),
            "unscored": self.unscored,
            "undecided": self.undecided,
            "oov_recall": self.oov.to_json() if self.oov else None,
            "iv_recall": self.iv.to_json() if self.iv else None,
            "tagged": self.tagged.to_json() if self.tagged else None,
        }


def word_scores(
    gold: Sequence[Segmentation], system: Sequence[Segmentation], training_words: frozenset[str] | None = None
) -> WordScores:
    """Compare the words of the system with those of the gold standard, sentence by sentence over the same text.

    Raises:
        CorpusError: different texts or numbers of sentences.
    """
    check_text(gold, system)
    pair = _Pair.of(gold, system)
    scored = pair.gold.certain
    system_scored = pair.touching(scored)
    counts = pair.counts(pair.gold_match, scored, system_scored)
    oov, iv = _by_vocabulary(gold, pair, training_words)
    return WordScores(
        words=_total(counts),
        unscored=int(pair.gold.lengths[~scored].sum()),
        undecided=int((system_scored & ~pair.system.certain).sum()),
        oov=oov,
        iv=iv,
        tagged=_tagged(gold, system, pair) if _has_tags(gold) and _has_tags(system) else None,
        counts=counts,
    )


class _Spans(NamedTuple):
    """The N forms of all sentences, concatenated: arrays of N."""

    sentence: Integers
    starts: Integers
    lengths: Integers
    certain: Booleans

    @classmethod
    def of(cls, sentences: Sequence[Segmentation]) -> _Spans:
        sizes = np.array([len(item.forms) for item in sentences], dtype=np.int64)
        forms = chain.from_iterable(item.forms for item in sentences)
        lengths = np.fromiter((len(form) for form in forms), dtype=np.int64, count=int(sizes.sum()))
        sure = chain.from_iterable(item.certain or (True,) * len(item.forms) for item in sentences)
        certain = np.fromiter(sure, dtype=np.bool_, count=len(lengths))
        return cls(np.repeat(np.arange(len(sizes)), sizes), np.cumsum(lengths) - lengths, lengths, certain)


class _Pair(NamedTuple):
    """Gold and system forms over the same text, and the M pairs of certain words with the same span."""

    gold: _Spans
    system: _Spans
    gold_match: Integers
    system_match: Integers
    sentences: int

    @classmethod
    def of(cls, gold: Sequence[Segmentation], system: Sequence[Segmentation]) -> _Pair:
        ours, theirs = _Spans.of(gold), _Spans.of(system)
        size = int(ours.lengths.sum()) + 1
        keys, other_keys = (spans.starts * size + spans.lengths for spans in (ours, theirs))
        _, gold_match, system_match = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
        both = ours.certain[gold_match] & theirs.certain[system_match]
        return cls(ours, theirs, gold_match[both], system_match[both], len(gold))

    def touching(self, gold_scored: Booleans) -> Booleans:
        """Whether each form of the system shares a character with a scored gold form."""
        if not len(self.system.starts):
            return np.zeros(0, dtype=np.bool_)
        characters = np.repeat(gold_scored, self.gold.lengths)
        return np.logical_or.reduceat(characters, self.system.starts)

    def counts(self, right: Integers, gold_scored: Booleans, system_scored: Booleans) -> Counts:
        """int64[S, 3]: right, gold and system words of each sentence; `right` holds numbers of gold forms."""
        items = (
            self.gold.sentence[right],
            self.gold.sentence[gold_scored],
            self.system.sentence[system_scored],
        )
        columns = [np.bincount(item, minlength=self.sentences) for item in items]
        return np.stack(columns, axis=1).astype(np.int64)


def _total(counts: Counts) -> Score:
    return Score(*counts.sum(axis=0).tolist())


def _by_vocabulary(
    gold: Sequence[Segmentation], pair: _Pair, training_words: frozenset[str] | None
) -> tuple[Share | None, Share | None]:
    if training_words is None:
        return None, None
    forms = chain.from_iterable(item.forms for item in gold)
    known = np.fromiter((form in training_words for form in forms), dtype=np.bool_, count=len(pair.gold.starts))
    oov, iv = (
        Share(int(part[pair.gold_match].sum()), int((part & pair.gold.certain).sum())) for part in (~known, known)
    )
    return oov, iv


def _has_tags(sentences: Sequence[Segmentation]) -> bool:
    return any(item.tags is not None for item in sentences)


def _tags(sentences: Sequence[Segmentation]) -> chain[Candidates]:
    return chain.from_iterable(item.tags or (None,) * len(item.forms) for item in sentences)


def _tagged(gold: Sequence[Segmentation], system: Sequence[Segmentation], pair: _Pair) -> TaggedWordScores:
    codes = encode(_tags(gold), _tags(system))
    known = codes.known[codes.gold]
    scored = pair.gold.certain & known
    agree = codes.agree(codes.gold[pair.gold_match], codes.system[pair.system_match])
    counts = pair.counts(pair.gold_match[agree], scored, pair.touching(scored))
    has_span = scored[pair.gold_match]
    labels, mistakes = _by_tag(codes, pair)
    return TaggedWordScores(
        words=_total(counts),
        unscored=int((pair.gold.certain & ~known).sum()),
        ambiguous=int((scored & (codes.alone[codes.gold] < 0)).sum()),
        undecided=int((has_span & (codes.alone[codes.system[pair.system_match]] < 0)).sum()),
        labels=labels,
        confusions=mistakes,
        counts=counts,
    )


def _by_tag(codes: CandidateCodes, pair: _Pair) -> tuple[dict[str, Score], tuple[Confusion, ...]]:
    """Scores and confusions of tags over the certain gold words with exactly one tag."""
    gold, system = codes.alone[codes.gold], codes.alone[codes.system]
    scored = pair.gold.certain & (gold >= 0)
    has_span = scored[pair.gold_match]
    matched_gold, matched_system = gold[pair.gold_match[has_span]], system[pair.system_match[has_span]]
    right = matched_gold[matched_gold == matched_system]
    scores = label_scores(codes.labels, gold[scored], system[pair.touching(scored)], right)
    return scores, confusions(codes.labels, matched_gold, matched_system)
