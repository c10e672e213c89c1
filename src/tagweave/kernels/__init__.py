"""Numba functions over arrays, and the code that lays out arrays for them; nothing else.

Every kernel is compiled on its first call, and the code is kept on disk (`compiled_code`). The user waits for that, and
most of the time goes into code around the arithmetic. So kernels copy in loops: assigning an array to a part of another
takes 0.3 s to compile, since it may raise an error with a formatted message. `np.empty` and `reshape` take 0.2 s each,
so kernels use `allocate` and `flat` of `instructions`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit

from tagweave.kernels.compiled_code import CompiledCode


def kernel(function: Callable[..., Any], reassociate: bool = False) -> Callable[..., Any]:
    """Compile `function` lazily, without the interpreter lock, with the compiled code kept on disk.

    No fast math: it turns log-sum-exp of (-inf, -inf) into nan. `reassociate` allows sums in any order, which they need
    to become vector code.
    """
    compiled: Any = _options(reassociate)(function)
    compiled._cache = CompiledCode(function)
    return compiled  # type: ignore[no-any-return]


def inner(function: Callable[..., Any], reassociate: bool = False, **others: Any) -> Callable[..., Any]:
    """As `kernel`, for a function that only other kernels call: no entry point for Python is compiled or kept."""
    compiled: Any = _options(reassociate, no_cpython_wrapper=True, **others)(function)
    return compiled  # type: ignore[no-any-return]


inlined = partial(inner, forceinline=True)
"""`inner`, for a function that is always inlined: an array takes seven arguments of a call, which cost more than a few
steps of a loop."""

merged = partial(inner, inline="always")
"""`inner`, for a function merged into its only caller before compilation: one function compiles faster than two."""


def _options(reassociate: bool, **others: Any) -> Any:
    fastmath = {"reassoc", "nsz"} if reassociate else False
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "no_cfunc_wrapper": True}
    return njit(**(options | others))
