"""The recipe, the parts of the reproduction, and the corpora and methods of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reproductions.lab.corpora import cut, new_words, of_sample, read_parts, there
from reproductions.lab.run import Setting
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import BASELINE, SHARES, Method, lexicon_share
from tagweave.corpus.corpus import Corpus
from tagweave.features.templates import PRESETS
from tagweave.harvest.lexicon import Lexicon, read
from tagweave.learning.run import Schedule
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

RECIPE = Recipe(Task("segment"), PRESETS["liu-2014"], settings={"rate": 0.05, "batch": 16, "initial": 1e-8})
SCHEDULE = Schedule(3)
"""How everything is trained, chosen on ZX dev: a fixed number of iterations, and no development data."""

RAW_TEXT_METHODS = (BASELINE, *map(lexicon_share, SHARES))
Rivals = Setting[Domain, Method]


def _raw_text(folder: Path | None) -> list[Rivals]:
    return [_setting("raw-text", "Raw sentences of Zhuxian", _novel(folder), RAW_TEXT_METHODS)]


def _setting(name: str, title: str, domain: Domain, methods: tuple[Method, ...]) -> Rivals:
    return Setting(name, f"{title}: {domain.name}", lambda _seed: domain, methods)


def _novel(folder: Path | None) -> Domain:
    """Zhuxian for a segmenter of the People's Daily, with a list of its names."""
    if folder is None:
        train, target = of_sample("pd.txt", "pd"), cut(of_sample("ctb.txt", "ctb"), 80, 100, 120)
        words = new_words(train, target[0])
        return _domain("the sample corpus", train, target, Lexicon(words, (None,) * len(words)), Schedule(2))
    lexicon = read(str(there(folder / "zh" / "lexicons") / "zhuxian-names.txt"))
    train = read_parts(there(folder / "zh" / "pd199801"), "pd").train
    return _domain("zh/pd199801 to zh/zx", train, list(read_parts(there(folder / "zh" / "zx"), "ctb")), lexicon)


def _domain(name: str, train: Corpus, target: list[Corpus], lexicon: Lexicon, schedule: Schedule = SCHEDULE) -> Domain:
    """Of the target's training data the text alone."""
    own, dev, test = target
    raw = tuple("".join(sentence.forms) for sentence in own)
    return Domain(name, train, {"dev": dev, "test": test}, raw, lexicon, RECIPE, schedule)


PARTS: dict[str, Callable[[Path | None], list[Rivals]]] = {
    "raw-text": _raw_text,
}
"""What a command may ask for: Figure 3."""
