"""The annotation server under load: `python -m benchmarks.annotation_load [--quick]`."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks.annotation_load_annotator import Annotator
from benchmarks.annotation_load_page import page
from benchmarks.annotation_load_server import Server, folder_with_model
from benchmarks.annotation_load_store import DATABASES, compared, fill, new_url, numbered
from benchmarks.processes import publish

THINK = 1.0
"""Seconds, on average."""


class Size(NamedTuple):
    """Of a run.

    Attributes:
        people: annotators at once.
        tasks: in the store.
        seconds: of work, after `warm_up`.
        warm_up: seconds of work that are not counted.
        kills: of the server.
    """

    people: int = 50
    tasks: int = 8_000
    seconds: float = 25.0
    warm_up: float = 3.0
    kills: int = 20


QUICK = Size(people=10, tasks=1_000, seconds=2.0, warm_up=0.5, kills=2)


async def load(server: Server, size: Size, think: float) -> tuple[list[Annotator], dict[str, float]]:
    """Let everybody work for some time; what they saw, and what it took."""
    people = await signed_in(server, size, think)
    end = time.monotonic() + size.warm_up + size.seconds
    work = asyncio.gather(*(each.work(lambda: time.monotonic() >= end) for each in people))
    await asyncio.sleep(size.warm_up)
    begin, used = time.monotonic(), server.seconds()
    await asyncio.sleep(size.seconds)
    lasted, used = time.monotonic() - begin, server.seconds() - used
    await work
    trips = [seconds for each in people for sent, seconds in each.trips if begin <= sent < begin + lasted]
    return people, {"a_second": len(trips) / lasted, "processor": 1000 * used / len(trips), **quantiles(trips)}


async def kill(server: Server, size: Size) -> list[Annotator]:
    """Kill the server again and again while everybody works, without thinking; what they saw."""
    people, random, is_over = await signed_in(server, size, 0.0), Random(0), False
    work = asyncio.gather(*(each.work(lambda: is_over, retries=True) for each in people))
    for _ in range(size.kills):
        await asyncio.sleep(random.uniform(0.3, 1.2))
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
    await asyncio.sleep(1.0)
    is_over = True
    await work
    return people


async def signed_in(server: Server, size: Size, think: float) -> list[Annotator]:
    people = [Annotator(f"annotator {number}", server.base, think, number) for number in range(size.people)]
    for each in people:
        await each.sign_in()
    return people


def quantiles(trips: list[float]) -> dict[str, float]:
    """Milliseconds."""
    found = 1000 * np.quantile(trips, [0.5, 0.95, 0.99, 1.0])
    return dict(zip(("median", "p95", "p99", "max"), found.tolist(), strict=True))


def measure(database: str, size: Size, folder: Path, think: float | None) -> dict[str, Any]:
    """A row of the page; without a time to think, one of kills."""
    with new_url(database) as url:
        numbers = fill(url, size.tasks, size.people)
        server = Server(url, folder)
        server.start()
        try:
            people, found = asyncio.run(_closing(server, size, think))
        finally:
            server.stop()
        said = numbered([answer for each in people for answer in each.acknowledged], numbers)
        errors = [error for each in people for error in each.errors]
        counts = {"acknowledged": len(said), "errors": len(errors), "kinds": sorted({*errors})}
        return {"database": database, "think": think, **found, **counts, **compared(url, said)._asdict()}


async def _closing(server: Server, size: Size, think: float | None) -> tuple[list[Annotator], dict[str, float]]:
    people, found = (await kill(server, size), {}) if think is None else await load(server, size, think)
    for each in people:
        await each.close()
    return people, found


def run(size: Size) -> list[dict[str, Any]]:
    """All rows: of each database annotators who think, who do not, and kills."""
    rows = [(database, think) for think in (THINK, 0.0, None) for database in DATABASES]
    with folder_with_model() as folder, Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("annotating", total=len(rows))
        found = []
        for database, think in rows:
            found.append(measure(database, size, folder, think))
            progress.advance(task)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="ten annotators, seconds, two kills; nothing written")
    options = parser.parse_args()
    size = QUICK if options.quick else Size()
    rows = run(size)
    publish("speed-annotation", page(rows, size.people, size.tasks, size.kills), rows, options.quick)


if __name__ == "__main__":
    main()
