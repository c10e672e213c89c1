"""Cells as tasks of processes: names in, a file in the cache out. A process makes corpora and cell by their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproductions.lab.cache import Cache
from tagweave.learning.run import SILENCE

if TYPE_CHECKING:
    from reproductions.lab.study import Study


@dataclass(frozen=True)
class CellTask:
    """A cell by its names.

    Attributes:
        study: the name of the study; the module `study` of its folder has it as `STUDY`.
        part, setting, method: of the study.
        seed: of the corpora and of the training.
        corpora: the folder of all corpora; `None`: the bundled sample.
        cache: the folder of finished trainings.
        threads: of the training.
    """

    study: str
    part: str
    setting: str
    method: str
    seed: int
    corpora: str | None
    cache: str
    threads: int


def cell_tasks(
    study: Study[Any, Any], parts: Iterable[str], corpora: Path | None, seeds: int, cache: Path, threads: int
) -> list[CellTask]:
    """The tasks of all cells of some parts. Seeds are the outer loop, as in `run`."""
    folder = None if corpora is None else str(corpora.resolve())
    return [
        CellTask(study.name, part, setting.name, method.name, seed, folder, str(cache.resolve()), threads)
        for part in parts
        for seed, setting in product(range(seeds), study.parts[part](corpora))
        for method in setting.methods
    ]


def fill(task: CellTask) -> None:
    """Have the result of a cell in the cache."""
    study: Study[Any, Any] = import_module(f"reproductions.{task.study.replace('-', '_')}.study").STUDY
    settings = study.parts[task.part](None if task.corpora is None else Path(task.corpora))
    setting = next(each for each in settings if each.name == task.setting)
    method = next(each for each in setting.methods if each.name == task.method)
    study.cells(Cache(Path(task.cache)), task.threads, SILENCE)(setting.draw(task.seed), method, task.seed)
