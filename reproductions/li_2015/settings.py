"""The parts of the reproduction, and the corpora and methods of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from reproductions.lab.corpora import Parts, cut, of_sample, read_parts, share_of, there
from reproductions.lab.run import Setting
from reproductions.li_2015.methods import (
    AVERAGED,
    AVERAGED_CONVERTED,
    BASELINE,
    CERTAIN,
    COMPLETE,
    CONVERTED,
    COUPLED,
    FEW_SOURCES,
    GUIDED,
    JOINT,
    LIKELIHOOD,
    MANY_SOURCES,
    MERGED,
    NARROWED,
    NARROWED_CONVERTED,
    NARROWED_SEPARATE,
    POSTERIOR,
    PRUNED,
    PRUNED_COMPLETE,
    RELAXED,
    SEPARATE,
    TIGHT,
    TWO_STAGE,
    TWO_STAGE_AVERAGED,
    Method,
)
from reproductions.li_2015.pair import Pair, halves, retagged
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Schedule

SCHEDULE = Schedule(30, 5)
QUICK = Schedule(3, 2)
SOURCES = 5000  # M': sentences of the source corpus that an iteration visits, the paper's choice (5.1)
_PARAGRAPHS = 1500  # M' where the source corpus has paragraphs: about as many words as the target corpus, as in 5.1
_FEW = 2000  # N' of a target corpus that is smaller than that: each sentence comes several times

FIVE = (BASELINE, MERGED, TWO_STAGE, COUPLED, CONVERTED)
TAGGING = (*FIVE, TIGHT, RELAXED, SEPARATE, JOINT)
MAPPINGS = (BASELINE, TIGHT, RELAXED, COUPLED, PRUNED, COMPLETE, PRUNED_COMPLETE)
WEIGHTING = (BASELINE, FEW_SOURCES, COUPLED, MANY_SOURCES)
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
BELIEF = (BASELINE, COUPLED, CERTAIN, CONVERTED, LIKELIHOOD, POSTERIOR)
CONVERSION = (BASELINE, TWO_STAGE, COUPLED, COMPLETE)


Rivals = Setting[Pair, Method]


def settings(part: str, folder: Path | None) -> list[Rivals]:
    """The settings of a part of `PARTS`, on the corpora of a folder or, without one, on the bundled sample.

    Raises:
        CorpusError: a corpus is not there, or not what it should be.
        OSError: a file cannot be read.
    """
    return PARTS[part](folder)


def _tagging(folder: Path | None) -> list[Rivals]:
    pair = _chinese(folder)
    return [Setting("tagging", f"Tagging: {pair.name}", lambda _seed: pair, TAGGING)]


def _mappings(folder: Path | None) -> list[Rivals]:
    pair = _chinese(folder)
    return [Setting("mappings", f"Mapping functions: {pair.name}", lambda _seed: pair, MAPPINGS)]


def _weighting(folder: Path | None) -> list[Rivals]:
    pair = _chinese(folder)
    return [
        Setting("weighting", f"Sentences of the source corpus an iteration: {pair.name}", lambda _: pair, WEIGHTING)
    ]


def _narrowing(folder: Path | None) -> list[Rivals]:
    pair = _chinese(folder)
    return [Setting("narrowing", f"Narrowing: {pair.name}", lambda _: pair, NARROWING)]


def _belief(folder: Path | None) -> list[Rivals]:
    pair = _chinese(folder)
    return [Setting("belief", f"How far to believe a conversion: {pair.name}", lambda _: pair, BELIEF)]


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


def _english(folder: Path | None) -> list[Rivals]:
    pair = _chinese(None) if folder is None else _brown_to_wsj(folder)
    titles = {0.1: f"A random tenth of the target corpus: {pair.name}", 1.0: f"The whole target corpus: {pair.name}"}
    return [
        Setting(f"english-{round(100 * share)}", title, partial(_with_share, pair, share), (*FIVE, NARROWED))
        for share, title in titles.items()
    ]


def _with_share(pair: Pair, share: float, seed: int) -> Pair:
    train = share_of(pair.target.train, share, seed)
    sample = (max(len(train), min(_FEW, len(pair.target.train))), pair.sample[1])
    return replace(pair, name=f"{pair.name} {share:.0%}", target=replace(pair.target, train=train), sample=sample)


def _brown_to_wsj(folder: Path) -> Pair:
    target = read_parts(there(folder / "en" / "wsj"), "ptb")
    source = Parts(*map(simplified, read_parts(there(folder / "en" / "brown"), "brown")))
    return Pair("en/brown to en/wsj", target, source, (len(target.train), SOURCES), SCHEDULE)


def simplified(brown: Corpus) -> Corpus:
    """Brown tags without the marks of titles, headlines, cited words and foreign words.

    They say where a word stands, not what it is, and multiply the tags.
    """
    tags = {tag for s in brown for candidates in s.layers[brown.guideline] for tag in candidates or ()}
    return retagged(brown, {tag: re.sub(r"(?<=.)(-(tl|hl|nc))+$", "", tag.removeprefix("fw-")) for tag in tags})


def _conversion(folder: Path | None) -> list[Rivals]:
    sides = ("ctb", "pd") if folder is None else ("upos", "xpos")
    read = {side: _both(folder, side) for side in sides}
    return [
        Setting(
            f"{a}-to-{b}",
            f"{a.upper()} to {b.upper()}: {_name(folder)}",
            _halved(read[b], a, b, folder),
            CONVERSION,
        )
        for a, b in (sides, sides[::-1])
    ]


def _both(folder: Path | None, side: str) -> Parts:
    """Corpora with both layers, one of them their own."""
    if folder is None:
        return Parts(*cut(of_sample("both.tsv", side, side), 40, 50, 60))
    return read_parts(there(folder / "zh" / "udc"), side, side)


def _name(folder: Path | None) -> str:
    return "the sample corpus" if folder is None else "zh/udc"


def _halved(parts: Parts, given: str, wanted: str, folder: Path | None) -> Callable[[int], Pair]:
    """Half of the training sentences keep the one layer only, half the other."""

    def draw(seed: int) -> Pair:
        target, source = halves(parts.train, wanted, given, seed)
        other = replace(parts.dev, guideline=given)
        name = f"{_name(folder)}, {given} to {wanted}"
        schedule = QUICK if folder is None else SCHEDULE
        return Pair(name, replace(parts, train=target), Parts(source, other, other), (), schedule)

    return draw


PARTS: dict[str, Callable[[Path | None], list[Rivals]]] = {
    "tagging": _tagging,
    "mappings": _mappings,
    "weighting": _weighting,
    "narrowing": _narrowing,
    "english": _english,
    "belief": _belief,
    "conversion": _conversion,
}
"""What a command may ask for: Tables 3, 4 and 6; Figures 3 and 4; narrowed; the same in English; Table 5."""
