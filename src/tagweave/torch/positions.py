"""Tensors as arrays and back, and the positions of padded rows: taken out, one behind another, and put back.

Where there is no position (a mask, -100), its neighbours become adjacent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tagweave.evidence.sequences import pointers

NO_POSITION = -100
"""What stands for an id where there is no position; the usual value in PyTorch."""

Floats = NDArray[Any]
_BLOCK = 1 << 14  # numbers that are scaled at a time


def array(tensor: Tensor, dtype: torch.dtype | None = None) -> NDArray[Any]:
    """Return the numbers of a tensor; of one on the CPU, contiguous and of this type, they are not copied."""
    tensor, dtype = tensor.detach(), dtype or tensor.dtype
    if tensor.device.type == "cuda":
        tensor = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor)
    if tensor.device.type != "cpu" or tensor.dtype != dtype:
        tensor = tensor.cpu().to(dtype)
    numbers: NDArray[Any] = tensor.contiguous().numpy()
    return numbers


def tensor(numbers: NDArray[Any], like: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Return an array as a tensor, on the device of another one and of its type, unless another type is given."""
    made = torch.from_numpy(numbers)
    dtype = dtype or like.dtype
    device = like.device.type
    if made.dtype != dtype:
        made = made.to(dtype)
    if device == "cpu":
        return made
    return (made.pin_memory() if device == "cuda" else made).to(like.device, non_blocking=True)


def precision(*tensors: Tensor) -> torch.dtype:
    """Return the type to compute in: float64 if any tensor has it, else float32, also of half precision."""
    return torch.float64 if any(numbers.dtype == torch.float64 for numbers in tensors) else torch.float32


@dataclass(frozen=True)
class Positions:
    """The positions of B rows, padded to a length of T, that are there: n of them."""

    shape: tuple[int, int]  # B, T
    index: NDArray[np.int64] | None  # [n], each as row * T + position; `None`: all are there
    ptr: NDArray[np.int64]  # [B + 1], the first of every row

    @classmethod
    def of(cls, kept: NDArray[np.bool_]) -> Positions:
        """Take those that are True in bool[B, T]."""
        rows, length = kept.shape
        if kept.all():
            return cls((rows, length), None, np.arange(rows + 1, dtype=np.int64) * length)
        return cls((rows, length), np.flatnonzero(kept), pointers(kept.sum(axis=1)))

    def take(self, padded: NDArray[Any]) -> NDArray[Any]:
        """[n, ...] from [B, T, ...]."""
        flat = padded.reshape(-1, *padded.shape[2:])
        return flat if self.index is None else flat.take(self.index, axis=0)

    def put(self, taken: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """[B, T, ...] from [n, ...]; `fill` where there is no position."""
        if self.index is None:
            return taken.reshape(*self.shape, *taken.shape[1:])
        flat = np.full((self.shape[0] * self.shape[1], *taken.shape[1:]), fill, taken.dtype)
        flat[self.index] = taken
        return flat.reshape(*self.shape, *taken.shape[1:])

    def scaled(self, taken: Floats, factor: float) -> Floats:
        """As `put`, times a factor; block by block, since to allocate a large array costs more than to compute it."""
        scale = taken.dtype.type(factor)
        step = max(1, _BLOCK // max(1, taken[:1].size))
        if self.index is None:
            return self.put(taken * scale)
        flat = np.zeros((self.shape[0] * self.shape[1], *taken.shape[1:]), taken.dtype)
        for low in range(0, len(taken), step):
            flat[self.index[low : low + step]] = taken[low : low + step] * scale
        return flat.reshape(*self.shape, *taken.shape[1:])

    def place(self, at: int) -> str:
        """Return where a position is, for messages."""
        row, position = divmod(int(at if self.index is None else self.index[at]), max(1, self.shape[1]))
        return f"row {row}, position {position}"

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """int64[n]: the row of each position."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.ptr))
