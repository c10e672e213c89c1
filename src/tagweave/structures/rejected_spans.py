"""Chains without the spans that evidence rejects.

    loss  =  log Z(all) - log Z(allowed by the evidence, without rejected spans)

A rejected span is an event over several tokens. Over split labels (`labels.split_labels`) it is excluded by a set for
each token, however many spans of a sentence are rejected, so the ordinary recurrence computes the second sum, exactly
and without a difference of probabilities. `add_rejection_loss` is a term beside the loss of the labels alone: log
Z(allowed by the evidence) less the second sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.ragged import rows
from tagweave.labels.split_labels import SplitLabels
from tagweave.structures.chain import Chain, ChainGradient, ChainScores, best_labels
from tagweave.structures.lockstep import Batch, Workspace
from tagweave.structures.loss import ContradictionError
from tagweave.structures.transitions import Transitions

Floats = NDArray[Any]


class _Split(NamedTuple):
    """The sentences of a batch that have rejected spans, over W split labels.

    Attributes:
        encoded: these sentences, of n tokens.
        tokens: int64[n], their tokens in the batch.
        projection: int64[W], the label that each split label stands for.
        allowed: bool[n, W], the split labels that the rejected spans leave to each token.
        scores: of split labels.
    """

    encoded: Encoded
    tokens: NDArray[np.int64]
    projection: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    scores: ChainScores

    @classmethod
    def of(cls, names: Sequence[str], scores: ChainScores, encoded: Encoded, first: int, last: int) -> _Split | None:
        """Split the labels of sentences first .. last - 1; `None` if none of them has a rejected span."""
        sentences = np.unique(encoded.rejected_in(first, last)[:, 0]).astype(np.int64)
        if not len(sentences):
            return None
        own = encoded.take(sentences + first)
        tokens, ptr = rows(encoded.sentence_ptr[first : last + 1] - encoded.sentence_ptr[first], sentences)
        labels = SplitLabels(names, own.rejected)
        emission = scores.emission[tokens[:, None], labels.projection]
        split = ChainScores(emission, _transitions(labels, scores.transitions))
        return cls(own, tokens, labels.projection, labels.allowed(ptr), split)


def _transitions(labels: SplitLabels, t: Transitions) -> Transitions:
    """Return the scores of transitions between split labels."""
    own, never = labels.projection, t.score.dtype.type(-np.inf)
    score = np.where(labels.follows, t.score[np.ix_(own, own)], never)
    return Transitions.of_scores(score, t.start_score[own], np.where(labels.ends, t.end_score[own], never))


def add_rejection_loss(
    names: Sequence[str],
    masks: Floats,
    scores: ChainScores,
    batch: Batch,
    gradient: ChainGradient,
    transitions: bool = True,
) -> float:
    """Add what rejected spans add to the loss of a batch, and its gradient; both are 0 without rejected spans.

    Args:
        names: the Y labels.
        masks: float[sets, Y], as of `Chain`.
        scores: of the batch.
        batch: its encoded corpus has the rejected spans.
        gradient: is added to.
        transitions: whether to compute expected transitions.

    Raises:
        ContradictionError: the evidence of a sentence allows only sequences that have rejected spans.
    """
    split = _Split.of(names, scores, batch.encoded, batch.first, batch.last)
    if split is None:
        return 0.0
    encoded, (n, wide), dtype = split.encoded, split.allowed.shape, scores.emission.dtype
    share = masks[encoded.allow]
    if len(encoded.noise):
        share = np.maximum(share, encoded.noise[:, None])
    as_before = np.arange(wide) < len(names)
    evidence = np.concatenate([share[:, split.projection] * kept for kept in (as_before, split.allowed)])
    chain = Chain(evidence.astype(dtype), Workspace(n, wide, dtype.type), transitions=transitions)
    own = ChainGradient(*(np.zeros(shape, dtype) for shape in ((n, wide), (wide, wide), (wide, wide))))
    loss = 0.0
    for first, sign in ((0, 1), (n, -1)):
        under = replace(encoded, allow=np.arange(first, first + n, dtype=np.int32), noise=np.zeros(0))
        limited = Batch.of(under, 0, len(under))
        sums = chain.restricted_product(split.scores, limited)
        loss += sign * chain.add_expectations(sums, split.scores, limited, sign, own)
    if loss == np.inf:
        raise ContradictionError("all label sequences that agree with the annotation have a rejected span")
    fold = np.eye(len(names), dtype=dtype)[split.projection]
    gradient.emission[split.tokens] += own.emission @ fold
    gradient.paths[...] -= fold.T @ (own.pairs * split.scores.transitions.potential - own.paths) @ fold
    return loss


def best_without_rejected(
    names: Sequence[str], scores: ChainScores, encoded: Encoded, first: int, last: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the tokens of sentences first .. last - 1 that have rejected spans, and their best labels without these.

    Scores of labels that evidence excludes are -inf; where no sequence is left, labels are -1.
    """
    split = _Split.of(names, scores, encoded, first, last)
    if split is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    split.scores.emission[~split.allowed] = -np.inf
    best = best_labels(split.scores, split.encoded.sentence_ptr)
    return split.tokens, np.where(best < 0, -1, split.projection[best]).astype(np.int32)
