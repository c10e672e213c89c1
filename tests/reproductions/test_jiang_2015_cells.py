"""The models and cells of the reproduction of jiang-2015: they are those of the library, and none is trained twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reproductions.jiang_2015.adaptation import Adaptation, Way
from reproductions.jiang_2015.cells import Cells
from reproductions.jiang_2015.methods import (
    BASELINE,
    FILTERED,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    ROUNDS,
    SOURCE,
    WAYS_BACK,
    in_rounds,
    way_back,
)
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.settings import PARTS, RECIPES
from reproductions.jiang_2015.trainings import Trainings
from reproductions.jiang_2015.words import Words
from reproductions.lab.cache import Cache
from reproductions.lab.words import segmented
from tagweave.learning.run import Iteration, Run
from tagweave.models.storage import load_model
from tagweave.training.chain_system import ChainSystem
from tagweave.training.guided import fit_stages
from tagweave.training.problem import Fitted
from tagweave.training.transform import PredictSelf, fit_iterated, fit_transformed

LEARNERS = tuple(RECIPES)


def sample(learner: str = "perceptron", seed: int = 0) -> Pair:
    """The sample, with a learner."""
    (setting,) = (each for each in PARTS["models"](None) if each.name == f"models-{learner}")
    return setting.draw(seed)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """One cache for all tests that only add to it."""
    return Cache(tmp_path_factory.mktemp("cells"))


def adaptation(pair: Pair, cache: Cache, seed: int = 0) -> Adaptation:
    return Adaptation(pair, Trainings(pair.structure, Run(pair.schedule), seed, cache))


def system(pair: Pair) -> ChainSystem:
    structure = pair.structure.of_seed(0)
    assert isinstance(structure, Words)
    return structure.system(Run(pair.schedule))


def on_test(fitted: Fitted, pair: Pair) -> list[str]:
    return segmented(fitted.model, pair.target.test)


# the models are those of the library


@pytest.mark.parametrize("learner", LEARNERS)
def test_model_1_is_the_guided_model(learner: str, cache: Cache) -> None:
    pair = sample(learner)
    target, source = pair.target, pair.source
    fitted = fit_stages(
        [target.train], [source.train], system(pair).recipe, target.dev, Run(pair.schedule), source_dev=source.dev
    )
    found = adaptation(pair, cache).guided
    assert found.found(target.test) == on_test(fitted, pair)
    assert max(found.course()["history"]) == fitted.outcome.score


@pytest.mark.parametrize("learner", LEARNERS)
def test_model_2_is_the_transformed_model(learner: str, cache: Cache) -> None:
    pair = sample(learner)
    target, source = pair.target, pair.source
    fitted = fit_transformed(system(pair), [target.train], [source.train], target.dev, [source.dev])
    assert adaptation(pair, cache).transformed(Way(1, 0)).found(target.test) == on_test(fitted, pair)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("predict_self", [PredictSelf((0.0,)), PredictSelf((0.4,)), PredictSelf(filter=True)])
def test_rounds_are_those_of_the_library(learner: str, predict_self: PredictSelf, cache: Cache) -> None:
    pair, rounds = sample(learner), 1 if predict_self.filter else 3
    target, source = pair.target, pair.source
    iterated = fit_iterated(
        system(pair), [target.train], [source.train], target.dev, predict_self, rounds, [source.dev]
    )
    found, share = adaptation(pair, cache), predict_self.choices[0]
    for each in iterated.rounds:
        training = found.transformed(Way(each.number, share, predict_self.filter))
        assert found.dev_score(training) == pytest.approx(each.score, abs=1e-12)
    best = found.transformed(Way(iterated.best.number, share, predict_self.filter))
    assert best.found(target.test) == on_test(iterated.model, pair)


def test_the_best_lambda_and_the_best_round_are_those_of_development_data(cache: Cache) -> None:
    found = adaptation(sample(), cache)
    scores = {share: found.dev_score(found.transformed(Way(1, share))) for share in WAYS_BACK}
    assert scores[found.way_back] == max(scores.values())
    rounds = {
        number: found.dev_score(found.transformed(Way(number, found.way_back))) for number in range(1, ROUNDS + 1)
    }
    assert found.best == (max(rounds, key=lambda number: rounds[number]), found.way_back, False)
    assert found.way(MODEL_3) == found.best
    few = adaptation(replace(sample(), ways_back=(0.2, 0.0), rounds=1), cache)
    assert few.best == (1, max((0.2, 0.0), key=lambda share: scores[share]), False)
    assert found.way(in_rounds(3, True)) == (3, found.way_back, False)
    assert found.way(way_back(0.7)) == (1, 0.7, False)


def test_what_did_not_lead_back_is_dropped(cache: Cache) -> None:
    pair = sample()
    found = adaptation(pair, cache)
    marks = found.round(1, 0.0).source.led_back
    assert 0 < sum(marks) < len(marks) == len(pair.source.train)
    result = Cells(cache)(pair, FILTERED, 0)
    assert result["sentences"] == sum(marks)
    assert Cells(cache)(pair, MODEL_2, 0)["sentences"] == len(marks)


# cells


class Counter:
    """Counts the trainings."""

    def __init__(self) -> None:
        self.iterations = 0

    def iteration(self, _iteration: Iteration, _limit: int) -> None:
        self.iterations += 1


def test_methods_share_their_steps(tmp_path: Path) -> None:
    counter = Counter()
    pair, cells = sample(), Cells(Cache(tmp_path), 1, counter)

    def trained(*methods: Any) -> int:
        before = counter.iterations
        for method in methods:
            cells(pair, method, 0)
        assert pair.schedule.iterations
        return (counter.iterations - before) // pair.schedule.iterations

    assert trained(BASELINE, SOURCE, MERGING) == 3
    assert trained(MODEL_1) == 1
    assert trained(MODEL_2) == 3  # both ways, and the final model
    assert trained(in_rounds(1, False), way_back(0.0)) == 0
    assert cells(pair, in_rounds(1, False), 0) == cells(pair, way_back(0.0), 0) == cells(pair, MODEL_2, 0)
    assert trained(way_back(0.5), FILTERED) <= 2
    assert trained(in_rounds(2, False)) == 3
    cells._last = None
    assert trained(BASELINE, SOURCE, MERGING, MODEL_1, MODEL_2, in_rounds(2, False)) == 0


def test_sizes_share_the_source_model(tmp_path: Path) -> None:
    cells, settings = Cells(Cache(tmp_path)), PARTS["sizes"](None)
    sizes = []
    for setting in settings[-2:]:
        pair = setting.draw(0)
        sizes.append(len(pair.target.train))
        cells(pair, MODEL_1, 0)
    assert sizes == [16, 32]
    names = [path.name for path in tmp_path.iterdir()]
    assert len([name for name in names if name.startswith("source-model-course")]) == 1
    assert len([name for name in names if name.endswith(".model") and name.startswith("source-model")]) == 1


def test_a_model_that_is_needed_again_is_trained_again_and_is_the_same(tmp_path: Path) -> None:
    pair = sample()
    first = adaptation(pair, Cache(tmp_path)).baseline
    words = first.found(pair.target.test)
    assert not list(tmp_path.glob("*.model"))
    again = adaptation(pair, Cache(tmp_path)).baseline
    again.keep()
    assert segmented(again.model, pair.target.test) == words
    (file,) = tmp_path.glob("*.model")
    assert segmented(load_model(file), pair.target.test) == words


# decoding


# settings
