"""The parts of the experiments, and the corpora of their folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from reproductions.lab.corpora import new_words, of_sample, share_of, there
from reproductions.lab.run import Setting
from reproductions.tsuboi_2008.domain import Domain, split
from reproductions.tsuboi_2008.methods import Method, methods
from tagweave.corpus.load import load
from tagweave.harvest.lexicon import read
from tagweave.learning.run import Schedule

SCHEDULE = Schedule(12, 5)
QUICK = Schedule(3, 2)
SIZES = tuple(range(100, 1001, 100))

_SOURCE_SHARE = 0.145  # of the People's Daily: the 146,000 words that the paper has (Table 2)
_DEV_SHARE = 0.25

Fold = Setting[Domain, Method]


def _chinese(folder: Path | None) -> list[Fold]:
    """Zhuxian for a segmenter of the People's Daily."""
    if folder is None:
        return _sample()
    news, novel = there(folder / "zh" / "pd199801"), there(folder / "zh" / "zx")
    source = share_of(load(f"words={news / 'train.txt'}"), _SOURCE_SHARE, 0)
    dev = share_of(load(f"words={news / 'dev.txt'}"), _DEV_SHARE, 0)
    words = read(str(there(folder / "zh" / "lexicons") / "zhuxian-names.txt")).words
    one, other = split(load(f"words={novel / 'train.txt'}"), 0.5)
    name = "zh/pd199801 to zh/zx"
    domains = [
        Domain(f"{name} {number}", source, dev, asked, test, words, SCHEDULE)
        for number, (asked, test) in enumerate([(one, other), (other, one)], 1)
    ]
    return _folds(domains, SIZES)


def _sample() -> list[Fold]:
    """The sample of one guideline for that of another: the words are those that the source lacks."""
    source, dev = split(of_sample("pd.txt", "words"), 0.8)
    one, other = split(of_sample("ctb.txt", "words"), 0.5)
    words = new_words(source, one, other)
    domains = [
        Domain(f"the sample corpus {number}", source, dev, asked, test, words, QUICK)
        for number, (asked, test) in enumerate([(one, other), (other, one)], 1)
    ]
    return _folds(domains, (5, 10))


def _folds(domains: Sequence[Domain], sizes: Sequence[int]) -> list[Fold]:
    return [
        Setting(f"fold-{number}", f"fold {number}", partial(_drawn, domain), methods(sizes))
        for number, domain in enumerate(domains, 1)
    ]


def _drawn(domain: Domain, _seed: int) -> Domain:
    return domain


PARTS: dict[str, Callable[[Path | None], list[Fold]]] = {"chinese": _chinese}
"""What a command may ask for: Figure 3, for Chinese."""
