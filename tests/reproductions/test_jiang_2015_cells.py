"""The models and cells of the reproduction of jiang-2015: they are those of the library, and none is trained twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reproductions.jiang_2015.adaptation import Adaptation, Way
from reproductions.jiang_2015.methods import (
    MODEL_3,
    ROUNDS,
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
from tagweave.learning.run import Run
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
