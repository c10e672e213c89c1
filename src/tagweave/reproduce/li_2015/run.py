"""All cells of one part: every setting, every method, every seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from tagweave.learning.loop import Watcher
from tagweave.reproduce.cache import Cache, Result
from tagweave.reproduce.li_2015.cells import Cell
from tagweave.reproduce.li_2015.methods import BASELINE, Method
from tagweave.reproduce.li_2015.scores import HARD, Counts, least_certain, right_and_scored
from tagweave.reproduce.li_2015.settings import Setting

Say = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """The results of one part.

    Attributes:
        part: its name.
        settings: what was compared.
        seeds: how many seeds.
        results: by setting, method and seed.
    """

    part: str
    settings: tuple[Setting, ...]
    seeds: int
    results: dict[tuple[str, str, int], Result]

    def of(self, setting: Setting, method: Method) -> list[Result]:
        """The results of all seeds."""
        return [self.results[setting.name, method.name, seed] for seed in range(self.seeds)]

    def counts(self, setting: Setting, method: Method) -> dict[str, Counts]:
        """Right and scored tokens by measure: `dev`, `test` and, in conversion, `hard`."""
        target, results = setting.draw(0).target, self.of(setting, method)
        found = {
            "dev": [right_and_scored(target.dev, result["dev"]) for result in results],
            "test": [right_and_scored(target.test, result["test"]) for result in results],
        }
        if setting.conversion:
            certainty = [result["certainty"] for result in self.of(setting, BASELINE)]
            found[HARD] = [
                right_and_scored(target.test, result["test"], least_certain(values))
                for result, values in zip(results, certainty, strict=True)
            ]
        return {name: np.stack(seeds) for name, seeds in found.items()}


def run(
    part: str,
    settings: list[Setting],
    seeds: int,
    cache: Cache,
    threads: int = 1,
    say: Say = lambda _: None,
    watcher: Watcher | None = None,
) -> Run:
    """The results of every cell, from the cache or from a training.

    Seeds are the outer loop, so that an interrupted command has something of everything in its cache.

    Args:
        part: its name.
        settings: its settings.
        seeds: how many.
        cache: where results are kept.
        threads: of every training.
        say: is told of every cell, before it runs.
        watcher: is told of every iteration.
    """
    found = Run(part, tuple(settings), seeds, {})
    cells = [(seed, setting, method) for seed, setting in product(range(seeds), settings) for method in setting.methods]
    for number, (seed, setting, method) in enumerate(cells, 1):
        say(f"{number}/{len(cells)}  {setting.name}, {method.name}, seed {seed}")
        cell = Cell(setting.draw(seed), method, seed, cache, threads, watcher)
        found.results[setting.name, method.name, seed] = cell.result()
    return found
