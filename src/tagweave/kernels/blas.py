"""One BLAS thread: kernels are called from several threads already, and OpenBLAS's own would wait for one another.

Numba calls the BLAS that SciPy ships, which is loaded when SciPy's linear algebra is; a limit that is set before has no
effect. On two busy cores, unlimited OpenBLAS threads make a training pass thirty times slower.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import scipy.linalg.cython_blas  # noqa: F401 - loads the library that the limit is for
from threadpoolctl import ThreadpoolController

_CONTROLLER = ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which every BLAS call runs on the thread that makes it."""
    limit: AbstractContextManager[object] = _CONTROLLER.limit(limits=1, user_api="blas")
    return limit
