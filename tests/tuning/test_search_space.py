"""Search spaces: names of all that a plan has, and plans with their values."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tagweave.errors import PlanError
from tagweave.features.templates import PRESETS
from tagweave.training.methods import METHODS
from tagweave.training.methods.coupled import CoupledOptions
from tagweave.training.methods.single import METHOD
from tagweave.training.plan import CorpusReference, TrainingPlan
from tagweave.training.recipe import LEARNERS
from tagweave.tuning.space import Range, Space, read_search, usual_ranges

PLAN = TrainingPlan(
    (CorpusReference("a", guideline="g"),), dev=CorpusReference("d"), method="single", options=METHOD.options()
)
COUPLED = replace(PLAN, sources=(CorpusReference("b", guideline="h"),), method="coupled", options=CoupledOptions())
PARSER = replace(PLAN, task="parse")


def test_values_of_all_kinds_reach_the_plan() -> None:
    ranges = {
        "rate": "log:0.01:1",
        "minimum_count": "int:1:5",
        "mapping": "choice:automatic,complete",
        "templates": "choice:words,li-2015",
        "sources.0.weight": "log:0.1:10",
        "sources.0.sample": {"choice": ["all", 100]},
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
    space = Space.of(replace(PLAN, settings={"rate": 0.3}), {})
    assert (space.own_value("rate"), space.own_value("batch"), space.own_value("weights")) == (0.3, 4, None)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", ["tag", "parse"])
def test_usual_ranges_suit_every_learner_and_method(learner: str, method: str, task: str) -> None:
    if task == "parse" and ("tree" not in METHODS[method].structures or learner == "adamw"):
        return
    encoder = "features+folder" if learner == "adamw" else "features"
    options = METHODS[method].options()
    plan = replace(COUPLED, learner=learner, method=method, options=options, task=task, encoder=encoder)
    assert Space.of(plan, {}).ranges.keys() == usual_ranges(plan).keys()


def test_names_mean_one_thing() -> None:
    settings = {each.name for learner in LEARNERS.values() for each in fields(learner)} - {"seed"}
    options = {each.name for method in METHODS.values() for each in fields(method.options)}
    of_plan = {each.name for each in fields(TrainingPlan)}
    assert not settings & options
    assert not (settings | options) & of_plan


@pytest.mark.parametrize(
    ("plan", "name", "value", "problem"),
    [
        (PLAN, "rat", "log:0.1:1", "unknown name 'rat' in the search, expected one of learner, method, .* rate, batch"),
        (PLAN, "prune", "float:0:1", "unknown name 'prune'"),
        (PLAN, "seed", "int:0:9", "unknown name 'seed'"),
        (PARSER, "minimum_count", "int:1:2", "unknown name 'minimum_count'"),
        (PLAN, "batch", "float:1:2", "found `settings=batch=1.27.*`, expected a whole number from 1"),
        (PLAN, "weights", "choice:all,some", "expected 'all' or 'observed'"),
        (PLAN, "learner", "choice:adagrad,adam", "unknown learner 'adam' in the search, expected one of adagrad"),
        (PLAN, "templates", "choice:words,mine", "unknown preset 'mine'"),
        (COUPLED, "prune", "float:0:2", "found prune 2, expected 0 to 1"),
        (COUPLED, "sources.1.weight", "float:0:2", "unknown name 'sources.1.weight'"),
    ],
)
def test_what_a_plan_cannot_have_is_refused(plan: TrainingPlan, name: str, value: Any, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        Space.of(plan, {name: value})


def test_ranges_are_read_from_texts_and_files(tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    file.write_text(json.dumps({"rate": {"log": [0.1, 1]}, "batch": "int:1:4"}))
    found = read_search([str(file), "batch=int:1:8"])
    assert {name: each.text() for name, each in found.items()} == {"rate": "log:0.1:1", "batch": "int:1:8"}
    file.write_text("[1]")
    with pytest.raises(PlanError, match="expected an object"):
        read_search([str(file)])


READ: list[tuple[str, Any, Any]] = [
    ("log:0.01:1", {"log": [0.01, 1]}, 0.5),
    ("float:0:0.5", {"float": [0, 0.5]}, 0),
    ("int:1:5", {"int": [1, 5]}, 5),
    ("int-log:1:64", {"int-log": [1, 64]}, 64),
    ("choice:all,observed", {"choice": ["all", "observed"]}, "all"),
    ("choice:null,true,2", {"choice": [None, True, 2]}, None),
]


@pytest.mark.parametrize(("text", "values", "inside"), READ)
def test_a_range_is_read_from_text_and_from_json(text: str, values: Any, inside: Any) -> None:
    found = Range.of(text)
    assert found == Range.of(values) == Range.of(found.to_json())
    assert found.text() == text
    assert inside in found
    assert found.value(found.parameter(inside)) == inside


@pytest.mark.parametrize(
    ("text", "outside"),
    [("log:0.01:1", 1.5), ("int:1:5", 2.0), ("int:0:5", True), ("choice:1", True), ("float:0:1", None)],
)
def test_what_a_range_does_not_have(text: str, outside: Any) -> None:
    assert outside not in Range.of(text)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("0.1", "found the range '0.1', expected log:LOW:HIGH"),
        ("lag:1:2", "found a range 'lag', expected log:LOW:HIGH"),
        ("log:0:1", "expected the lower number first above 0"),
        ("int:5:1", "expected the lower number first"),
        ("int:0.5:1", "expected two whole numbers"),
        ("float:1", "expected two numbers"),
        ("float:0:Infinity", "expected two numbers"),
        ("choice:a,a", "expected different values"),
        ({"choice": []}, "expected different values"),
        ({"log": [0.1, 1], "int": [1, 2]}, "expected log:LOW:HIGH"),
        ({"log": "0.1:1"}, "expected log:LOW:HIGH"),
        (7, "found the range 7"),
    ],
)
def test_what_is_no_range_is_refused(value: object, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        Range.of(value)


def test_numbers_have_three_digits_and_stay_inside() -> None:
    found = Range.of("float:0.12345:0.5")
    assert found.value(0.123456) == 0.12345
    assert found.value(0.234567) == 0.235
