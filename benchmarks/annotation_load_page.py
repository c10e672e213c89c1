"""The page of the annotation server under load."""

from __future__ import annotations

import os
import platform
from typing import Any

from benchmarks.annotation_load_store import DATABASES

_TIMES = {"median": "median", "p95": "p95", "p99": "p99", "max": "max"}
_COUNTS = ("acknowledged", "errors", "stored", "lost", "doubled", "unacknowledged")


def page(rows: list[dict[str, Any]], people: int, tasks: int, kills: int) -> list[str]:
    """The lines of the page."""
    loads = [row for row in rows if row["think"] is not None]
    return [
        "# The annotation server under load",
        "",
        f"Written by `python -m benchmarks.annotation_load` ({platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}).",
        f"{people} simulated annotators answer {tasks:,} tasks over HTTP, as the script of the page does: the reply to",
        "an answer brings the next task. `tagweave annotate serve` is a process on loopback; annotators and PostgreSQL",
        "(`fsync` on) run on the same cores. Annotators think for a second on average (exponential), or not at all.",
        "",
        "| store | annotators | answers a second | "
        + ", ms | ".join(_TIMES)
        + ", ms | processor of the server, ms an answer |",
        "|---|---|---|" + "---|" * len(_TIMES) + "---|",
        *(_load(row) for row in loads),
        "",
        "Times are round trips of an answer. An answer is acknowledged when it is on the disk, and its annotator",
        "has the next task.",
        "",
        "## Every answer is there, once",
        "",
        "What was acknowledged against what is in the store afterwards. The last rows are of a server that is killed",
        f"(`kill -9`) {kills} times while nobody thinks, and started again; annotators send again",
        "what was not acknowledged.",
        "",
        "| store | annotators | acknowledged | errors | in the store | lost | there twice | not acknowledged |",
        "|---|---|---|---|---|---|---|---|",
        *(_count(row) for row in rows),
        "",
    ]


def _load(row: dict[str, Any]) -> str:
    times = [f"{row[name]:.0f}" for name in _TIMES]
    return _line([DATABASES[row["database"]], _who(row), f"{row['a_second']:.0f}", *times, f"{row['processor']:.2f}"])


def _count(row: dict[str, Any]) -> str:
    return _line([DATABASES[row["database"]], _who(row), *(f"{row[name]:,}" for name in _COUNTS)])


def _who(row: dict[str, Any]) -> str:
    if row["think"] is None:
        return "do not think, killed"
    return f"think {row['think']:g} s" if row["think"] else "do not think"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
