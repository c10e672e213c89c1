"""The part `own-words`: a lexicon of the words that the target's few annotated sentences have themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.lab.corpora import cut, new_words, of_sample, read_parts, there
from reproductions.lab.run import Setting
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import (
    BASELINE,
    NEW,
    OWN,
    OWN_CHOSEN,
    OWN_LIGHT,
    RAW,
    UNAMBIGUOUS,
    Method,
    posterior,
)
from reproductions.liu_2014.pages import Pages
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.harvest.lexicon import Lexicon
from tagweave.learning.run import Schedule
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

METHODS = (BASELINE, RAW, OWN, *OWN_LIGHT, OWN_CHOSEN, posterior(OWN), posterior(UNAMBIGUOUS), NEW, posterior(NEW))
RECIPE = Recipe(Task("segment"))
"""The defaults of `tagweave train`, but for a fixed number of iterations."""
SCHEDULE = Schedule(12)
RAW_SENTENCES = 2000
"""At most; they come after the annotated ones."""
SIZES = (
    ("zh/udc", "upos", (200, 1000)),
    ("zh/zx", "ctb", (200, 1000)),
    ("zh/pd199801", "pd", (200,)),
    ("ja/gsd-suw", "upos", (100, 200)),
)
"""A corpus, its layer, and how many annotated sentences there are."""
_JAPANESE_DEV = 107  # sentences: the corpus has no training data, so its development data serve as both


def own_words(folder: Path | None) -> list[Setting[Domain, Method]]:
    """A setting for every corpus and every number of annotated sentences."""
    if folder is None:
        train, dev, test = cut(of_sample("both.tsv", "pd", "pd"), 40, 50, 60)
        return [_setting("the sample corpus", train, {"dev": dev, "test": test}, 20, Schedule(2))]
    corpora = [(name, *_read(folder / name, layer), sizes) for name, layer, sizes in SIZES]
    return [_setting(name, train, gold, size, SCHEDULE) for name, train, gold, sizes in corpora for size in sizes]


def _read(folder: Path, layer: str) -> tuple[Corpus, dict[str, Corpus]]:
    there(folder)
    if any(folder.glob("train.*")):
        train, dev, test = read_parts(folder, layer, "" if layer in ("pd", "ctb") else layer)
        return train, {"dev": dev, "test": test}
    every, test = (load(f"{layer}={folder / part}.conllu#{layer}") for part in ("dev", "test"))
    train, dev = cut(every, len(every) - _JAPANESE_DEV, len(every))
    return train, {"dev": dev, "test": test}


def _setting(
    name: str, every: Corpus, gold: dict[str, Corpus], size: int, schedule: Schedule
) -> Setting[Domain, Method]:
    train, rest = cut(every, size, min(size + RAW_SENTENCES, len(every)))
    kept = rest.with_sentences(_others(rest, train))
    words = new_words(train.with_sentences(()), train)
    lexicon, raw = Lexicon(words, (None,) * len(words)), tuple("".join(sentence.forms) for sentence in kept)
    domain = Domain(f"{name}, {size}", train, gold, raw, lexicon, Pages(), RECIPE, schedule, kept)
    return Setting(
        f"{name.rsplit('/', maxsplit=1)[-1]}-{size}", f"{size:,} sentences of {name}", lambda _seed: domain, METHODS
    )


def _others(rest: Corpus, train: Corpus) -> Iterator[Sentence]:
    """The sentences that the corpus does not have: words found in its own text cost accuracy."""
    known = {"".join(sentence.forms) for sentence in train}
    return (sentence for sentence in rest if "".join(sentence.forms) not in known)
