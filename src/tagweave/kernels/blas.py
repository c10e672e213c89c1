"""One BLAS thread: kernels are called from several threads already, and OpenBLAS's own would wait for one another.

Numba calls the BLAS that SciPy ships, which is loaded with SciPy's linear algebra; a limit set before that has no
effect. On two busy cores, unlimited OpenBLAS threads make a training pass thirty times slower.

Only sums over sequences multiply matrices. Decoding alone needs no SciPy, whose import takes a fifth of a second.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    import scipy.linalg.cython_blas  # noqa: F401 - loads the library that the limit is for
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which every BLAS call runs on the thread that makes it."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


def postpone_blas() -> None:
    """Let Numba load its compiler without SciPy's linear algebra, which takes half of the time.

    Numba checks for a BLAS when it loads sums over arrays; a product of matrices checks again.
    """
    from numba.np import linalg

    asked = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401 - its import asks
    finally:
        linalg.ensure_blas = asked
