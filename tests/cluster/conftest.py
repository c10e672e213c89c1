"""One Ray on this machine for all tests of a process: it takes seconds to start."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tagweave.cluster.executor import AUTO, LOCAL, Executor, executor_at


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """A Ray of two processors."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    module = pytest.importorskip("ray", reason="Ray is not installed (pip install 'tagweave[ray]')")
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])  # workers import the functions of tests
    with _unclosed():
        module.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=100_000_000,
            log_to_driver=False,
            logging_level="error",
        )
    yield module
    with _unclosed():
        module.shutdown()


@contextmanager
def _unclosed() -> Iterator[None]:
    """Ray leaves files and processes to the garbage collector, which warns of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@pytest.fixture(params=[LOCAL, AUTO])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """An executor of each kind, with two workers."""
    if request.param == AUTO:
        request.getfixturevalue("ray")
    with executor_at(request.param, workers=2) as opened:
        yield opened
