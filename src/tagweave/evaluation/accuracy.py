"""Token accuracy, scores per label, confusions, and the average precision of ambiguous words.

`candidates` defines what counts as right. An ambiguous gold position is scored, but appears neither in the label table
nor in the confusions, because it has no single label.

Candidate sets as integers, and the rule for when a system's labels agree with the gold evidence.

Every metric follows this rule:

| gold | system | verdict |
| --- | --- | --- |
| unknown | anything | not scored |
| one label or several | one label, among them | right |
| one label or several | one label, not among them | wrong |
| one label or several | unknown or several labels | wrong (undecided) |

A wildcard (`B-*`: any label with this prefix; `!O`: any label but this) counts as several labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import CorpusError
from tagweave.evaluation.alignment import check_tokens
from tagweave.evaluation.score import Counts, Measure, Score, Share, share_of_counts
from tagweave.labels.space import is_wildcard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates, Layer

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateCodes:
    """The candidate sets of N gold positions and M system positions, each distinct set kept once.

    Attributes:
        sets: the K distinct sets.
        known: K marks, False for the unknown set.
        labels: the L labels that are the only label of some set, in the order of their first occurrence.
        alone: K label numbers: the only label of the set, or -1.
        gold: N set numbers.
        system: M set numbers.
    """

    sets: tuple[Candidates, ...]
    known: Booleans
    labels: tuple[str, ...]
    alone: Integers
    gold: Integers
    system: Integers

    def agree(self, gold: Integers, system: Integers) -> Booleans:
        """Whether each system set is one label that the corresponding gold set allows; both are arrays of set numbers.

        The comparison runs once per distinct pair of sets, of which there are few.
        """
        size = max(len(self.sets), 1)
        pairs, inverse = np.unique(gold * size + system, return_inverse=True)
        verdicts = [agrees(self.sets[pair // size], self.sets[pair % size]) for pair in pairs.tolist()]
        return np.asarray(verdicts, dtype=np.bool_)[inverse]


def agrees(gold: Candidates, system: Candidates) -> bool:
    """Whether the system chose one label, and the gold evidence is known and allows it."""
    label = only_label(system)
    return gold is not None and label is not None and any(_allows(candidate, label) for candidate in gold)


def only_label(candidates: Candidates) -> str | None:
    """The label of a position that allows exactly one, otherwise `None`."""
    if candidates is None or len(candidates) > 1 or is_wildcard(candidates[0]):
        return None
    return candidates[0]


def _allows(candidate: str, label: str) -> bool:
    if not is_wildcard(candidate):
        return candidate == label
    return label != candidate[1:] if candidate.startswith("!") else label.startswith(candidate[:-1])


def encode(gold: Iterable[Candidates], system: Iterable[Candidates]) -> CandidateCodes:
    """Number the candidate sets of gold and system positions, in one pass over each."""
    codes: dict[Candidates, int] = {}
    gold_codes = np.fromiter((codes.setdefault(item, len(codes)) for item in gold), dtype=np.int64)
    system_codes = np.fromiter((codes.setdefault(item, len(codes)) for item in system), dtype=np.int64)
    labels: dict[str, int] = {}
    single = (only_label(item) for item in codes)
    alone = [-1 if label is None else labels.setdefault(label, len(labels)) for label in single]
    return CandidateCodes(
        tuple(codes),
        np.array([item is not None for item in codes], dtype=np.bool_),
        tuple(labels),
        np.array(alone, dtype=np.int64),
        gold_codes,
        system_codes,
    )


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often the system gave `system` where the only gold label is `gold`; `None` means undecided."""

    gold: str
    system: str | None
    count: int

    def to_json(self) -> dict[str, Any]:
        """The attributes as a plain dict."""
        return {"gold": self.gold, "system": self.system, "count": self.count}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well a system labels given tokens.

    Attributes:
        tokens: right and scored tokens.
        unscored: tokens whose gold label is unknown.
        ambiguous: scored tokens with several gold candidates.
        undecided: scored tokens for which the system gave no label or several; all are wrong.
        labels: for each label, its scores over the tokens with exactly one gold label.
        confusions: wrong tokens with exactly one gold label, the most frequent first.
        oov: scored tokens whose form is not among the training words; `None` if these are not given.
        iv: scored tokens whose form is among the training words.
        counts: int64[S, 2], right and scored tokens of each sentence.
    """

    tokens: Share
    unscored: int
    ambiguous: int
    undecided: int
    labels: dict[str, Score]
    confusions: tuple[Confusion, ...]
    oov: Share | None
    iv: Share | None
    counts: Counts = field(repr=False, compare=False)

    def measures(self) -> dict[str, Measure]:
        """The measures by which systems are compared."""
        return {"accuracy": Measure(self.counts, share_of_counts)}

    def to_json(self) -> dict[str, Any]:
        """Everything except the counts per sentence, as a plain dict."""
        return {
            "accuracy": self.tokens.to_json(),
            "unscored": self.unscored,
            "ambiguous": self.ambiguous,
            "undecided": self.undecided,
            "oov_accuracy": self.oov.to_json() if self.oov else None,
            "iv_accuracy": self.iv.to_json() if self.iv else None,
            "labels": {label: score.to_json() for label, score in self.labels.items()},
            "confusions": [confusion.to_json() for confusion in self.confusions],
        }


def accuracy(gold: Corpus, system: Corpus, training_words: frozenset[str] | None = None) -> Accuracy:
    """The accuracy of the system's guideline layer against that of the gold corpus, over the same tokens.

    Raises:
        CorpusError: different tokens or numbers of sentences, or a corpus without its layer.
    """
    codes = _encode(gold, system)
    scored, right = _verdicts(codes)
    one_label = codes.alone[codes.gold] >= 0
    gold_labels, system_labels = codes.alone[codes.gold[one_label]], codes.alone[codes.system[one_label]]
    oov, iv = _by_vocabulary(gold, scored, right, training_words)
    return Accuracy(
        tokens=Share(int(right.sum()), int(scored.sum())),
        unscored=int((~scored).sum()),
        ambiguous=int((scored & ~one_label).sum()),
        undecided=int((scored & (codes.alone[codes.system] < 0)).sum()),
        labels=label_scores(codes.labels, gold_labels, system_labels, gold_labels[gold_labels == system_labels]),
        confusions=confusions(codes.labels, gold_labels, system_labels),
        oov=oov,
        iv=iv,
        counts=_per_sentence(gold, right, scored),
    )


def label_scores(labels: tuple[str, ...], gold: Integers, system: Integers, right: Integers) -> dict[str, Score]:
    """The score of each label, sorted by name.

    `gold`, `system` and `right` hold the label number of every gold item, system item and right item; -1 is no label.
    """
    size = len(labels)
    columns = (np.bincount(items[items >= 0], minlength=size).tolist() for items in (right, gold, system))
    scores = {label: Score(*counts) for label, *counts in zip(labels, *columns, strict=True)}
    return {label: score for label, score in sorted(scores.items()) if score.gold or score.system}


def confusions(labels: tuple[str, ...], gold: Integers, system: Integers) -> tuple[Confusion, ...]:
    """Pairs of different labels with their counts, the most frequent first, ties sorted by name.

    `gold` and `system` hold label numbers of the same N positions; -1 in `system` is undecided.
    """
    wrong = gold != system
    size = len(labels) + 1
    pairs, counts = np.unique(gold[wrong] * size + system[wrong] + 1, return_counts=True)
    items = [
        Confusion(labels[pair // size], labels[pair % size - 1] if pair % size else None, count)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
    ]
    return tuple(sorted(items, key=lambda item: (-item.count, item.gold, item.system or "")))


def average_precision_of_ambiguous_words(gold: Corpus, system: Corpus, words: Iterable[str]) -> float:
    """APA (tsuboi-2008, section 5.2): the mean over `words` of the share of their correctly tagged occurrences, x 100.

    Words without scored occurrences are left out of the mean; `nan` if that leaves none.

    Raises:
        CorpusError: as for `accuracy`.
    """
    scored, right = _verdicts(_encode(gold, system))
    numbers = {word: number for number, word in enumerate(sorted(set(words)))}
    forms = chain.from_iterable(sentence.forms for sentence in gold)
    word = np.fromiter((numbers.get(form, -1) for form in forms), dtype=np.int64)
    counted = scored & (word >= 0)
    occurrences = np.bincount(word[counted], minlength=len(numbers))
    rights = np.bincount(word[counted & right], minlength=len(numbers))
    occurring = occurrences > 0
    return float(np.mean(rights[occurring] / occurrences[occurring]) * 100) if occurring.any() else float("nan")


def _encode(gold: Corpus, system: Corpus) -> CandidateCodes:
    check_tokens(gold.sentences, system.sentences, gold.path, system.path)
    return encode(chain.from_iterable(guideline_layers(gold)), chain.from_iterable(guideline_layers(system)))


def guideline_layers(corpus: Corpus) -> list[Layer]:
    """The guideline layer of every sentence; a sentence without it is unknown at every position."""
    name = corpus.guideline
    if corpus.sentences and not any(name in sentence.layers for sentence in corpus):
        names = sorted({layer for sentence in corpus for layer in sentence.layers})
        raise CorpusError(f"the layers {', '.join(names) or '(none)'}", f"a layer {name!r} to evaluate", corpus.path)
    return [sentence.layers.get(name, (None,) * len(sentence)) for sentence in corpus]


def _verdicts(codes: CandidateCodes) -> tuple[Booleans, Booleans]:
    return codes.known[codes.gold], codes.agree(codes.gold, codes.system)


def _by_vocabulary(
    gold: Corpus, scored: Booleans, right: Booleans, training_words: frozenset[str] | None
) -> tuple[Share | None, Share | None]:
    if training_words is None:
        return None, None
    forms = chain.from_iterable(sentence.forms for sentence in gold)
    known = np.fromiter((form in training_words for form in forms), dtype=np.bool_)
    oov, iv = (Share(int((right & part).sum()), int((scored & part).sum())) for part in (~known, known))
    return oov, iv


def _per_sentence(gold: Corpus, *marks: Booleans) -> Counts:
    """int64[S, len(marks)]: how many tokens of each sentence are marked."""
    lengths = np.array([len(sentence) for sentence in gold], dtype=np.int64)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    columns = [np.bincount(sentence[mark], minlength=len(lengths)) for mark in marks]
    return np.stack(columns, axis=1).astype(np.int64)
