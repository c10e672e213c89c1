"""Scores of spans (entities, phrases) directly from arrays of labels, by the spans that gold and system share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.span_evidence import SpanEvidence
from tagweave.labels.span_rules import Integers, SpanRules, all_span_labels, ends_are_marked, sentence_begins


class SpanCounter:
    """Counts the spans that two label sequences over the same tokens have in common (`span_rules` says which they are).

    Args:
        names: the L labels, `O` or `LETTER` or `LETTER-TYPE`, in any of the codings.
        sentence_ptr: int64[S + 1], the first token of every sentence.

    Raises:
        ValueError: a label of another form.
    """

    def __init__(self, names: Sequence[str], sentence_ptr: NDArray[np.int64]) -> None:
        marked = ends_are_marked(names)
        labels = all_span_labels(names, marked)
        self._rules = SpanRules(labels)
        self._begins = sentence_begins(sentence_ptr)
        anything = np.ones((2, len(labels)), np.bool_)
        allowed = np.concatenate([np.eye(len(labels), dtype=np.bool_), anything])
        unknown = np.arange(len(allowed)) == len(labels) + 1
        self._evidence = SpanEvidence(self._rules, allowed, unknown, closes=not marked)

    def f_score(self, gold: NDArray[np.int32], system: NDArray[np.int32]) -> float:
        """The F measure of the system's spans, 0 to 1.

        Args:
            gold: the label of each token; -1: unknown, -2: one of several, of which nothing is concluded. If there are
                such tokens, only spans that are certain are scored, and of the system's spans only those that are among
                them or are excluded (`span_evidence`).
            system: the label of each token; -1: none.
        """
        if gold.min(initial=0) < 0:
            verdict = self._evidence.verdict(gold, system, self._begins)
            right, count = len(verdict.gold_match), len(verdict.gold.starts) + int(verdict.scored.sum())
        else:
            ours, theirs = self._numbers(gold), self._numbers(system)
            right, count = len(np.intersect1d(ours, theirs, assume_unique=True)), len(ours) + len(theirs)
        return 2 * right / max(1, count)

    def _numbers(self, labels: NDArray[np.int32]) -> Integers:
        """A number for each span that identifies its start, stop and type."""
        starts, stops, types = self._rules.spans(labels, self._begins)
        return (starts * len(self._begins) + stops) * len(self._rules.types) + types
