"""The recipe, the parts of the reproduction, and the corpora and methods of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from reproductions.lab.corpora import cut, new_words, of_sample, read_parts, there
from reproductions.lab.run import Setting
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.held_out import held_out, texts
from reproductions.liu_2014.methods import (
    ALL,
    BASELINE,
    BELIEVED,
    BOTH,
    COLUMNS,
    COMBINED,
    EDGES,
    LEXICON,
    PHRASES,
    RANDOM,
    SELECTED,
    SHARES,
    UNENDED,
    Method,
    lexicon_share,
    natural_share,
    posterior,
)
from reproductions.liu_2014.own_words import own_words
from reproductions.liu_2014.pages import Pages, harvested, raw_text
from tagweave.corpus.corpus import Corpus
from tagweave.features.templates import PRESETS
from tagweave.harvest.lexicon import Lexicon, read
from tagweave.learning.run import Schedule
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

RECIPE = Recipe(Task("segment"), PRESETS["liu-2014"], settings={"rate": 0.05, "batch": 16, "initial": 1e-8})
SCHEDULE = Schedule(3)
"""How everything is trained, chosen on ZX dev: a fixed number of iterations, and no development data."""

SMALL, SMALL_SCHEDULE = 500, Schedule(12)
"""A source of so many sentences, and how a segmenter learns from it."""

LEXICON_METHODS = (BASELINE, COLUMNS, LEXICON, PHRASES, BOTH)
RAW_TEXT_METHODS = (BASELINE, *map(lexicon_share, SHARES))
PAGES_METHODS = (BASELINE, ALL, RANDOM, SELECTED)
NATURAL_METHODS = (
    *PAGES_METHODS,
    *map(natural_share, SHARES[:-1]),
    *(posterior(natural_share(share)) for share in (SHARES[1], SHARES[-1])),
    posterior(SELECTED),
    BELIEVED,
    EDGES,
    UNENDED,
)
SMALL_METHODS = (BASELINE, ALL, posterior(ALL), EDGES)
COMBINED_METHODS = (BASELINE, PHRASES, SELECTED, COMBINED, posterior(PHRASES))

_SAMPLE_PAGES = Path(__file__).with_name("sample")
_NO_WORDS = Lexicon((), ())

Rivals = Setting[Domain, Method]


def _lexicon(folder: Path | None) -> list[Rivals]:
    return [_setting("lexicon", "Zhuxian", _novel(folder), LEXICON_METHODS)]


def _raw_text(folder: Path | None) -> list[Rivals]:
    return [_setting("raw-text", "Raw sentences of Zhuxian", _novel(folder), RAW_TEXT_METHODS)]


def _natural(folder: Path | None) -> list[Rivals]:
    pages = _SAMPLE_PAGES if folder is None else there(folder / "zh" / "markdown")
    own = _page_sentences() if folder is None else held_out(pages)
    natural, novel = harvested(pages, texts(own)), _novel(folder)
    unmarked = raw_text(pages, {*(natural.spans or ()), *texts(own)})
    udc = replace(_encyclopedia(folder, novel), natural=natural)
    udc = replace(udc, gold={**udc.gold, "pages": own})
    itself = replace(novel, name=f"{novel.name}, pages", gold={"test": own}, raw=unmarked, natural=natural)
    return [
        _setting("udc", "Wikipedia (UD Chinese)", udc, NATURAL_METHODS),
        _setting("udc-small", "The same with a small source", _small(udc), SMALL_METHODS),
        _setting("pages", "Sentences of the pages themselves", itself, PAGES_METHODS),
        _setting("zx", "Zhuxian, with lexicon and pages", replace(novel, natural=natural), COMBINED_METHODS),
    ]


def _small(domain: Domain) -> Domain:
    """The domain with the first sentences of its source alone."""
    train = domain.train.with_sentences(domain.train.sentences[:SMALL])
    schedule = SMALL_SCHEDULE if domain.schedule is SCHEDULE else domain.schedule
    return replace(domain, name=f"{domain.name}, {SMALL} sentences", train=train, schedule=schedule)


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


def _encyclopedia(folder: Path | None, novel: Domain) -> Domain:
    """Sentences of Wikipedia as UD Chinese has them, for the same segmenter."""
    if folder is None:
        target = cut(of_sample("both.tsv", "pd", "pd"), 30, 45, 60)
    else:
        target = list(read_parts(there(folder / "zh" / "udc"), "upos", "upos"))
    name = "the sample corpus, more of it" if folder is None else "zh/pd199801 to zh/udc"
    return _domain(name, novel.train, target, _NO_WORDS, novel.schedule)


def _domain(name: str, train: Corpus, target: list[Corpus], lexicon: Lexicon, schedule: Schedule = SCHEDULE) -> Domain:
    """Of the target's training data the text alone."""
    own, dev, test = target
    raw = tuple("".join(sentence.forms) for sentence in own)
    return Domain(name, train, {"dev": dev, "test": test}, raw, lexicon, Pages(), RECIPE, schedule)


def _page_sentences() -> Corpus:
    """What stands for sentences of the pages in the sample, whose own are few."""
    return cut(of_sample("both.tsv", "pd", "pd"), 20)[0]


PARTS: dict[str, Callable[[Path | None], list[Rivals]]] = {
    "lexicon": _lexicon,
    "raw-text": _raw_text,
    "natural": _natural,
    "own-words": own_words,
}
"""What a command may ask for: Table 4; Figure 3; Tables 5 to 7 and Figure 4; a list of the target's own words."""
