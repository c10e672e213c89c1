"""One BLAS thread: kernels are called from several threads already, and OpenBLAS's own would wait for one another.

Numba calls the BLAS that SciPy ships, which is loaded when SciPy's linear algebra is; a limit that is set before has no
effect. On two busy cores, unlimited OpenBLAS threads make a training pass thirty times slower.

Only sums over sequences multiply matrices. What looks for the best sequence alone does without SciPy, whose import is a
fifth of a second.
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
    """Have Numba load what it compiles from without SciPy's linear algebra, which is half of that.

    When it loads the sums over arrays, it asks whether there is a BLAS; a product of matrices asks again.
    """
    from numba.np import linalg

    asked = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401 - its import asks
    finally:
        linalg.ensure_blas = asked
