"""All cells of one part of a paper's experiments: every setting, every method, every seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Generic, Protocol, TypeVar

from reproductions.lab.cache import Result

Say = Callable[[str], None]


def silent(_line: str) -> None:
    """Nobody is told."""


class Named(Protocol):
    """What tables and results know by its name."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


Data = TypeVar("Data")
Method = TypeVar("Method", bound=Named)


@dataclass(frozen=True)
class Setting(Generic[Data, Method]):
    """Corpora, and the methods that are compared on them.

    Attributes:
        name: in file names.
        title: in the page.
        draw: the corpora of a seed; their test data are always the same.
        methods: the rivals.
    """

    name: str
    title: str
    draw: Callable[[int], Data]
    methods: tuple[Method, ...]


@dataclass(frozen=True)
class Run(Generic[Data, Method]):
    """The results of one part.

    Attributes:
        part: its name.
        settings: what was compared.
        seeds: how many seeds.
        results: by setting, method and seed.
    """

    part: str
    settings: tuple[Setting[Data, Method], ...]
    seeds: int
    results: dict[tuple[str, str, int], Result]

    def of(self, setting: Setting[Data, Method], method: Method) -> list[Result]:
        """The results of all seeds."""
        return [self.results[setting.name, method.name, seed] for seed in range(self.seeds)]

    def columns(self, setting: Setting[Data, Method], method: Method, keys: Sequence[str]) -> dict[str, list[Any]]:
        """Under each key that results have, those of all seeds."""
        results = self.of(setting, method)
        return {key: [result[key] for result in results] for key in keys if key in results[0]}


def run(
    part: str,
    settings: Sequence[Setting[Data, Method]],
    seeds: int,
    cell: Callable[[Data, Method, int], Result],
    say: Say = silent,
) -> Run[Data, Method]:
    """The results of every cell.

    Seeds are the outer loop, so that an interrupted command has something of everything in its cache.

    Args:
        part: its name.
        settings: its settings.
        seeds: how many.
        cell: the result of a method on the corpora of a seed, from a cache or from a training.
        say: is told of every cell, before it runs.
    """
    found = Run(part, tuple(settings), seeds, {})
    cells = [(seed, setting, method) for seed, setting in product(range(seeds), settings) for method in setting.methods]
    for number, (seed, setting, method) in enumerate(cells, 1):
        say(f"{number}/{len(cells)}  {setting.name}, {method.name}, seed {seed}")
        found.results[setting.name, method.name, seed] = cell(setting.draw(seed), method, seed)
    return found
