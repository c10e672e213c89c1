"""Search spaces: names of all that a plan has, and plans with their values."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest

pytest.importorskip("optuna", reason="Optuna is not installed (pip install '.[tune]')")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from tagweave.errors import PlanError
from tagweave.features.templates import PRESETS
from tagweave.training.fit.recipe import LEARNERS
from tagweave.training.methods import METHODS
from tagweave.training.methods.coupled import CoupledOptions
from tagweave.training.plan import Plan, ResolvedPlan, Source
from tagweave.tuning.space import Space, distribution, usual_ranges

PLAN = ResolvedPlan(
    (Source("a", guideline="g"),),
    dev=Source("d"),
    task="tag",
    method="single",
    options=METHODS["single"].options(),
)
COUPLED = replace(PLAN, sources=(Source("b", guideline="h"),), method="coupled", options=CoupledOptions())
PARSER = replace(PLAN, task="parse")


def test_values_of_all_kinds_reach_the_plan() -> None:
    ranges = {
        "rate": "log:0.01:1",
        "minimum_count": "int:1:5",
        "mapping": "choice:automatic,complete",
        "templates": "choice:words,li-2015",
        "sources.0.weight": "log:0.1:10",
        "sources.0.sample": "choice:all,100",
    }
    space = Space.of(COUPLED, ranges)
    values = {"rate": 0.3, "minimum_count": 2, "mapping": "complete", "templates": "li-2015"}
    plan = space.with_values({**values, "sources.0.weight": 2.5, "sources.0.sample": 100})
    assert plan.settings == {"rate": 0.3}
    assert plan.minimum_count == 2
    assert plan.options == CoupledOptions(mapping=("complete",))
    assert plan.templates == PRESETS["li-2015"].texts
    assert (plan.sources[0].weight, plan.sources[0].sample) == (2.5, 100)
    assert plan.target == COUPLED.target


def test_another_learner_has_its_own_settings() -> None:
    plan = replace(PLAN, settings={"rate": 0.3})
    space = Space.of(plan, {"c2": "log:0.1:10", "batch": "int:1:8", "learner": "choice:adagrad,lbfgs"})
    assert next(iter(space.ranges)) == "learner"
    assert [space.applies("c2", {"learner": name}) for name in ("adagrad", "lbfgs")] == [False, True]
    assert space.with_values({"learner": "adagrad", "batch": 2}).settings == {"rate": 0.3, "batch": 2}
    assert space.with_values({"learner": "lbfgs", "c2": 0.5}).settings == {"c2": 0.5}


def test_another_method_has_its_own_options() -> None:
    space = Space.of(COUPLED, {"method": "choice:coupled,stacked", "rounds": "int:1:2", "views": "choice:both,joint"})
    plan = space.with_values({"method": "stacked", "rounds": 2})
    assert (plan.method, plan.options.rounds) == ("stacked", 2)
    assert not space.applies("views", {"method": "stacked"})


def test_a_plan_knows_its_own_values() -> None:
    space = Space.of(replace(PLAN, settings={"rate": 0.3}), {"c": "log:0.01:1", "learner": "choice:adagrad,pa"})
    assert space.plan_values() == {"learner": "adagrad"}
    ranges = {
        "rate": "log:0.1:1",
        "batch": "int:5:8",
        "initial": "log:0.001:10",
        "feature_weights": "choice:all,observed",
    }
    assert Space.of(replace(PLAN, settings={"rate": 0.3}), ranges).plan_values() == {"rate": 0.3, "initial": 0.1}


def test_usual_ranges_suit_every_learner_and_method() -> None:
    cases = [(learner, "single", task) for learner in LEARNERS for task in ("tag", "parse")]
    cases += [("adagrad", method, task) for method in METHODS for task in ("tag", "parse")]
    for learner, method, task in cases:
        if task == "parse" and ("tree" not in METHODS[method].structures or learner == "adamw"):
            continue
        encoder = "folder" if learner == "adamw" else "features"
        options = METHODS[method].options()
        plan = replace(COUPLED, learner=learner, method=method, options=options, task=task, encoder=encoder)
        assert Space.of(plan, {}).ranges.keys() == usual_ranges(plan).keys()


def test_names_mean_one_thing() -> None:
    settings = {each.name for learner in LEARNERS.values() for each in fields(learner)} - {"seed"}
    options = {each.name for method in METHODS.values() for each in fields(method.options)}
    of_plan = {each.name for each in fields(Plan)}
    assert not settings & options
    assert not (settings | options) & of_plan


def test_what_a_plan_cannot_have_is_refused() -> None:
    for plan, name, value, problem in (
        (PLAN, "rat", "log:0.1:1", "unknown name 'rat' in the search, expected one of learner, method, .* rate, batch"),
        (PLAN, "narrow", "float:0:1", "unknown name 'narrow'"),
        (PLAN, "seed", "int:0:9", "unknown name 'seed'"),
        (PARSER, "minimum_count", "int:1:2", "unknown name 'minimum_count'"),
        (PLAN, "batch", "float:1:2", "found `settings=batch=1.0`, expected a whole number from 1"),
        (PLAN, "feature_weights", "choice:all,some", "unknown feature_weights 'some', expected one of all"),
        (PLAN, "learner", "choice:adagrad,adam", "unknown learner 'adam' in the search, expected one of adagrad"),
        (PLAN, "learner", "int:1:2", "unknown learner 1 in the search"),
        (PLAN, "templates", "choice:words,mine", "unknown preset 'mine'"),
        (COUPLED, "narrow", "float:0:2", "found `narrow=2.0`, expected a number from 0 to 1"),
        (COUPLED, "sources.1.weight", "float:0:2", "unknown name 'sources.1.weight'"),
    ):
        with pytest.raises(PlanError, match=problem):
            Space.of(plan, {name: value})


def test_a_range_is_read_from_text() -> None:
    for text, expected in (
        ("log:0.01:1", FloatDistribution(0.01, 1, log=True)),
        ("float:0:0.5", FloatDistribution(0, 0.5)),
        ("int:1:5", IntDistribution(1, 5)),
        ("int-log:1:64", IntDistribution(1, 64, log=True)),
        ("choice:all,observed", CategoricalDistribution(["all", "observed"])),
        ("choice:null,true,2", CategoricalDistribution([None, True, 2])),
    ):
        assert distribution(text) == distribution(expected) == expected


def test_what_is_no_range_is_refused() -> None:
    for value, problem in (
        ("0.1", "found the range '0.1', expected log:LOW:HIGH"),
        ("lag:1:2", "found the range 'lag:1:2', expected log:LOW:HIGH"),
        ("log:0:1", "found the range 'log:0:1' .*, expected log:LOW:HIGH"),
        ("int:5:1", "found the range 'int:5:1' .*, expected log:LOW:HIGH"),
        ("int:0.5:1", "found the range 'int:0.5:1' .*, expected log:LOW:HIGH"),
        ("float:1", "found the range 'float:1' .*, expected log:LOW:HIGH"),
        ("float:0:Infinity", "found the range 'float:0:Infinity', expected log:LOW:HIGH"),
        ({"choice": []}, "expected log:LOW:HIGH"),
        (7, "found the range 7"),
        (math.nan, "found the range nan"),
    ):
        with pytest.raises(PlanError, match=problem):
            distribution(value)
