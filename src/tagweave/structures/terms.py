"""Terms of the loss of chains: a penalty on the expected share of some labels, and rejected spans.

Share of labels. The penalty on the share of tokens that have certain labels is

    R  =  weight * N * max(0, |share - target| - margin)      share = E[tokens with such a label] / N

(Effland and Collins 2021, section 3). Annotation of spans alone says nothing of the tokens outside, and is most likely
under a model that finds spans everywhere. The share of tokens inside spans is easily known from a few documents.

With the scores of these labels raised by x at every token, log Z(x) has the derivative E[count] at x = 0, and so

    d E[count] / d scores  =  d / dx  E_x[counts]  =  Cov(count, counts)

The right side is a difference of two sums of the ordinary recurrence, under potentials that are multiplied by exp(x)
and by exp(-x) where a token has such a label: evidence, as any likelihood. (Li and Eisner 2009, section 3, compute the
same covariance by a semiring.)

Rejected spans. A rejected span is an event over several tokens:

    loss  =  log Z(all) - log Z(allowed by the evidence, without rejected spans)

Over split labels (`labels.spans`) it is excluded by a set for each token, however many spans of a sentence are
rejected, so the ordinary recurrence computes the second sum, exactly and without a difference of probabilities. The
term is log Z(allowed by the evidence) less the second sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.spans import OUTSIDE
from tagweave.evidence.sequences import Evidence, rows
from tagweave.labels.sets import LabelRows
from tagweave.labels.spans import SplitLabels
from tagweave.structures.chain import Chain, ChainGradient, ChainScores, best_labels
from tagweave.structures.lockstep import Batch, Sums, TransitionScores
from tagweave.structures.loss import contradiction

WINDOW = 8192
"""Tokens over which the share runs in batches."""


@dataclass(frozen=True)
class LabelShare:
    """The penalty on the share of labels among the tokens of one batch, a term of the loss."""

    labels: NDArray[np.bool_]  # [Y], the labels that count
    target: float  # the share that is expected, 0..1
    margin: float  # how far the share may be from it
    weight: float  # of the penalty, for each token

    @classmethod
    def inside(cls, names: Sequence[str], target: float, margin: float = 0.02, weight: float = 0.1) -> LabelShare:
        """Return the penalty on the share of tokens inside spans, whose labels are all but `O`."""
        return cls(np.array([name != OUTSIDE for name in names]), target, margin, weight)

    def loss(self, share: float) -> float:
        return self.weight * max(0.0, abs(share - self.target) - self.margin)

    def slope(self, share: float) -> float:
        return math.copysign(self.weight, share - self.target) if self.loss(share) else 0.0

    def add(self, structure: Chain, scores: ChainScores, batch: Batch, gradient: ChainGradient) -> NDArray[np.float64]:
        """Add the gradient of the penalty; return the penalty for the tokens of each sentence."""
        tokens = batch.evidence.weights * batch.evidence.lengths
        share = expected_count(structure, scores, batch, self.labels) / max(1.0, float(tokens.sum()))
        CountAtSlope(self.labels, self.slope(share)).add(structure, scores, batch, gradient)
        return self.loss(share) * tokens


@dataclass
class CountAtSlope:
    """The expected count of labels, at a slope determined by more sentences than the batch has."""

    labels: NDArray[np.bool_]  # [Y]
    slope: float  # the derivative of the penalty with respect to the count
    count: float = 0.0  # the expected count of the last batch

    def add(self, structure: Chain, scores: ChainScores, batch: Batch, gradient: ChainGradient) -> float:
        """Add slope * the gradient of the expected count; the caller, who knows all sentences, adds the penalty."""
        if self.slope:
            self.count = add_count_gradient(structure, scores, batch, self.labels, self.slope, gradient)
        else:
            self.count = expected_count(structure, scores, batch, self.labels)
        return 0.0


@dataclass
class RunningShare:
    """The share of the last tokens of an epoch, about `WINDOW` of them, for learners that take batches.

    That is usual for functions of an expectation (Wang et al. 2017, stochastic compositional gradient descent).
    """

    of: LabelShare  # the penalty
    count: float = 0.0  # expected; tokens long ago count less in both
    tokens: float = 0.0

    @property
    def share(self) -> float:
        return self.count / self.tokens

    def add(self, count: float, tokens: float) -> None:
        """Add the tokens of a batch and how many of them are expected to have the labels."""
        kept = math.exp(-tokens / WINDOW)
        self.count, self.tokens = kept * self.count + count, kept * self.tokens + tokens


def expected_count(structure: Chain, scores: ChainScores, batch: Batch, labels: NDArray[np.bool_]) -> float:
    """Return the expected number of tokens that have one of the labels, bool[Y], by the weights of sentences."""
    return _count(structure.sums(scores, batch), batch, labels)


def _count(sums: Sums, batch: Batch, labels: NDArray[np.bool_]) -> float:
    counts = sums.marginals()[batch.rows][:, labels].sum(axis=1, dtype=np.float64)
    return float(counts @ np.repeat(batch.evidence.weights, batch.evidence.lengths))


def add_count_gradient(
    structure: Chain, scores: ChainScores, batch: Batch, labels: NDArray[Any], factor: float, gradient: ChainGradient
) -> float:
    """Add factor * (the gradient of the expected count) to a gradient; return the expected count.

    The error of the difference is of the second order: about 1e-10 of a count in float64, 1e-5 in float32.
    """
    step = float(np.finfo(scores.emission.dtype).eps) ** (1 / 3)
    count = 0.0
    for sign in (+1, -1):
        likelihood = np.exp(sign * step * labels - max(0, sign * step)).astype(scores.emission.dtype)
        sums = structure.weighted_sums(scores, batch, likelihood)
        count += _count(sums, batch, labels) / 2
        structure.add_expectations(sums, scores, batch, sign * factor / (2 * step), gradient)
    return count


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
        of_sentences = evidence.take(sentences)
        tokens, ptr = rows(evidence.sentence_ptr, sentences)
        labels = SplitLabels(names, of_sentences.rejected)
        emission = scores.emission[tokens[:, None], labels.projection]
        split = ChainScores(emission, _transitions(labels, scores.transitions))
        return cls(sentences, of_sentences, tokens, labels.projection, labels.allowed(ptr), split)


def _transitions(labels: SplitLabels, t: TransitionScores) -> TransitionScores:
    projection = labels.projection
    never = t.score.dtype.type(-np.inf)
    score = np.where(labels.follows, t.score[np.ix_(projection, projection)], never)
    return TransitionScores.of_scores(
        score, t.start_score[projection], np.where(labels.ends, t.end_score[projection], never)
    )


@dataclass(frozen=True)
class RejectedSpans:
    """The term of rejected spans; it is 0 without any."""

    names: Sequence[str]  # the Y labels

    def add(
        self, structure: Chain, scores: ChainScores, batch: Batch, gradient: ChainGradient
    ) -> NDArray[np.float64] | float:
        """Add the gradient of the term; return the term for each sentence."""
        split = _Split.of(self.names, scores, batch.evidence)
        label_rows = batch.evidence.rows
        if split is None or label_rows is None:
            return 0.0
        evidence = split.evidence
        n, wide = split.allowed.shape
        dtype = scores.emission.dtype
        share = label_rows.masks[evidence.sets]
        if len(evidence.noise):
            share = np.maximum(share, evidence.noise[:, None])
        as_before = np.arange(wide) < len(self.names)
        table = np.concatenate([share[:, split.projection] * kept for kept in (as_before, split.allowed)])
        chain = Chain(transitions=structure.transitions)
        split_gradient = ChainGradient.zeros(split.scores)
        log_z = []
        for first, sign in ((0, 1), (n, -1)):
            limited = chain.batch(_under(evidence, table.astype(dtype), first))
            sums = chain.restricted_product(split.scores, limited)
            log_z.append(chain.add_expectations(sums, split.scores, limited, sign, split_gradient))
        if (impossible := log_z[1] == -np.inf).any():
            problem = "all label sequences that agree with the annotation have a rejected span"
            raise contradiction(evidence.ids[impossible.argmax()], problem)
        fold = np.eye(len(self.names), dtype=dtype)[split.projection]
        gradient.emission[split.tokens] += split_gradient.emission @ fold
        gradient.paths[...] -= fold.T @ split_gradient.transition @ fold
        losses = np.zeros(len(batch.evidence))
        losses[split.sentences] = evidence.weights * (log_z[0] - log_z[1])
        return losses


def _under(evidence: Evidence, table: NDArray[np.floating], first: int) -> Evidence:
    """Return the sentences with a row of the table for each token, from `first` on."""
    sets = np.arange(first, first + len(evidence.sets), dtype=np.int32)
    return replace(evidence, sets=sets, rows=LabelRows(table), noise=np.zeros(0))


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
