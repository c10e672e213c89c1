"""The slowest kernels of a structure, compiled in a process beside one that begins with others.

On two processors the first training of an installation then takes little more than half as long. Both processes keep
what they compile on disk, and neither compiles a kernel that the other has begun (`kernels.compiled_code`).
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tagweave.kernels import compiled_code
from tagweave.structures import CHAIN, TREE

_INSIDE = "TAGWEAVE_AHEAD"
_begun: dict[str, subprocess.Popen[bytes]] = {}  # by structure


def begin(structure: str, dtype: Any) -> None:
    """Begin to compile in a process of its own.

    Not if that has been done, with a single processor, in workers, or in an application that is not Python itself.
    """
    if structure in _begun or _processors() < 2 or not _is_first_python() or compiled_code.is_kept(_SLOWEST[structure]):
        return
    command = [sys.executable, "-P", "-m", "tagweave.structures.ahead", structure, np.dtype(dtype).name]
    environment, nothing = {**os.environ, _INSIDE: "1"}, subprocess.DEVNULL
    with suppress(OSError):  # where no process may be started, this one compiles everything
        own = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, env=environment)  # noqa: S603
        _begun[structure] = own
        atexit.register(_end, own)


def _processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _is_first_python() -> bool:
    """Return whether this is Python itself, not an application around it, and no worker of another process."""
    processes = sys.modules.get("multiprocessing.process")
    is_worker = _INSIDE in os.environ or (processes is not None and processes.parent_process() is not None)
    return not is_worker and Path(sys.executable or "").name.startswith("python")


def _end(own: subprocess.Popen[bytes]) -> None:
    own.terminate()
    own.wait()


def _chains(dtype: str) -> None:
    """Those that a training needs last come first: it begins with the others itself."""
    from tagweave.kernels import chain, products
    from tagweave.structures.chain import ChainScores, best_labels
    from tagweave.structures.lockstep import TransitionScores

    backward: Any = chain.backward
    row, square, steps = np.zeros(4, dtype), np.zeros((4, 4), dtype), np.array([0, 2, 4])
    transitions = TransitionScores.of_scores(square, row, row)
    gamma, beyond = np.zeros((2, 4, 4), dtype)
    backward(square, steps, square, transitions.panels[1], row, chain.ALL, square, row, gamma, beyond)
    products.add_row_products(square, beyond, steps, 1, gamma)
    best_labels(ChainScores(square, transitions), steps)


def _trees(dtype: str) -> None:
    from tagweave.kernels import tree_sums

    marginals: Any = tree_sums.marginals
    words, none = np.ones(1, np.int64), np.zeros(0, np.uint8)
    bounds, pairs = np.array([0, 4]), np.array([4, 4])
    marginals(np.zeros(4, dtype), none, bounds, pairs, words, True, np.zeros(4, dtype), np.zeros(1))


_SLOWEST = {CHAIN: "chain.backward", TREE: "tree_sums._marginals"}
_COMPILE: dict[str, Callable[[str], None]] = {CHAIN: _chains, TREE: _trees}

if __name__ == "__main__":
    _COMPILE[sys.argv[1]](sys.argv[2])
