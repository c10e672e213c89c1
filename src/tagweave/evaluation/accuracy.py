"""Token accuracy, scores per label, confusions, and the average precision of ambiguous words.

Every metric follows one rule for when a system agrees with the gold evidence:

| gold | system | verdict |
| --- | --- | --- |
| unknown | anything | not scored |
| one label or several | one label, among them | right |
| one label or several | one label, not among them | wrong |
| one label or several | unknown or several labels | wrong (undecided) |

A wildcard (`B-*`: any label with this prefix; `!O`: any label but this) counts as several labels. An ambiguous gold
position is scored, but appears neither in the label table nor in the confusions, because it has no single label.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import CorpusError
from tagweave.evaluation.alignment import check_tokens
from tagweave.evaluation.score import Counts, Measure, Result, Score, Share, counts_by_sentence, share_of_counts
from tagweave.labels.space import is_wildcard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates, Layer

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateCodes:
    """The candidate sets of N gold positions and M system positions, as numbers of K distinct sets."""

    sets: tuple[Candidates, ...]
    known: Booleans  # bool[K], False for the unknown set
    labels: tuple[str, ...]  # the labels that are the only label of some set, in the order of their first occurrence
    alone: Integers  # int64[K], the number of the only label of the set, or -1
    gold: Integers  # int64[N]
    system: Integers  # int64[M]

    @classmethod
    def of(cls, gold: Iterable[Candidates], system: Iterable[Candidates]) -> CandidateCodes:
        codes: dict[Candidates, int] = {}
        numbers = [
            np.fromiter((codes.setdefault(item, len(codes)) for item in items), dtype=np.int64)
            for items in (gold, system)
        ]
        labels: dict[str, int] = {}
        single = (only_label(item) for item in codes)
        alone = [-1 if label is None else labels.setdefault(label, len(labels)) for label in single]
        known = np.array([item is not None for item in codes], dtype=np.bool_)
        return cls(tuple(codes), known, tuple(labels), np.array(alone, dtype=np.int64), *numbers)

    def agree(self, gold: Integers, system: Integers) -> Booleans:
        """Return whether each system set is one label that the corresponding gold set allows.

        The comparison runs once per distinct pair of sets; there are few.
        """
        size = max(len(self.sets), 1)
        pairs, inverse = np.unique(gold * size + system, return_inverse=True)
        verdicts = [_agrees(self.sets[pair // size], self.sets[pair % size]) for pair in pairs.tolist()]
        return np.asarray(verdicts, dtype=np.bool_)[inverse]


def _agrees(gold: Candidates, system: Candidates) -> bool:
    label = only_label(system)
    return gold is not None and label is not None and any(_allows(candidate, label) for candidate in gold)


def only_label(candidates: Candidates) -> str | None:
    """Return the label of a position that allows exactly one, otherwise `None`."""
    if candidates is None or len(candidates) > 1 or is_wildcard(candidates[0]):
        return None
    return candidates[0]


def _allows(candidate: str, label: str) -> bool:
    if not is_wildcard(candidate):
        return candidate == label
    return label != candidate[1:] if candidate.startswith("!") else label.startswith(candidate[:-1])


@dataclass(frozen=True, slots=True)
class Confusion(Result):
    """How often the system gave `system` where the only gold label is `gold`; `None` means undecided."""

    gold: str
    system: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Accuracy(Result):
    """How well a system labels given tokens."""

    tokens: Share  # right and scored tokens
    unscored: int  # tokens whose gold label is unknown
    ambiguous: int  # scored tokens with several gold candidates
    undecided: int  # scored tokens for which the system gave no label or several; all are wrong
    oov: Share | None  # scored tokens whose form is not among the training words; `None` if these are not given
    iv: Share | None  # scored tokens whose form is among the training words
    labels: dict[str, Score]  # for each label, its scores over the tokens with exactly one gold label
    confusions: tuple[Confusion, ...]  # wrong tokens with exactly one gold label, the most frequent first
    counts: Counts = field(repr=False, compare=False)  # int64[S, 2], right and scored tokens of each sentence
    json_names: ClassVar = {"tokens": "accuracy", "oov": "oov_accuracy", "iv": "iv_accuracy"}

    def measures(self) -> dict[str, Measure]:
        return {"accuracy": Measure(self.counts, share_of_counts)}


def accuracy(gold: Corpus, system: Corpus, training_words: frozenset[str] | None = None) -> Accuracy:
    """Score the system's guideline layer against the gold corpus's, over the same tokens."""
    check_tokens(gold.sentences, system.sentences, gold.path, system.path)
    codes = CandidateCodes.of(*(chain.from_iterable(guideline_layers(corpus)) for corpus in (gold, system)))
    scored, right = codes.known[codes.gold], codes.agree(codes.gold, codes.system)
    one_label = codes.alone[codes.gold] >= 0
    gold_labels, system_labels = codes.alone[codes.gold[one_label]], codes.alone[codes.system[one_label]]
    lengths = np.array([len(sentence) for sentence in gold], dtype=np.int64)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    oov, iv = shares_by_vocabulary(
        (form for gold_sentence in gold for form in gold_sentence.forms), right, scored, training_words
    )
    return Accuracy(
        tokens=Share(int(right.sum()), int(scored.sum())),
        unscored=int((~scored).sum()),
        ambiguous=int((scored & ~one_label).sum()),
        undecided=int((scored & (codes.alone[codes.system] < 0)).sum()),
        oov=oov,
        iv=iv,
        labels=label_scores(codes.labels, gold_labels, system_labels, gold_labels[gold_labels == system_labels]),
        confusions=confusions(codes.labels, gold_labels, system_labels),
        counts=counts_by_sentence(len(lengths), sentence[right], sentence[scored]),
    )


def label_scores(labels: tuple[str, ...], gold: Integers, system: Integers, right: Integers) -> dict[str, Score]:
    """Return the score of each label, sorted by name.

    `gold`, `system` and `right` hold the label number of every gold item, system item and right item; -1 is no label.
    """
    size = len(labels)
    columns = (np.bincount(items[items >= 0], minlength=size).tolist() for items in (right, gold, system))
    scores = {label: Score(*counts) for label, *counts in zip(labels, *columns, strict=True)}
    return {label: score for label, score in sorted(scores.items()) if score.gold or score.system}


def confusions(labels: tuple[str, ...], gold: Integers, system: Integers) -> tuple[Confusion, ...]:
    """Return pairs of different labels with their counts, the most frequent first, ties sorted by name.

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


def shares_by_vocabulary(
    forms: Iterable[str], right: Booleans, scored: Booleans, training_words: frozenset[str] | None
) -> tuple[Share | None, Share | None]:
    """Return the shares of right forms among scored unknown and known ones; `None` without training words."""
    if training_words is None:
        return None, None
    is_training_word = np.fromiter((form in training_words for form in forms), dtype=np.bool_, count=len(scored))
    oov, iv = (
        Share(int((right & which).sum()), int((scored & which).sum()))
        for which in (~is_training_word, is_training_word)
    )
    return oov, iv


def guideline_layers(corpus: Corpus) -> list[Layer]:
    """Return the guideline layer of every sentence; a sentence without it is unknown at every position."""
    name = corpus.guideline
    if corpus.sentences and not any(name in sentence.layers for sentence in corpus):
        names = sorted({layer for sentence in corpus for layer in sentence.layers})
        raise CorpusError(f"the layers {', '.join(names) or '(none)'}", f"a layer {name!r} to evaluate", corpus.path)
    return [sentence.layers.get(name, (None,) * len(sentence)) for sentence in corpus]
