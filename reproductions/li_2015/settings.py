"""The parts of the reproduction, and the corpora and methods of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reproductions.lab.corpora import Parts, cut, of_sample, read_parts, there
from reproductions.lab.run import Setting
from reproductions.li_2015.methods import (
    AVERAGED,
    AVERAGED_CONVERTED,
    BASELINE,
    CONVERTED,
    COUPLED,
    GUIDED,
    JOINT,
    MERGED,
    NARROWED,
    NARROWED_CONVERTED,
    NARROWED_SEPARATE,
    RELAXED,
    SEPARATE,
    TIGHT,
    TWO_STAGE,
    TWO_STAGE_AVERAGED,
    Method,
)
from reproductions.li_2015.pair import Pair
from tagweave.learning.run import Schedule

SCHEDULE = Schedule(30, 5)
QUICK = Schedule(3, 2)
_PARAGRAPHS = 1500  # M' where the source corpus has paragraphs: about as many words as the target corpus, as in 5.1

TAGGING = (BASELINE, MERGED, TWO_STAGE, COUPLED, CONVERTED, TIGHT, RELAXED, SEPARATE, JOINT)
NARROWING = (
    BASELINE,
    TWO_STAGE,
    COUPLED,
    NARROWED,
    NARROWED_SEPARATE,
    GUIDED,
    TWO_STAGE_AVERAGED,
    AVERAGED,
    NARROWED_CONVERTED,
    AVERAGED_CONVERTED,
)

Rivals = Setting[Pair, Method]


def _tagging(folder: Path | None) -> list[Rivals]:
    pair = _chinese(folder)
    return [Setting("tagging", f"Tagging: {pair.name}", lambda _seed: pair, TAGGING)]


def _narrowing(folder: Path | None) -> list[Rivals]:
    pair = _chinese(folder)
    return [Setting("narrowing", f"Narrowing: {pair.name}", lambda _: pair, NARROWING)]


def _chinese(folder: Path | None) -> Pair:
    """CTB tags for Zhuxian, from PD tags for the People's Daily."""
    if folder is None:
        target = Parts(*cut(of_sample("ctb.txt", "ctb"), 80, 100, 120))
        source = Parts(*cut(of_sample("pd.txt", "pd"), 100, 120, 120))
        return Pair("the sample corpus, PD to CTB", target, source, (80, 60), QUICK)
    target, source = (
        read_parts(there(folder / "zh" / "zx"), "ctb"),
        read_parts(there(folder / "zh" / "pd199801"), "pd"),
    )
    return Pair("zh/pd199801 to zh/zx", target, source, (len(target.train), _PARAGRAPHS), SCHEDULE)


PARTS: dict[str, Callable[[Path | None], list[Rivals]]] = {
    "tagging": _tagging,
    "narrowing": _narrowing,
}
"""What a command may ask for: Tables 3, 4 and 6; the same, narrowed."""
