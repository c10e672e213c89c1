"""The reproduction of tsuboi-2008: its folds, the cells, scores, and pages of the sample."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.lab.run import run
from reproductions.tsuboi_2008.domain import Domain, split
from reproductions.tsuboi_2008.methods import (
    ARGMAX,
    CURVES,
    EVERYTHING,
    LINES,
    POINTWISE,
    PROPOSED,
    RANDOM,
    SOURCE,
    UNLIKELY,
    Curve,
    Method,
)
from reproductions.tsuboi_2008.scores import scored
from reproductions.tsuboi_2008.settings import PARTS
from reproductions.tsuboi_2008.study import STUDY
from reproductions.tsuboi_2008.trial import Trial
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.score import wilcoxon_test


@pytest.fixture(scope="module")
def domain() -> Domain:
    """The first fold of the sample."""
    return PARTS["chinese"](None)[0].draw(0)


# folds


@given(st.integers(1, 40), st.sampled_from([0.1, 0.5, 0.8]), st.integers(0, 9))
def test_a_split_parts_the_sentences_in_their_order(count: int, share: float, seed: int) -> None:
    corpus = Corpus(tuple(Sentence((str(i),)) for i in range(count)))
    parts = split(corpus, share, seed)
    numbers = [[int(sentence.forms[0]) for sentence in part] for part in parts]
    assert len(numbers[0]) == round(share * count)
    assert sorted(numbers[0] + numbers[1]) == list(range(count))
    assert all(part == sorted(part) for part in numbers)


@pytest.mark.parametrize("part", PARTS)
def test_folds_change_places(part: str) -> None:
    one, other = (setting.draw(0) for setting in PARTS[part](None))
    assert one.asked is other.test
    assert other.asked is one.test
    texts = [{sentence.forms for sentence in corpus} for corpus in one.corpora.values()]
    assert not any(a & b for i, a in enumerate(texts) for b in texts[:i]), "no sentence is in two corpora"


# methods and cells


@pytest.mark.parametrize(("method", "same"), [*((line, line == SOURCE) for line in LINES), (PROPOSED.at(5), False)])
def test_models(method: Method, same: bool, domain: Domain) -> None:
    trial = Trial(domain, 0)
    model = trial.model(method)
    assert (model is trial.base) == same
    assert model.parameters.transitions == (method.treatment != "pointwise")
    words = model.encoder.lexicon.words
    assert words == (tuple(sorted(domain.words)) if method.features else ())


# scores


def test_scores_are_those_of_the_words(domain: Domain) -> None:
    """Gold words score 100, single characters what their counts say."""
    setting = PARTS["chinese"](None)[0]
    gold = [" ".join(str(len(form)) for form in sentence.forms) for sentence in domain.test]
    single = [" ".join("1" for form in sentence.forms for _ in form) for sentence in domain.test]
    outputs = {SOURCE.name: gold, EVERYTHING.name: single}
    setting = replace(setting, draw=lambda _seed: domain, methods=(SOURCE, EVERYTHING))
    found = scored(run("x", [setting], 1, lambda _domain, method, _seed: {"test": outputs[method.name]}))
    assert found[SOURCE.name][0].words.values == [100]
    assert found[SOURCE.name][0].unknown == [100]
    right = sum(len(form) == 1 for sentence in domain.test for form in sentence.forms)
    characters = sum(len(form) for sentence in domain.test for form in sentence.forms)
    expected = 200 * right / (domain.test.tokens() + characters)
    assert found[EVERYTHING.name][0].words.values == [pytest.approx(expected)]


# pages


def test_the_pages_have_the_numbers_of_all_folds(tmp_path: Path) -> None:
    written = list(STUDY(list(PARTS), None, 2, tmp_path / "cache", tmp_path, "python -m reproductions", trials=100))
    assert [page.name for page in written] == [f"tsuboi-2008-{part}.md" for part in PARTS]
    numbers = json.loads((tmp_path / "data" / "tsuboi-2008-chinese.json").read_text("utf-8"))
    page = (tmp_path / "tsuboi-2008-chinese.md").read_text("utf-8")
    assert numbers["sizes"] == [5, 10]
    assert set(numbers["curves"]) == {curve.name for curve in CURVES}
    row = next(line for line in page.splitlines() if line.startswith("| 10 |"))
    assert row == "| 10 | " + " | ".join(f"{points[1]['f']:.2f}" for points in numbers["curves"].values()) + " |"
    for points in numbers["curves"].values():
        for point in points:
            assert np.shape(point["values"]) == (2, 2), "folds, seeds"
            assert point["f"] == pytest.approx(np.mean(point["values"]))
            assert point["questions"] >= point["words"]
    assert "| the paper: A alone | 96.84 | 92.3 |" in page

    def pairs(curve: Curve) -> list[float]:
        return [float(np.mean(fold)) for point in numbers["curves"][curve.name] for fold in point["values"]]

    assert PROPOSED.name not in numbers["against"]
    for curve in (ARGMAX, POINTWISE, RANDOM, UNLIKELY):
        test = numbers["against"][curve.name]
        assert test["wilcoxon"] == wilcoxon_test(pairs(PROPOSED), pairs(curve))
        assert test["difference"] == pytest.approx(np.mean(pairs(PROPOSED)) - np.mean(pairs(curve)))
        assert 0 < test["p"] <= 1
