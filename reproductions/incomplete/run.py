"""All cells of a command: learner settings chosen on dev, then every seed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.progress import Progress

from reproductions.incomplete.cells import Cell, Data
from reproductions.incomplete.settings import Setting
from reproductions.lab.cache import Cache

LEARNER: tuple[dict[str, float], ...] = ({}, {"rate": 0.03}, {"rate": 0.3})
"""What may be tried for every method alike: AdaGrad's defaults, a smaller and a larger rate. The first wins a tie."""

Results = dict[tuple[str, str], list[dict[str, Any]]]


@dataclass(frozen=True)
class Run:
    """All results of one command.

    Attributes:
        data: the full corpora.
        settings: what was taken away, and the methods.
        learner: per setting and method (by name), the dev score of each of the settings that were tried; `None` where
            nothing was left.
        chosen: per setting and method, the settings with the best of these.
        results: per setting and method, the result of each seed.
    """

    data: Data
    settings: tuple[Setting, ...]
    learner: dict[tuple[str, str], list[float | None]]
    chosen: dict[tuple[str, str], dict[str, float]]
    results: Results


def run(
    data: Data, settings: tuple[Setting, ...], seeds: int, cache: Cache, threads: int = 1, tried: int = len(LEARNER)
) -> Run:
    """Every setting and method: one of the first `tried` of `LEARNER` by the dev score of seed 0, then every seed.

    Seeds are the outer loop, so that an interrupted command has something of everything in its cache.
    """
    pairs = [(setting, method) for setting in settings for method in setting.methods]
    found = Run(data, settings, {}, {}, {})
    with Progress(disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("tagging", total=len(pairs) * (tried + seeds))
        for setting, method in pairs:
            key = setting.name, method.name
            found.learner[key] = list(_tune(Cell(data, setting, method, 0), cache, threads, tried))
            found.chosen[key] = _best(found.learner[key])
            progress.advance(bar, tried)
        for seed in range(seeds):
            for setting, method in pairs:
                key = setting.name, method.name
                cell = Cell(data, setting, method, seed, found.chosen[key])
                found.results.setdefault(key, []).append(cell.result(cache, threads))
                progress.advance(bar)
    return found


def _tune(cell: Cell, cache: Cache, threads: int, tried: int) -> Iterator[float | None]:
    for settings in LEARNER[:tried]:
        yield replace(cell, settings=settings).result(cache, threads).get("dev")


def _best(scores: Sequence[float | None]) -> dict[str, float]:
    tried = [-1.0 if score is None else score for score in scores]
    return LEARNER[tried.index(max(tried))]
