"""Recipes: plain data that say how a model is fitted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tagweave.features.templates import PRESETS, USUAL
from tagweave.learning.full_batch import LBFGS
from tagweave.training.recipe import LEARNERS, Recipe
from tagweave.training.task import TASKS, Task


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_by_name(learner: str) -> None:
    assert type(Recipe(learner=learner).trainer()) is LEARNERS[learner]


def test_settings_reach_the_learner() -> None:
    assert Recipe(learner="lbfgs", settings={"c1": 0.5, "memory": 3}).trainer() == LBFGS(c1=0.5, memory=3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learner": "adam"}, f"unknown learner 'adam', expected one of {', '.join(LEARNERS)}"),
        ({"features": "dense"}, "found features='dense', expected 'all' or 'observed'"),
        ({"precision": "float16"}, "unknown precision 'float16', expected 'float32' or 'float64'"),
    ],
)
def test_what_does_not_exist(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**wrong)


def test_features_by_the_number_of_labels() -> None:
    assert [Recipe().dense(labels) for labels in (1, 64, 65, 1000)] == [True, True, False, False]
    assert [Recipe(features=each).dense(labels) for each in ("all", "observed") for labels in (2, 1000)] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("task", TASKS)
def test_a_preset_for_every_task(task: str) -> None:
    assert Recipe(Task(task)).chosen_templates() is PRESETS[USUAL[task]]
    assert Recipe(Task(task), PRESETS["jiang-2015"]).chosen_templates() is PRESETS["jiang-2015"]


@pytest.mark.parametrize("task", TASKS)
def test_a_recipe_can_be_told_and_read_again(task: str) -> None:
    coding = {"tag": "", "spans": "IOB1"}.get(task, "BI")
    recipe = Recipe(Task(task, coding), learner="sgd", settings={"c2": 0.5}, minimum_count=3)
    told = json.loads(json.dumps(recipe.to_json()))
    assert told["task"] == {"name": task, "coding": coding}
    assert told["templates"] == list(recipe.chosen_templates().texts)
    assert (told["learner"], told["settings"], told["minimum_count"]) == ("sgd", {"c2": 0.5}, 3)
