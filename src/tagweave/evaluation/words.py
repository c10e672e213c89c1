"""Precision, recall and F of words and of words with their tags, and recall of known and unknown words.

If the gold standard is partial:

- A gold word is scored if it is certain. The other characters of the gold standard are unscored.
- A system word is scored if it shares a character with a scored gold word. Then it is either that word or contradicts
  it. Words of the system inside unscored stretches are neither right nor wrong.
- A stretch that the system left undecided counts as one word of the system, and is wrong.
- For words with tags, only gold words with known tags are scored, and a word is right if its tag agrees, too (see
  `candidates`).

With a full gold standard these are the usual scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagweave.evaluation.accuracy import Confusion, confusions, label_scores
from tagweave.evaluation.alignment import check_text
from tagweave.evaluation.candidates import Booleans, CandidateCodes, Integers, encode
from tagweave.evaluation.score import Counts, Measure, Score, Share, f_of_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.sentence import Candidates
    from tagweave.evaluation.segmentation import Segmentation


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
