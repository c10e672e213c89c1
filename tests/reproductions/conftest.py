"""The pages of each paper, on the sample or on invented trees, from answers that nobody trained for."""

from __future__ import annotations

from typing import Any

import pytest
from result_pages import Cell, Pages, made_up

from reproductions.jiang_2015 import study as of_jiang
from reproductions.jiang_2015.methods import TIMED
from reproductions.jiang_2015.word_lines import of_words
from reproductions.lab.cache import Cache
from reproductions.lab.study import Study
from reproductions.lab.tagged_words import answer
from reproductions.li_2015 import study as of_li
from reproductions.liu_2014 import study as of_liu
from reproductions.sun_wan_2012 import study as of_sun
from tagweave.corpus.corpus import Corpus


def _jiang(pair: Any, method: Any, seed: int) -> dict[str, Any]:
    structure, test = pair.structure, pair.target.test
    if method.kind == "decoding":
        times = {each.name: [0.3 + number + seed, 0.5] for number, each in enumerate(TIMED)}
        return {"seconds": times, structure.unit: structure.length(test)}
    gold = {part: structure.of_corpus(corpus) for part, corpus in pair.gold.items()}
    way = {"round": 1, "way back": seed / 10, "sentences": 20} if method.kind in ("transformed", "best") else {}
    return made_up(gold, method, seed, **way)


def _tags(corpus: Corpus) -> list[str]:
    layers = [sentence.layers[corpus.guideline] for sentence in corpus]
    return [" ".join(candidates[0] for candidates in layer if candidates) for layer in layers]


def _li(pair: Any, method: Any, seed: int) -> dict[str, Any]:
    return made_up({"dev": _tags(pair.target.dev), "test": _tags(pair.target.test)}, method, seed)


def _liu(domain: Any, method: Any, seed: int) -> dict[str, Any]:
    counts = {"sentences": 10 * len(method.partial), "marked": 30 * len(method.partial)}
    return made_up({part: of_words(corpus) for part, corpus in domain.gold.items()}, method, seed, **counts)


def _sun(pair: Any, method: Any, seed: int) -> dict[str, Any]:
    lines = {part: [answer(each, corpus.guideline) for each in corpus] for part, corpus in pair.gold.items()}
    return made_up(lines, method, seed)


PAPERS: dict[str, tuple[Study[Any, Any], Cell]] = {
    "jiang-2015": (of_jiang.STUDY, _jiang),
    "li-2015": (of_li.STUDY, _li),
    "liu-2014": (of_liu.STUDY, _liu),
    "sun-wan-2012": (of_sun.STUDY, _sun),
}


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pages]:
    """The pages of each paper."""
    return {name: Pages(*paper, tmp_path_factory.mktemp(name)) for name, paper in PAPERS.items()}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """One cache for all tests of a module that only add to it."""
    return Cache(tmp_path_factory.mktemp("cells"))
