"""What the losses of chains and of trees have in common as PyTorch modules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import get_args

import torch
from torch import Tensor, nn

from tagweave.torch.positions import tensor
from tagweave.torch.scored_batch import Reduction, ScoredBatch, eager, values

Scores = Tensor | tuple[Tensor, Tensor]
_REDUCTIONS = get_args(Reduction)


class StructureLoss(nn.Module, ABC):
    """A loss of B rows under evidence, and the distribution that it belongs to, given evidence or not.

    Rows without words have the loss 0. Only the loss and `log_partition` have gradients.
    """

    @abstractmethod
    def _scored(self, scores: Scores, evidence: Tensor | None, mask: Tensor | None) -> ScoredBatch:
        """Read scores and evidence."""

    @eager
    def forward(
        self, scores: Scores, evidence: Tensor, mask: Tensor | None = None, reduction: Reduction = "mean"
    ) -> Tensor:
        """Return log Z - log Z(what the evidence allows), 0 or more.

        Args:
            scores, evidence, mask: see the class.
            reduction: `mean` over rows, `sum`, `token_mean`, over words, or `none`: [B].

        Raises:
            ContradictionError: no output agrees with the evidence of a row.
        """
        batch = self._scored(scores, evidence, mask)
        if reduction not in _REDUCTIONS:
            raise ValueError(f"found the reduction {reduction!r}, expected one of {', '.join(_REDUCTIONS)}")
        if reduction == "none" and batch.has_terms:
            raise ValueError("found the reduction 'none' with terms, expected another: terms are of all rows together")
        losses = values(batch)
        if reduction == "none":
            return losses
        if reduction == "mean":
            return losses.mean()
        return losses.sum() if reduction == "sum" else losses.sum() / max(1, batch.words)

    @eager
    def log_partition(self, scores: Scores, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return [B]: log Z, of what the evidence allows; its gradient are marginals."""
        return values(self._scored(scores, evidence, mask).partition())

    @eager
    def decode(self, scores: Scores, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return int64[B, T]: the best labels, or heads, that the evidence allows; -100 where there is no word."""
        batch = self._scored(scores, evidence, mask)
        return tensor(batch.distribution().best(), batch.scores[0], torch.int64)

    @eager
    def topk(
        self, scores: Scores, k: int, mask: Tensor | None = None, evidence: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return int64[B, k, T], the k best outputs, and [B, k], their scores, the best first.

        Where there are fewer, outputs are -100, and scores -inf.
        """
        batch = self._scored(scores, evidence, mask)
        outputs, totals = batch.distribution().k_best(k)
        return tensor(outputs, batch.scores[0], torch.int64), tensor(totals, batch.scores[0])

    @eager
    def sample(
        self,
        scores: Scores,
        n: int = 1,
        mask: Tensor | None = None,
        evidence: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return int64[B, n, T]: outputs drawn from their distribution; -100 where there is no word."""
        batch = self._scored(scores, evidence, mask)
        seeds = torch.randint(2**31, batch.scores[0].shape[:1], generator=generator).tolist()
        return tensor(batch.distribution().samples(n, seeds), batch.scores[0], torch.int64)

    @eager
    def marginals(self, scores: Scores, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return the probability of each label, [B, T, Y], or arc, [B, T + 1, T + 1]; 0 where there is no word."""
        batch = self._scored(scores, evidence, mask)
        return tensor(batch.distribution().marginals(), batch.scores[0])

    @eager
    def entropy(self, scores: Scores, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return [B]: the entropy of the outputs, in nats."""
        # in float64: a difference of large numbers
        batch = replace(self._scored(scores, evidence, mask), dtype=torch.float64)
        entropies = batch.scores[0].new_zeros(len(batch.scores[0]))
        distribution = batch.distribution()
        entropies[torch.from_numpy(distribution.rows)] = tensor(distribution.entropies(), entropies)
        return entropies
