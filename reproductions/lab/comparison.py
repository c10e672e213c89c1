"""Methods compared: their scores for every seed, whether two differ, and whether that bears out what a paper finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import Counts, Metric, f_of_counts, randomisation_test, share_of_counts
from tagweave.evaluation.words import Segmentation, word_scores

LEVEL = 0.05
"""Differences with a smaller p are significant."""
TRIALS = 10_000
"""Of a test of significance."""
_OF_F = 3  # right, gold and found items; shares have right and scored ones


@dataclass(frozen=True)
class Measured:
    """What a method got right, with several seeds: int64[seeds, S, K], a row for each sentence.

    K is 3 (right, gold and found items, whose score is F) or 2 (right and scored ones).
    """

    counts: Counts

    @property
    def metric(self) -> Metric:
        """The score from summed counts."""
        return f_of_counts if self.counts.shape[-1] == _OF_F else share_of_counts

    @property
    def values(self) -> list[float]:
        """The score of every seed, x 100."""
        return [100 * float(self.metric(seed.sum(axis=0))) for seed in self.counts]

    def to_json(self) -> dict[str, Any]:
        """Return the scores of the seeds and their mean; of F also the means of precision and recall."""
        numbers: dict[str, Any] = {"values": self.values, "mean": float(np.mean(self.values))}
        if self.counts.shape[-1] == _OF_F:
            right, gold, system = np.moveaxis(self.counts.sum(axis=1), -1, 0)
            numbers["precision"] = float(100 * np.mean(right / np.maximum(system, 1)))
            numbers["recall"] = float(100 * np.mean(right / np.maximum(gold, 1)))
        return numbers


def counts_of(gold: Corpus, answer: Any, measure: str = "") -> list[list[int]]:
    """Return the counts of every sentence of a gold standard, of a model's answer or a corpus.

    Args:
        gold: the gold standard.
        answer: a model, which annotates the text of the gold standard, or a corpus.
        measure: such as `tagged F`; by default the first one of what is annotated.
    """
    report: Any = tw.evaluate(gold, {"answer": answer})
    (scores,) = report.systems.values()
    measures = scores.measures()
    counts: list[list[int]] = measures[measure or next(iter(measures))].counts.tolist()
    return counts


def unknown_counts(gold: Corpus, answer: Corpus, known: frozenset[str]) -> list[list[int]]:
    """Return the right and the gold words of every sentence among those that are not known: their share is recall."""
    words = [Segmentation(each.forms, certain=tuple(form not in known for form in each.forms)) for each in gold]
    counts = word_scores(words, [Segmentation(each.forms) for each in answer]).counts  # what is uncertain is not scored
    unknown: list[list[int]] = counts[:, :2].tolist()
    return unknown


def compare(first: Measured, second: Measured, trials: int = TRIALS) -> dict[str, Any]:
    """Compare two methods with the same seeds: the mean difference of scores (x 100), p of every seed and over all.

    The test over all seeds adds up the counts of a sentence and exchanges them together, because sentences are the
    sample: the seeds are not independent observations of a sentence.
    """
    differences = [a - b for a, b in zip(first.values, second.values, strict=True)]
    p = [randomisation_test(a, b, first.metric, trials) for a, b in zip(first.counts, second.counts, strict=True)]
    p_all = randomisation_test(first.counts.sum(axis=0), second.counts.sum(axis=0), first.metric, trials)
    return {"difference": float(np.mean(differences)), "p": p, "p_all": p_all}


class Finding(NamedTuple):
    """What a paper says of two methods.

    Attributes:
        text: the statement.
        first, second: the methods; `first` is better where `sign` is +1, worse where it is -1.
        sign: -1 or +1; 0: there is hardly a difference.
        difference: of the scores on the test data, where the paper has it.
        measure: on which of our measures it is tested.
    """

    text: str
    first: str
    second: str
    sign: int
    difference: float | None = None
    measure: str = "test"


def judged(
    findings: Sequence[Finding], methods: Mapping[str, Mapping[str, Measured]], trials: int = TRIALS
) -> list[dict[str, Any]]:
    """Return the findings whose methods there are, each with the difference here and whether it is so."""
    judgements = []
    for finding in findings:
        if not {finding.first, finding.second} <= methods.keys():
            continue
        first, second = (methods[name][finding.measure] for name in (finding.first, finding.second))
        test = compare(first, second, trials)
        here = verdict(finding.sign, test["difference"], test["p_all"])
        told = {"text": finding.text, "measure": finding.measure, "paper": finding.difference}
        judgements.append({**told, **test, "here": here})
    return judgements


def verdict(sign: int, difference: float, p: float) -> str:
    """Return whether a difference bears out a statement about its sign."""
    if sign == 0:
        return "yes" if p >= LEVEL else "no"
    if p >= LEVEL:
        return "the same sign, not significant" if difference * sign > 0 else "no, no significant difference"
    return "yes" if difference * sign > 0 else "no, the reverse"
