"""The loss and gradient of batches of sentences, summed: one recurrence, run under two evidences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import chain
from tagweave.models.emission import Tables, ViewEmission, write_emission
from tagweave.models.lockstep import (
    Batch,
    Sums,
    Workspace,
    allowed_scores,
    free_potentials,
    restricted_potentials,
    sum_product,
)
from tagweave.models.structure import ChainStructure, Transitions

Floats = NDArray[Any]


class ContradictionError(ValueError):
    """Evidence that no label sequence satisfies, because the coding's transitions forbid them all."""


class LossSum:
    """Adds up the loss of batches, the gradient of emission weights, and that of joint transition scores.

    Args:
        structure: what the weights mean.
        encoded: the sentences.
        masks: float[sets, Y], the label sets that `encoded.allow` numbers.
        only: int32[sets], the label of each set of one label, -1 for the others.
        views: the emission of every view under the weights.
        gradients: the emission of every view, whose weights are the gradient that is added to.
        transitions: the transition scores under the weights.
    """

    def __init__(
        self,
        structure: ChainStructure,
        encoded: Encoded,
        masks: Floats,
        only: NDArray[np.int32],
        views: Sequence[ViewEmission],
        gradients: Sequence[ViewEmission],
        transitions: Transitions,
    ) -> None:
        self._structure, self._encoded, self._masks, self._only = structure, encoded, masks, only
        self._views, self._gradients, self._transitions = views, gradients, transitions
        self._dtype = masks.dtype
        Y = len(structure.space)
        # expected counts over T, counts of known paths, and of first and last labels
        self._pairs, self._paths = np.zeros((Y, Y), self._dtype), np.zeros((Y, Y), self._dtype)
        self._start, self._end = np.zeros(Y, self._dtype), np.zeros(Y, self._dtype)

    def add(self, batch: Batch, space: Workspace, tables: Tables, table_gradients: Tables) -> float:
        """The loss of one batch.

        Args:
            batch: its sentences, laid out.
            space: buffers.
            tables: per view the scores of all kinds, or `None` to compute those that are needed.
            table_gradients: per view the gradient of these.
        """
        scores = space.matrix("scores", len(batch.rows))
        write_emission(self._views, self._encoded, batch.first, batch.last, scores, tables)
        free_E, shift, dense = free_potentials(scores, batch, self._encoded, space)
        free = sum_product(
            free_E, shift, batch, self._transitions, space, "alpha", lambda tokens: scores[tokens], dense
        )
        weights = self._encoded.weights[batch.first : batch.last][batch.order]
        self._add_pairs(free, batch, weights, +1)
        loss = float(weights @ free.log_z)
        labels = self._known_labels(batch)
        if labels is not None:
            difference, restricted = self._follow(batch, space, scores, free, labels)
        else:
            E, shift, dense = restricted_potentials(free_E, shift, scores, batch, self._encoded, self._masks, space)
            exact = partial(allowed_scores, scores, batch, self._encoded, self._masks)
            sums = sum_product(E, shift, batch, self._transitions, space, "alpha_restricted", exact, dense)
            self._add_pairs(sums, batch, weights, -1)
            difference = space.matrix("difference", len(batch.rows))
            chain.subtract(free.gamma, sums.gamma, batch.rows, difference)
            restricted = float(weights @ sums.log_z) if np.isfinite(sums.log_z).all() else -np.inf
        if not np.isfinite(loss):  # weights beyond all bounds: not the evidence's fault, and the trainer will say so
            return float("nan")
        if not np.isfinite(restricted):  # not only -inf: a contradiction of weight 0 gives nan
            raise ContradictionError("no label sequence agrees with both the annotation and the coding of the labels")
        self._add_edges(difference, batch)
        for gradient, table in zip(self._gradients, table_gradients, strict=True):
            gradient.add_gradient(self._encoded, batch.first, batch.last, table, difference)
        return loss - restricted

    def merge(self, other: LossSum) -> None:
        """Add what another sum has of the transitions, which all batches share."""
        for mine, others in zip(self._shared(), other._shared(), strict=True):
            np.add(mine, others, out=mine)

    def _shared(self) -> tuple[Floats, ...]:
        return self._pairs, self._paths, self._start, self._end

    def finish(self, gradient: Floats) -> None:
        """Add the gradient of transition weights, which all batches share."""
        pairs = self._pairs * self._transitions.potential - self._paths
        self._structure.add_transition_gradient(gradient, pairs, self._start, self._end)

    def _known_labels(self, batch: Batch) -> NDArray[np.int32] | None:
        """int32[n]: the label of every token of the batch, if the evidence leaves one each."""
        if len(self._encoded.doubt):
            return None
        labels: NDArray[np.int32] = self._only[self._encoded.allow[batch.tokens]]
        return labels if len(labels) and labels.min() >= 0 else None

    def _follow(
        self, batch: Batch, space: Workspace, scores: Floats, free: Sums, labels: NDArray[np.int32]
    ) -> tuple[Floats, float]:
        """The difference of marginals, and log Z of known paths less what scaling took out of the free one."""
        encoded, t = self._encoded, self._transitions
        difference = space.matrix("difference", len(batch.rows))
        np.take(free.gamma, batch.rows, axis=0, out=difference, mode="clip")
        ptr = encoded.sentence_ptr[batch.first : batch.last + 1] - batch.tokens.start
        weights = encoded.weights[batch.first : batch.last]
        total = chain.follow_paths(
            scores, labels, ptr, t.score, t.start_score, t.end_score, weights, difference, self._paths
        )
        lengths = np.diff(ptr)
        taken_out = (lengths - 1) * t.step + t.edge
        return difference, float(total - weights[lengths > 0] @ taken_out[lengths > 0])

    def _add_pairs(self, sums: Sums, batch: Batch, weights: NDArray[np.float64], sign: int) -> None:
        if (weights != 1).any():
            chain.weigh(sums.gamma, batch.steps, weights)
            chain.weigh(sums.beyond, batch.steps, weights)
        if self._structure.transitions:
            chain.add_pairs(sums.before, sums.beyond, batch.lanes, sign, sums.dense, self._pairs)
            for lane, exact in sums.exact.items():
                for pairs in exact.pairs():
                    self._paths -= (sign * weights[lane] * pairs).astype(self._dtype)

    def _add_edges(self, difference: Floats, batch: Batch) -> None:
        if self._structure.edges:
            ptr = self._encoded.sentence_ptr[batch.first : batch.last + 1] - batch.tokens.start
            filled = ptr[1:] > ptr[:-1]
            self._start += difference[ptr[:-1][filled]].sum(axis=0)
            self._end += difference[ptr[1:][filled] - 1].sum(axis=0)
