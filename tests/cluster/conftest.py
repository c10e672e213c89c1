"""Executors of all kinds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tagweave.cluster.executor import AUTO, LOCAL, Executor, executor_at


@pytest.fixture(params=[LOCAL, AUTO])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """An executor of each kind, with two workers."""
    if request.param == AUTO:
        request.getfixturevalue("ray")
    with executor_at(request.param, workers=2) as opened:
        yield opened
