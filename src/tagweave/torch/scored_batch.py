"""A batch as a function of scores, with the one autograd function of all structures, and its distribution.

Gradients of scores are differences of marginals (`structures.loss`), so they come with the loss: the forward pass
computes both, the backward pass scales.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tagweave.structures.loss import contradiction
from tagweave.torch.positions import NO_POSITION, Floats, array, tensor

SHARED_WORK = 20_000_000
"""Multiplications of a batch from which threads pay off."""
Reduction = Literal["mean", "sum", "none", "token_mean"]
"""The mean over rows, the sum, the loss of each row, or the sum divided by the number of words."""

_Method = TypeVar("_Method", bound=Callable[..., Any])
_Part = TypeVar("_Part")


def eager(method: _Method) -> _Method:
    """Return a method that `torch.compile` leaves alone: it compiles the code before and after."""
    return cast(_Method, torch.compiler.disable(method))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class ScoredBatch(ABC):
    """A batch of B rows under its evidence: a function of scores, with its gradient."""

    scores: tuple[Tensor, ...]  # the scores of rows, and those that rows share
    dtype: torch.dtype  # to compute in
    is_partition: bool = False  # whether the values are log Z under the evidence instead of losses

    @property
    def has_terms(self) -> bool:
        """Whether values depend on all rows together."""
        return False

    @property
    @abstractmethod
    def words(self) -> int:
        """How many words there are."""

    @abstractmethod
    def solve(
        self, scores: list[Floats], needed: tuple[bool, ...], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], list[Floats]]:
        """Return the values of rows, [B], and the gradients, as `scaled` takes them, of their sum by weights [B].

        `needed` says which gradients will be asked for; others may be anything.
        """

    @abstractmethod
    def scaled(self, at: int, gradient: Floats, factor: float) -> Floats:
        """Return the gradient of scores `at`, shaped as they are, times a factor."""

    @abstractmethod
    def distribution(self) -> Distribution:
        """Return the distribution over what the evidence allows."""

    def partition(self) -> Self:
        """Return the same batch, its log Z under the evidence."""
        return replace(self, is_partition=True)

    def arrays(self) -> list[Floats]:
        return [array(score, self.dtype) for score in self.scores]


def values(batch: ScoredBatch) -> Tensor:
    """Return [B]: the values of a batch, which can be differentiated once."""
    return cast(Tensor, _Values.apply(batch, *batch.scores))  # type: ignore[no-untyped-call]


class _Values(torch.autograd.Function):
    """What `values` does."""

    @staticmethod
    def forward(ctx: Any, batch: ScoredBatch, *scores: Tensor) -> Tensor:
        values_of_rows, ctx.gradients = batch.solve(batch.arrays(), tuple(ctx.needs_input_grad[1:]), None)
        ctx.batch = replace(batch, scores=())
        ctx.save_for_backward(*scores)
        return tensor(values_of_rows, scores[0], batch.dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the gradients; if rows have different upstream gradients, compute the sums by these weights."""
        if torch.is_grad_enabled():
            raise RuntimeError("found create_graph=True, expected False: the gradients of these losses have none")
        weights = array(upstream, torch.float64)
        scores = ctx.saved_tensors
        needed = ctx.needs_input_grad[1:]
        gradients = ctx.gradients
        factor = float(weights[0]) if len(weights) else 0.0
        if (weights != factor).any():
            arrays = replace(ctx.batch, scores=scores).arrays()
            _, gradients = ctx.batch.solve(arrays, needed, weights)
            factor = 1.0
        pairs = enumerate(zip(gradients, scores, needed, strict=True))
        scaled = (
            tensor(ctx.batch.scaled(at, gradient, factor), like) if asked else None
            for at, (gradient, like, asked) in pairs
        )
        return None, *scaled


def over_rows(run: Callable[[int, int], _Part], ptr: NDArray[np.int64], work: float) -> list[_Part]:
    """Call `run` with the first sentence, and the one after the last, of each thread's share; return the results.

    `ptr`, [S + 1], has the first word of each sentence. Little work is not shared.
    """
    bounds = [0, len(ptr) - 1]
    if work >= SHARED_WORK:
        inner = np.searchsorted(ptr, np.linspace(0, ptr[-1], torch.get_num_threads() + 1)[1:-1])
        bounds = sorted({*bounds, *inner.tolist()})
    if len(bounds) <= 2:
        return [run(0, len(ptr) - 1)]
    with ThreadPoolExecutor(len(bounds) - 1) as pool:
        return list(pool.map(run, bounds[:-1], bounds[1:]))


@dataclass(frozen=True)
class Distribution(ABC):
    """S sentences of N words, in B rows; their evidence is in their scores: -inf is excluded."""

    structure: Any
    scores: Any  # as the structure takes them
    batch: Any  # of sentences of which nothing else is known
    count: int  # B
    rows: NDArray[np.int64]  # [S], the row of each sentence
    ptr: NDArray[np.int64]  # [S + 1], the first word of each

    @abstractmethod
    def part(self, sentence: int) -> tuple[Any, Any]:
        """Return the scores and the batch of one sentence."""

    @abstractmethod
    def padded(self, outputs: NDArray[np.int32]) -> NDArray[Any]:
        """Return [B, T, ...], outputs of rows, from outputs of sentences, [N, ...]; -100 where there is no word."""

    @abstractmethod
    def log_z(self, sums: Any) -> NDArray[np.float64]:
        """Return [S], of the sums of the structure."""

    @abstractmethod
    def marginals(self) -> Floats:
        """Return the probabilities of the parts of outputs, shaped as their scores."""

    @abstractmethod
    def entropies(self) -> NDArray[np.float64]:
        """Return [S], in nats."""

    def sums(self) -> Any:
        """Return the sums of the structure. Raises ContradictionError if nothing is possible in a sentence."""
        sums = self.structure.sums(self.scores, self.batch)
        if (impossible := np.isneginf(self.log_z(sums))).any():
            raise contradiction(int(self.rows[impossible.argmax()]), self.structure.contradiction)
        return sums

    def best(self) -> NDArray[Any]:
        """[B, T]. Raises as `sums`."""
        best = self.structure.best(self.scores, self.batch)
        if len(best) and best.min() < 0:
            sentence = int(np.searchsorted(self.ptr, best.argmin(), "right")) - 1
            raise contradiction(int(self.rows[sentence]), self.structure.contradiction)
        return self.padded(best)

    def k_best(self, k: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """[B, k, T] and their scores [B, k]; -100 and -inf where there are fewer."""
        outputs = np.full((int(self.ptr[-1]), k), NO_POSITION, np.int32)
        totals = np.full((self.count, k), -np.inf)
        totals[np.delete(np.arange(self.count), self.rows), :1] = 0  # rows without words have one output
        for at, row in enumerate(self.rows.tolist()):
            best, total = self.structure.k_best(*self.part(at), k)
            outputs[self.ptr[at] : self.ptr[at + 1], : len(best)] = best.T
            totals[row, : len(total)] = total
        return self.padded(outputs).swapaxes(1, 2), totals

    def samples(self, n: int, seeds: list[int]) -> NDArray[Any]:
        """[B, n, T]; a seed for each row. Raises as `sums`."""
        self.sums()
        outputs = np.empty((int(self.ptr[-1]), n), np.int32)
        for at, row in enumerate(self.rows.tolist()):
            outputs[self.ptr[at] : self.ptr[at + 1]] = self.structure.samples(*self.part(at), n, seeds[row]).T
        return self.padded(outputs).swapaxes(1, 2)
