"""The models and cells of the reproduction of jiang-2015: they are those of the library, of words and of trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reproductions.jiang_2015 import tree_lines
from reproductions.jiang_2015.adaptation import Adaptation, Way
from reproductions.jiang_2015.cells import Cells
from reproductions.jiang_2015.methods import (
    BASELINE,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    PROBABILITIES,
    ROUNDS,
    SOURCE,
    WAYS_BACK,
    Method,
    in_rounds,
    way_back,
)
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.settings import PARTS
from reproductions.jiang_2015.trainings import Trainings
from reproductions.lab.cache import Cache
from tagweave.learning.run import Run
from tagweave.training.fit import Fitted
from tagweave.training.guided import fit_stages
from tagweave.training.transform import PredictSelf, fit_iterated, fit_transformed


def pair_of(name: str) -> Pair:
    """The sample, or an invented pair of treebanks, by the name of a setting."""
    parts = ("models", "parsing-models", "parsing-perceptron", "parsing-french")
    (setting,) = (each for part in parts for each in PARTS[part](None) if each.name == name)
    return setting.draw(0)


def structure(pair: Pair) -> Any:
    return pair.structure.of_seed(0)


def adaptation(pair: Pair, cache: Cache) -> Adaptation:
    return Adaptation(pair, Trainings(pair.structure, Run(pair.schedule), 0, cache))


def on_test(fitted: Fitted, pair: Pair) -> list[str]:
    return list(structure(pair).found(fitted.model, pair.target.test))


@pytest.mark.parametrize(
    "name", ["models-perceptron", "models-adagrad", "parsing-models-1", "parsing-perceptron", "parsing-french"]
)
def test_model_1_is_the_guided_model(name: str, cache: Cache) -> None:
    pair = pair_of(name)
    target, source, recipe = pair.target, pair.source, structure(pair).recipe
    run = Run(pair.schedule)
    fitted = fit_stages([target.train], [source.train], recipe, target.dev, run, source_dev=source.dev)
    found = adaptation(pair, cache).guided
    assert found.found(target.test) == on_test(fitted, pair)
    assert max(found.course()["history"]) == fitted.outcome.score


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        *((name, shares) for name in ("models-perceptron", "models-adagrad") for shares in ((0.0,), (0.4,), None)),
        *((name, shares) for name in ("parsing-models-0.25", "parsing-perceptron") for shares in ((0.6,), None)),
    ],
)
def test_rounds_are_those_of_the_library(name: str, shares: tuple[float, ...] | None, cache: Cache) -> None:
    """With a share of predict-self features, or with its filter."""
    predict_self = PredictSelf(shares) if shares else PredictSelf(filter=True)
    pair, rounds = pair_of(name), 1 if predict_self.filter else 2
    system, target, source = structure(pair).system(Run(pair.schedule)), pair.target, pair.source
    iterated = fit_iterated(system, [target.train], [source.train], target.dev, predict_self, rounds, [source.dev])
    found, share = adaptation(pair, cache), predict_self.choices[0]
    for each in iterated.rounds:
        training = found.transformed(Way(each.number, share, predict_self.filter))
        assert found.dev_score(training) == pytest.approx(each.score, abs=1e-12)
    best = found.transformed(Way(iterated.best.number, share, predict_self.filter))
    assert best.found(target.test) == on_test(iterated.model, pair)


@pytest.mark.parametrize("method", PROBABILITIES, ids=lambda method: method.name)
def test_probabilities_are_those_of_the_library(method: Method, cache: Cache) -> None:
    pair = pair_of("parsing-models-0.25")
    system, target, source = structure(pair).system(Run(pair.schedule)), pair.target, pair.source
    fitted = fit_transformed(system, [target.train], [source.train], target.dev, [source.dev], method.round)
    found = Cells(cache)(pair, method, 0)
    assert found["test"] == on_test(fitted, pair)
    assert (found["round"], found["way back"], found["sentences"]) == (method.round, 0.0, len(source.train))
    assert max(found["history"]) == fitted.outcome.score


def test_the_best_lambda_and_the_best_round_are_those_of_development_data(cache: Cache) -> None:
    pair = pair_of("models-perceptron")
    found = adaptation(pair, cache)
    scores = {share: found.dev_score(found.transformed(Way(1, share))) for share in WAYS_BACK}
    assert scores[found.way_back] == max(scores.values())
    rounds = {
        number: found.dev_score(found.transformed(Way(number, found.way_back))) for number in range(1, ROUNDS + 1)
    }
    assert found.best == (max(rounds, key=lambda number: rounds[number]), found.way_back, False)
    assert found.way(MODEL_3) == found.best
    few = adaptation(replace(pair, ways_back=(0.2, 0.0), rounds=1), cache)
    assert few.best == (1, max((0.2, 0.0), key=lambda share: scores[share]), False)
    assert found.way(in_rounds(3, True)) == (3, found.way_back, False)
    assert found.way(way_back(0.7)) == (1, 0.7, False)


def test_cells_have_trees_without_text(cache: Cache) -> None:
    pair, cells = pair_of("parsing-models-1"), Cells(cache)
    for method in (BASELINE, SOURCE, MODEL_1, MODEL_2):
        found = cells(pair, method, 0)
        for part, gold in pair.gold.items():
            assert all(set(line) <= set("0123456789 ") for line in found[part])
            assert [len(line.split()) for line in found[part]] == [len(sentence) for sentence in gold]
        assert found["labels"] == 0
        assert len(found["history"]) == pair.schedule.iterations
    words = {form for sentence in pair.target.train for form in sentence.forms}
    for path in cache.folder.glob("*.json"):
        assert not any(f'"{word}' in path.read_text("utf-8") for word in words)


def test_gold_trees_are_not_looked_at(cache: Cache) -> None:
    pair = pair_of("parsing-french")
    text, own = pair.target.test, adaptation(pair, cache)
    flat = tree_lines.with_trees(text, [" ".join(["0"] * len(sentence)) for sentence in text], text.guideline)
    assert own.guided.found(flat) == own.guided.found(text)
    with_source = text.with_sentences(
        replace(a, heads={**a.heads, **b.heads}) for a, b in zip(text, pair.source.test, strict=True)
    )
    assert own.guided.found(with_source) == own.guided.found(text)
