"""The recipe, the parts of the reproduction, and the corpora and methods of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

from reproductions.lab.corpora import cut, of_sample, read_parts, there
from reproductions.lab.run import Setting
from reproductions.lab.twice import Twice
from reproductions.sun_wan_2012.methods import (
    AGAIN,
    CHARACTERS,
    CHARACTERS_LIKE,
    GUIDED,
    GUIDED_GIVEN,
    PIECES,
    PIECES_GIVEN,
    PIECES_LIKE,
    SOURCE_SHARES,
    TARGET_SHARES,
    UNTAGGED,
    Method,
    sampled,
    with_source,
    with_target,
)
from reproductions.sun_wan_2012.pair import Pair
from reproductions.sun_wan_2012.parallel import halves, read_twice
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Schedule
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

RECIPE = Recipe(Task("segtag", "BI"), PRESETS["sun-wan-2012"], settings={"batch": 16, "initial": 1e-8}, features="all")
SCHEDULE = Schedule(6)
"""How everything is trained, chosen on ZX dev: a fixed number of iterations, and no development data."""
SMALL_SCHEDULE = Schedule(10)
"""For corpora of some hundred sentences."""
FOLDS = 10
FEWER_FOLDS = 5
"""Where the source is trained on, in the part with the most of such rows."""
_SHORT, _LONG = ("gsd-suw", "suw"), ("gsd-luw", "luw")

STACKING_METHODS = (CHARACTERS, GUIDED, UNTAGGED, PIECES)
RETRAINING_METHODS = (CHARACTERS, PIECES, *AGAIN, *map(sampled, AGAIN))
LIKENESS_METHODS = (CHARACTERS, PIECES, *CHARACTERS_LIKE, PIECES_LIKE)
CURVE_METHODS = (
    CHARACTERS,
    *(with_source(method, share) for share, method in product(SOURCE_SHARES, (GUIDED, PIECES))),
    *(with_target(method, share) for share, method in product(TARGET_SHARES, (CHARACTERS, GUIDED, PIECES))),
)
GIVEN_METHODS = (CHARACTERS, GUIDED, PIECES, GUIDED_GIVEN, PIECES_GIVEN)

Rivals = Setting[Pair, Method]


def _chinese(methods: tuple[Method, ...], large_folds: int = FOLDS) -> Callable[[Path | None], list[Rivals]]:
    def settings(folder: Path | None) -> list[Rivals]:
        pair = _sample_pair() if folder is None else replace(_zhuxian(folder), large_folds=large_folds)
        return [Setting("zx", "PD to CTB", lambda _seed: pair, methods)]

    return settings


@cache  # the parts share what is read
def _zhuxian(folder: Path) -> Pair:
    """Zhuxian under the CTB guideline, with the People's Daily as the source."""
    target = read_parts(there(folder / "zh" / "zx"), "ctb")
    source = read_parts(there(folder / "zh" / "pd199801"), "pd").train
    gold = {"dev": target.dev, "test": target.test}
    return Pair("pd to ctb", target.train, source, gold, RECIPE, SCHEDULE, FOLDS, FOLDS)


def _sample_pair() -> Pair:
    train, dev, test = cut(of_sample("ctb.txt", "ctb"), 80, 100, 120)
    gold = {"dev": dev, "test": test}
    return Pair("pd to ctb, sample", train, of_sample("pd.txt", "pd"), gold, RECIPE, Schedule(2), 3, 3)


def _given(folder: Path | None) -> list[Rivals]:
    if folder is None:
        (train, test), schedule, folds = _sample_twice(), Schedule(2), 3
    else:
        train, test = (read_twice(there(folder / "ja"), _SHORT, _LONG, part) for part in ("dev", "test"))
        schedule, folds = SMALL_SCHEDULE, FOLDS
    directions = (("second", train, test), ("first", train.reverse, test.reverse))
    return [_direction(name, before, after, schedule, folds) for name, before, after in directions]


def _direction(name: str, train: Twice, test: Twice, schedule: Schedule, folds: int) -> Rivals:
    title = f"{test.first.guideline} to {test.second.guideline}"
    return Setting(name, title, lambda seed: halves(train, test, seed, RECIPE, schedule, folds), GIVEN_METHODS)


def _sample_twice() -> Iterator[Twice]:
    parts = (cut(of_sample("both.tsv", name, name), 40, 60) for name in ("pd", "ctb"))
    return (Twice.of(first, second) for first, second in zip(*parts, strict=True))


PARTS: dict[str, Callable[[Path | None], list[Rivals]]] = {
    "stacking": _chinese(STACKING_METHODS),
    "learning-curve": _chinese(CURVE_METHODS),
    "gold": _given,
    "retraining": _chinese(RETRAINING_METHODS),
    "likeness": _chinese(LIKENESS_METHODS, FEWER_FOLDS),
}
"""What a command may ask for: Table 2; Table 3; Table 4; Tables 5 and 6; a choice of the relabelled source."""
