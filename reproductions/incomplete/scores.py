"""Scores of the cells, and whether methods differ: per seed, and over all seeds together.

Per method a score keeps counts per test sentence, so that the paired randomisation test can exchange sentences. The
test over all seeds adds up the counts of a sentence over the seeds and exchanges them together: sentences are the
sample, and the seeds of one sentence are no independent observations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.incomplete.cells import Data
from reproductions.incomplete.settings import MARGINAL, WARM, Setting, ambiguous_forms
from reproductions.lab.comparison import randomisation_tests
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.accuracy import accuracy
from tagweave.evaluation.score import Metric, ratio, share_of_counts

REFERENCES = (MARGINAL.name, WARM.name)
"""The methods that every other one is tested against."""


@dataclass(frozen=True)
class Scored:
    """One measure of one cell.

    Attributes:
        value: the score, 0 to 100.
        counts: int64[S, K], what `metric` takes; `None` for a score that is not tested.
        metric: from counts summed over sentences to the score (up to a factor).
    """

    value: float
    counts: NDArray[np.int64] | None = None
    metric: Metric | None = None


Scores = dict[str, Scored]
"""The measures of one cell by name."""


def scorer(data: Data, setting: Setting, seed: int) -> Callable[[Sequence[str]], Scores]:
    """From the output of a cell on the test set to its scores."""
    if setting.ambiguous:
        forms = ambiguous_forms(data.train)
        return lambda output: ambiguous_scores(data.test, output, forms)
    kinds = kinds_of_words(setting.step(data.train, seed))
    return lambda output: tagging_scores(data.test, output, kinds)


Kinds = tuple[tuple[str, frozenset[str]], ...]
"""Sets of word forms with what to call them; a form belongs to the first that has it, else it is new."""

NEW = "new words"


def kinds_of_words(train: Corpus) -> Kinds:
    """The forms with a known label somewhere in a training corpus, and those that occur without one only."""
    pairs = [pair for s in train for pair in zip(s.forms, s.layers[train.guideline], strict=True)]
    labelled = frozenset(form for form, label in pairs if label)
    others = frozenset(form for form, label in pairs) - labelled
    return (("labelled words", labelled), *((("unlabelled words", others),) if others else ()))


def _labelled(gold: Corpus, output: Sequence[str]) -> Corpus:
    return gold.with_sentences(
        sentence.with_layer(gold.guideline, ((tag,) for tag in tags.split()))
        for sentence, tags in zip(gold, output, strict=True)
    )


def tagging_scores(gold: Corpus, output: Sequence[str], kinds: Kinds) -> Scores:
    """P (tsuboi-2008: accuracy), and the accuracy on each kind of words."""
    found = accuracy(gold, _labelled(gold, output))
    right: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for sentence, tags in zip(gold, output, strict=True):
        for form, label, tag in zip(sentence.forms, sentence.layers[gold.guideline], tags.split(), strict=True):
            kind = next((name for name, forms in kinds if form in forms), NEW)
            whole[kind] += 1
            right[kind] += label == (tag,)
    shares = {name: Scored(100 * ratio(right[name], whole[name])) for name in (*dict(kinds), NEW)}
    return {"P": Scored(100 * found.tokens.value, found.counts, share_of_counts), **shares}


def ambiguous_scores(gold: Corpus, output: Sequence[str], ambiguous: frozenset[str]) -> Scores:
    """P and APA (tsuboi-2008, section 5.2)."""
    system = _labelled(gold, output)
    found = accuracy(gold, system)
    counts, metric = right_words(gold, system, ambiguous)
    return {
        "P": Scored(100 * found.tokens.value, found.counts, share_of_counts),
        "APA": Scored(100 * float(metric(counts.sum(axis=0))), counts, metric),
    }


def choice_precision(damaged: Corpus, gold: Corpus) -> dict[str, float]:
    """How often each way of choosing a candidate takes the gold label, x 100, over the positions with several."""
    pairs = [
        (left, label[0])
        for ours, theirs in zip(damaged, gold, strict=True)
        for left, label in zip(ours.layers[gold.guideline], theirs.layers[gold.guideline], strict=True)
        if left and label
    ]
    alone = Counter(label for left, label in pairs if len(left) == 1)
    open_pairs = [(left, label) for left, label in pairs if len(left) > 1]
    picks: dict[str, Callable[[tuple[str, ...]], str]] = {
        "first": lambda left: left[0],
        "first, by name": min,
        "frequent": lambda left: max(left, key=lambda name: alone[name]),
    }
    random = sum(1 / len(left) for left, _ in open_pairs)
    rights = {name: sum(pick(left) == label for left, label in open_pairs) for name, pick in picks.items()}
    return {name: 100 * ratio(right, len(open_pairs)) for name, right in {"random": random, **rights}.items()}


def right_words(gold: Corpus, system: Corpus, words: frozenset[str]) -> tuple[NDArray[np.int64], Metric]:
    """int64[S, W], how often each of the W words that occur is right in a sentence, and the metric: APA / 100."""
    number = {word: i for i, word in enumerate(sorted(words & set(chain.from_iterable(s.forms for s in gold))))}
    right, occurrences = np.zeros((len(gold), len(number)), np.int64), np.zeros(len(number))
    for i, (ours, theirs) in enumerate(zip(gold, system, strict=True)):
        layers = ours.layers[gold.guideline], theirs.layers[gold.guideline]
        for form, label, tag in zip(ours.forms, *layers, strict=True):
            if form in number:
                right[i, number[form]] += label == tag
                occurrences[number[form]] += 1
    return right, lambda counts: np.asarray(counts / occurrences).mean(axis=-1)


def compare(ours: Sequence[Scored], theirs: Sequence[Scored], trials: int) -> dict[str, Any]:
    """Two methods, the same seeds: mean difference (first less second), p of every seed and p over all seeds."""
    pairs = [(a.counts, b.counts) for a, b in zip(ours, theirs, strict=True)]
    metric = ours[0].metric
    if metric is None or any(a is None or b is None for a, b in pairs):
        raise ValueError("found a score without counts, expected one that can be tested")
    first, second = (np.stack([pair[side] for pair in pairs]) for side in (0, 1))  # type: ignore[misc]
    p, p_all = randomisation_tests(first, second, metric, trials)
    difference = float(np.mean([a.value - b.value for a, b in zip(ours, theirs, strict=True)]))
    return {"difference": difference, "p": p, "p_all": p_all}
