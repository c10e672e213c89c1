"""Recipes: plain data that say how a model is fitted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import SILENT
from tagweave.training.fit.recipe import LEARNERS, Recipe, by_words
from tagweave.training.fit.task import TASKS, Task
from tagweave.training.job import Job
from tagweave.training.plan import Plan, Source
from tagweave.training.resolve import job_of


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learner": "adam"}, f"unknown learner 'adam', expected one of {', '.join(LEARNERS)}"),
        ({"learner": "lbfgs", "average_seeds": 2}, "with the learner lbfgs, expected one of adagrad"),
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
def test_a_recipe_can_be_told_and_read_again(task: str) -> None:
    coding = {"tag": "", "spans": "IOB1"}.get(task, "BI")
    recipe = Recipe(Task(task, coding), learner="sgd", settings={"c2": 0.5}, minimum_count=3)
    told = json.loads(json.dumps(recipe.to_json()))
    assert told["task"] == {"name": task, "coding": coding, "gaps": None}
    assert told["templates"] == list(recipe.chosen_templates().texts)
    assert (told["learner"], told["settings"], told["minimum_count"]) == ("sgd", {"c2": 0.5}, 3)


LENGTHS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=3)


def corpora(lengths: list[list[int]]) -> list[Corpus]:
    return [Corpus(tuple(Sentence(("w",) * n) for n in each)) for each in lengths]


@given(LENGTHS, LENGTHS, st.floats(0.1, 5))
def test_targets_are_visited_whole_and_others_by_their_words(
    own: list[list[int]], other: list[list[int]], times: float
) -> None:
    targets, others = corpora(own), corpora(other)
    sample = by_words(targets, others, times)
    assert list(sample[: len(targets)]) == [len(each) for each in own]
    wanted = times * sum(map(sum, own))
    for lengths, size in zip(other, sample[len(targets) :], strict=True):
        mean = sum(lengths) / len(lengths)
        assert 0 <= size <= len(lengths)
        if mean and size < len(lengths):
            assert (size - 1) * mean < wanted + 1e-6 and size * mean >= wanted - 1e-6


@pytest.mark.parametrize(
    ("task", "method", "tokens", "seeds"),
    [
        ("tag", "coupled", 49_999, 3),
        ("tag", "merged", 50_000, 1),
        ("segment", "coupled", 99_999, 3),
        ("segment", "merged", 100_000, 1),
        ("segment", "stacked", 10, 1),
    ],
)
def test_few_tokens_get_three_seeds_where_sources_are_sampled(
    task: str, method: str, tokens: int, seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora = (Source(f"{name}={sample.path(f'{name}.txt')}") for name in ("ctb", "pd"))
    job = job_of(Plan((next(corpora),), tuple(corpora), task=task, method=method), SILENT)
    monkeypatch.setattr(Job, "target_tokens", tokens)
    assert job.average_seeds == seeds
    assert replace(job, plan=replace(job.plan, average_seeds=2)).average_seeds == 2
