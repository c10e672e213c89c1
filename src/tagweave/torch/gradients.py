"""One autograd function for all structures: the forward pass computes losses and gradients, the backward pass scales.

Gradients of scores are differences of marginals (`structures.loss`), so they come with the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar, cast, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tagweave.torch.positions import Floats, array, precision, tensor

Reduction = Literal["mean", "sum", "none", "token_mean"]
"""The mean over rows, the sum, the loss of each row, or the sum divided by the number of positions."""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def eager(method: _Method) -> _Method:
    """Return a method that `torch.compile` leaves alone: it compiles what is before and after."""
    return cast(_Method, torch.compiler.disable(method))  # type: ignore[no-untyped-call]


class Problem(Protocol):
    """A function of scores, with its gradient: a batch under its evidence."""

    def solve(
        self, scores: list[Floats], needed: tuple[bool, ...], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], list[Floats]]:
        """Return the values of B rows and the gradients, shaped as the scores, of their sum by `weights`, [B].

        `needed` says which gradients will be asked for; others may be anything.
        """
        ...


def values(problem: Problem, *scores: Tensor) -> Tensor:
    """Return [B]: the values of a problem, a function of scores that can be differentiated once."""
    return cast(Tensor, _Values.apply(problem, *scores))  # type: ignore[no-untyped-call]


class _Values(torch.autograd.Function):
    """What `values` does."""

    @staticmethod
    def forward(ctx: Any, problem: Problem, *scores: Tensor) -> Tensor:
        dtype = precision(*scores)
        ctx.problem, needed = problem, tuple(ctx.needs_input_grad[1:])
        found, ctx.gradients = problem.solve([array(each, dtype) for each in scores], needed, None)
        ctx.save_for_backward(*scores)
        return tensor(found, scores[0], dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the gradients; if rows have different upstream gradients, compute the sums by these weights."""
        if torch.is_grad_enabled():
            raise RuntimeError("found create_graph=True, expected False: the gradients of these losses have none")
        weights, scores, needed = array(upstream, torch.float64), ctx.saved_tensors, ctx.needs_input_grad[1:]
        gradients, factor = ctx.gradients, float(weights[0]) if len(weights) else 0.0
        if (weights != factor).any():
            _, gradients = ctx.problem.solve([array(each, precision(*scores)) for each in scores], needed, weights)
            factor = 1.0
        pairs = zip(gradients, scores, needed, strict=True)
        return None, *(tensor(own * own.dtype.type(factor), like) if asked else None for own, like, asked in pairs)


def reduced(values: Tensor, reduction: str, positions: int) -> Tensor:
    """Return [B] values in a reduction, `positions` their number of positions."""
    if reduction == "none":
        return values
    if reduction == "sum":
        return values.sum()
    if reduction == "mean":
        return values.mean()
    if reduction == "token_mean":
        return values.sum() / max(1, positions)
    raise ValueError(f"found the reduction {reduction!r}, expected one of {', '.join(get_args(Reduction))}")
