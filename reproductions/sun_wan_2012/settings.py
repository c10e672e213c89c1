"""The recipe, the parts of the reproduction, and the corpora and methods of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reproductions.lab.corpora import cut, of_sample, read_parts, there
from reproductions.lab.run import Setting
from reproductions.sun_wan_2012.methods import CHARACTERS, GUIDED, PIECES, UNTAGGED, Method
from reproductions.sun_wan_2012.pair import Pair
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Schedule
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

RECIPE = Recipe(Task("segtag", "BI"), PRESETS["sun-wan-2012"], settings={"batch": 16, "initial": 1e-8}, features="all")
SCHEDULE = Schedule(6)
"""How everything is trained, chosen on ZX dev: a fixed number of iterations, and no development data."""
FOLDS = 10

STACKING_METHODS = (CHARACTERS, GUIDED, UNTAGGED, PIECES)

Rivals = Setting[Pair, Method]


def _stacking(folder: Path | None) -> list[Rivals]:
    pair = _sample_pair() if folder is None else _zhuxian(folder)
    return [Setting("zx", "PD to CTB", lambda _seed: pair, STACKING_METHODS)]


def _zhuxian(folder: Path) -> Pair:
    """Zhuxian under the CTB guideline, with the People's Daily as the source."""
    target = read_parts(there(folder / "zh" / "zx"), "ctb")
    source = read_parts(there(folder / "zh" / "pd199801"), "pd").train
    gold = {"dev": target.dev, "test": target.test}
    return Pair("pd to ctb", target.train, source, gold, RECIPE, SCHEDULE, FOLDS)


def _sample_pair() -> Pair:
    train, dev, test = cut(of_sample("ctb.txt", "ctb"), 80, 100, 120)
    gold = {"dev": dev, "test": test}
    return Pair("pd to ctb, sample", train, of_sample("pd.txt", "pd"), gold, RECIPE, Schedule(2), 3)


PARTS: dict[str, Callable[[Path | None], list[Rivals]]] = {"stacking": _stacking}
"""What a command may ask for: Tables 2 and 6."""
