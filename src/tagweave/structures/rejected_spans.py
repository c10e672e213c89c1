"""Chains without the spans that evidence rejects.

    loss  =  log Z(all) - log Z(allowed by the evidence, without rejected spans)

A rejected span is an event over several tokens. Over split labels (`labels.spans`) it is excluded by a set for
each token, however many spans of a sentence are rejected, so the ordinary recurrence computes the second sum, exactly
and without a difference of probabilities. `RejectedSpans` is a term beside the loss of the labels alone: log Z(allowed
by the evidence) less the second sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.sequences import Evidence, rows
from tagweave.labels.sets import LabelRows
from tagweave.labels.spans import SplitLabels
from tagweave.structures.chain import Chain, ChainGradient, ChainScores, best_labels
from tagweave.structures.lockstep import Batch
from tagweave.structures.loss import contradiction
from tagweave.structures.transitions import TransitionScores


class _Split(NamedTuple):
    """The sentences of a batch that have rejected spans, over W split labels."""

    sentences: NDArray[np.int64]  # [R], their numbers in the batch
    evidence: Evidence  # these sentences, of n tokens
    tokens: NDArray[np.int64]  # [n], their tokens in the batch
    projection: NDArray[np.int64]  # [W], the label that each split label stands for
    allowed: NDArray[np.bool_]  # [n, W], the split labels that the rejected spans leave to each token
    scores: ChainScores  # of split labels

    @classmethod
    def of(cls, names: Sequence[str], scores: ChainScores, evidence: Evidence) -> _Split | None:
        """Split the labels; `None` if no sentence has a rejected span."""
        if not len(evidence.rejected):
            return None
        sentences = np.unique(evidence.rejected[:, 0]).astype(np.int64)
        own = evidence.take(sentences)
        tokens, ptr = rows(evidence.sentence_ptr, sentences)
        labels = SplitLabels(names, own.rejected)
        emission = scores.emission[tokens[:, None], labels.projection]
        split = ChainScores(emission, _transitions(labels, scores.transitions))
        return cls(sentences, own, tokens, labels.projection, labels.allowed(ptr), split)


def _transitions(labels: SplitLabels, t: TransitionScores) -> TransitionScores:
    own, never = labels.projection, t.score.dtype.type(-np.inf)
    score = np.where(labels.follows, t.score[np.ix_(own, own)], never)
    return TransitionScores.of_scores(score, t.start_score[own], np.where(labels.ends, t.end_score[own], never))


@dataclass(frozen=True)
class RejectedSpans:
    """The term of rejected spans; it is 0 without any."""

    names: Sequence[str]  # the Y labels

    def add(
        self, structure: Chain, scores: ChainScores, batch: Batch, gradient: ChainGradient
    ) -> NDArray[np.float64] | float:
        """Add the gradient of the term; return what it adds to the loss of each sentence."""
        split, given = _Split.of(self.names, scores, batch.evidence), batch.evidence.rows
        if split is None or given is None:
            return 0.0
        evidence, (n, wide), dtype = split.evidence, split.allowed.shape, scores.emission.dtype
        share = given.masks[evidence.sets]
        if len(evidence.noise):
            share = np.maximum(share, evidence.noise[:, None])
        as_before = np.arange(wide) < len(self.names)
        table = np.concatenate([share[:, split.projection] * kept for kept in (as_before, split.allowed)])
        chain, own = Chain(transitions=structure.transitions), ChainGradient.zeros(split.scores)
        log_z = []
        for first, sign in ((0, 1), (n, -1)):
            limited = chain.batch(_under(evidence, table.astype(dtype), first))
            sums = chain.restricted_product(split.scores, limited)
            log_z.append(chain.add_expectations(sums, split.scores, limited, sign, own))
        if (impossible := log_z[1] == -np.inf).any():
            problem = "all label sequences that agree with the annotation have a rejected span"
            raise contradiction(evidence.ids[impossible.argmax()], problem)
        fold = np.eye(len(self.names), dtype=dtype)[split.projection]
        gradient.emission[split.tokens] += own.emission @ fold
        gradient.paths[...] -= fold.T @ own.transition @ fold
        losses = np.zeros(len(batch.evidence))
        losses[split.sentences] = evidence.weights * (log_z[0] - log_z[1])
        return losses


def _under(evidence: Evidence, table: NDArray[np.floating], first: int) -> Evidence:
    """Return the sentences with a row of the table for each token, from `first` on."""
    sets = np.arange(first, first + len(evidence.sets), dtype=np.int32)
    return replace(evidence, sets=sets, rows=LabelRows(table), noise=np.zeros(0), candidates=None)


def best_without_rejected(
    names: Sequence[str], scores: ChainScores, evidence: Evidence
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the tokens of sentences that have rejected spans, and their best labels without these, or -1.

    Scores of labels that evidence excludes are -inf.
    """
    split = _Split.of(names, scores, evidence)
    if split is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    split.scores.emission[~split.allowed] = -np.inf
    best = best_labels(split.scores, split.evidence.sentence_ptr)
    return split.tokens, np.where(best < 0, -1, split.projection[best]).astype(np.int32)
