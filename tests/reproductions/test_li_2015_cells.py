"""Training runs of the reproduction of li-2015: what each keeps, what it needs of others, and how they are scored."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from reproductions.lab.cache import Cache
from reproductions.li_2015.cells import Cell, shown, tags_of
from reproductions.li_2015.methods import (
    BASELINE,
    CONVERTED,
    COUPLED,
    GUIDED,
    MERGED,
    NARROWED,
    TWO_STAGE,
    Method,
)
from reproductions.li_2015.pair import Pair
from reproductions.li_2015.settings import settings
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Schedule


@pytest.fixture(scope="module")
def tagging() -> Pair:
    """The sample for tagging: CTB from PD."""
    return settings("tagging", None)[0].draw(0)


@pytest.fixture(scope="module")
def conversion() -> Pair:
    """The sample for conversion: PD from CTB."""
    return settings("conversion", None)[0].draw(0)


def share_right(corpus: Corpus, lines: list[str]) -> float:
    gold = [candidates[0] for sentence in corpus for candidates in sentence.layers[corpus.guideline] if candidates]
    return float(np.mean([a == b for a, b in zip(gold, " ".join(lines).split(" "), strict=True)]))


# cells


@pytest.mark.parametrize("method", [BASELINE, MERGED, TWO_STAGE, COUPLED, CONVERTED], ids=lambda method: method.name)
def test_every_system_learns_and_keeps_its_output(method: Method, tagging: Pair, cache: Cache) -> None:
    result = Cell(tagging, method, 0, cache).result()
    for name, corpus in (("dev", tagging.target.dev), ("test", tagging.target.test)):
        assert [len(line.split(" ")) for line in result[name]] == [len(sentence) for sentence in corpus]
    assert len(result["history"]) <= 3
    assert result["score"] == max(result["history"])
    assert result["score"] == pytest.approx(share_right(tagging.target.dev, result["dev"]))
    assert share_right(tagging.target.test, result["test"]) > (0.4 if method == MERGED else 0.7)
    assert result["labels"] > 30
    assert result["weights"] > 1000


def test_what_a_result_depends_on(tagging: Pair, cache: Cache) -> None:
    shorter = replace(tagging.target, train=tagging.target.train.with_sentences(tagging.target.train.sentences[:9]))
    changed = [
        Cell(tagging, BASELINE, 0, cache),
        Cell(tagging, COUPLED, 0, cache),
        Cell(tagging, replace(COUPLED, joint=False), 0, cache),
        Cell(tagging, BASELINE, 1, cache),
        Cell(replace(tagging, target=shorter), BASELINE, 0, cache),
        Cell(replace(tagging, schedule=Schedule(4, 2)), BASELINE, 0, cache),
        Cell(replace(tagging, sample=(80, 7)), BASELINE, 0, cache),
    ]
    assert len({cache.path("x", cell.description()) for cell in changed}) == len(changed)


def test_the_converted_corpus_is_what_the_coupled_model_says(tagging: Pair, cache: Cache) -> None:
    converted = Cell(tagging, CONVERTED, 0, cache).converted()
    assert converted.guideline == "ctb"
    assert [s.forms for s in converted] == [s.forms for s in tagging.source.train]
    assert all(tuple(s.layers) == ("ctb",) for s in converted)
    assert all(0 < doubtful <= 1 for s in converted for doubtful in s.confidence or (0,))
    met = Counter(
        (ctb, pd)
        for ours, theirs in zip(converted, tagging.source.train, strict=True)
        for (ctb,), (pd,) in zip(ours.layers["ctb"], theirs.layers["pd"], strict=True)
    )
    (mapping,) = Cell(tagging, COUPLED, 0, cache).coupling().mappings
    ours, theirs = (set(names) for names in zip(*mapping.pairs, strict=True))
    named = {(ctb, pd) for ctb, pd in met if ctb in ours and pd in theirs}  # others may meet any tag
    assert named <= mapping.pairs, "what is given is a hard constraint"
    assert met["PU", "w"] > 100


def test_a_share_of_the_two_stage_tagger_is_taken_where_it_is_better_on_dev(tagging: Pair, cache: Cache) -> None:
    alone, shared = (Cell(tagging, method, 0, cache).result() for method in (NARROWED, GUIDED))
    assert shared["history"] == alone["history"]
    assert shared["score"] >= alone["score"]
    assert shared["score"] == pytest.approx(share_right(tagging.target.dev, shared["dev"]))


# conversion


def test_what_is_given_is_shown_and_the_answer_is_not(conversion: Pair) -> None:
    test = conversion.target.test
    seen = shown(test, "ctb", tags_of(conversion.source.train))
    assert all(tuple(sentence.layers) == ("ctb",) for sentence in seen)
    unknown = tags_of(replace(test, guideline="ctb")) - tags_of(conversion.source.train)
    for ours, theirs in zip(seen, test, strict=True):
        for found, (tag,) in zip(ours.layers["ctb"], theirs.layers["ctb"], strict=True):
            assert found == (None if tag in unknown else (tag,))
