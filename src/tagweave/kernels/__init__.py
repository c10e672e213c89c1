"""Numba functions over arrays, and what lays arrays out for them; nothing else.

Every kernel is compiled on its first call, and its code kept on disk (`compiled_code`). Somebody waits for that, and
most of the wait is for what stands around the arithmetic. So kernels copy in loops: one assignment of an array to a
part of another one costs 0.3 s, since it may raise an error whose text must be put together. `np.empty` and `reshape`
cost 0.2 s each, so kernels take `room` and `flat` of `instructions`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit

from tagweave.kernels.compiled_code import CompiledCode


def kernel(function: Callable[..., Any], reassociate: bool = False) -> Callable[..., Any]:
    """Compile `function` lazily, without the interpreter lock, with the compiled code kept on disk.

    No fast math: it turns log-sum-exp of (-inf, -inf) into nan. `reassociate` lets a sum be taken in any order, which
    is what it needs to become vector code.
    """
    compiled: Any = _options(reassociate)(function)
    compiled._cache = CompiledCode(function)
    return compiled  # type: ignore[no-any-return]


def inner(function: Callable[..., Any], reassociate: bool = False, **others: Any) -> Callable[..., Any]:
    """As `kernel`, for a function that other kernels call, and Python never does: nothing is made or kept for that."""
    compiled: Any = _options(reassociate, no_cpython_wrapper=True, **others)(function)
    return compiled  # type: ignore[no-any-return]


inlined = partial(inner, forceinline=True)
"""`inner` of a function that is put into its callers whatever its size: an array is seven arguments of a call, which
costs more than a few steps of a loop."""

merged = partial(inner, inline="always")
"""`inner` of a function that is part of its only caller before that is compiled: one function takes less than two."""


def _options(reassociate: bool, **others: Any) -> Any:
    fastmath = {"reassoc", "nsz"} if reassociate else False
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "no_cfunc_wrapper": True}
    return njit(**(options | others))
