"""A search never loses to the plan, trains nothing twice, goes on after an interrupt, and shares its storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optuna", reason="Optuna is not installed (pip install '.[tune]')")

import optuna

import tagweave as tw
from tagweave.corpus import sample
from tagweave.errors import PlanError
from tagweave.learning.run import Iteration, Run
from tagweave.training.job import Job
from tagweave.training.methods import METHODS
from tagweave.training.plan import Plan, Source
from tagweave.training.resolve import job_of
from tagweave.training.train import train
from tagweave.tuning import search
from tagweave.tuning.search import Tuning

RANGES = {"rate": "log:0.001:1", "batch": "int:1:16", "feature_weights": "choice:all,observed"}
Score = Callable[..., float]


def tune(plan: Plan, trials: int = 6, seeds: int = 0, **options: Any) -> Tuning:
    return tw.tune(plan, RANGES, trials, seeds, **{"tell": lambda line: None, **options})


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Plan]]:
    """The plans of all trainings, which take no time: the score is higher for small rates."""
    plans: list[Plan] = []

    def score(self: object, plan: Plan, trial: object = None) -> float:
        plans.append(plan)
        return 1 - plan.settings.get("rate", 0.2)

    monkeypatch.setattr(search._Trainings, "score", score)
    yield plans


def scored_by(monkeypatch: pytest.MonkeyPatch, score: Score) -> None:
    before = search._Trainings.score
    monkeypatch.setattr(search._Trainings, "score", lambda self, plan, trial=None: score(before, self, plan, trial))


def test_the_best_plan_repeats_the_best_score(plan: Plan) -> None:
    tuning = tune(plan, 3)
    assert [trial.number for trial in tuning.trials] == [0, 1, 2]
    assert tuning.trials[0].params == {"rate": 0.2, "batch": 4}
    assert tuning.best.value == max(trial.value for trial in tuning.trials if trial.state.name == "COMPLETE")
    again = train(job_of(tuning.plan, Run()), compare=False)
    assert again.fitted.outcome.score == tuning.best.value


def test_equal_searches_have_equal_trials(plan: Plan, trained: list[Plan]) -> None:
    first, second = ([trial.params for trial in tune(plan, 12).trials] for _ in range(2))
    assert first == second
    assert len({values["rate"] for values in first}) == 12


def test_an_interrupted_search_goes_on(
    plan: Plan, trained: list[Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Plan] = []

    def interrupted(before: Score, *arguments: Any) -> float:
        begun.append(arguments[1])
        if len(begun) == 1:
            raise KeyboardInterrupt
        return before(*arguments)

    scored_by(monkeypatch, interrupted)
    storage, told = tmp_path / "study", []
    with pytest.raises(KeyboardInterrupt):
        tune(plan, 2, storage=storage)
    tuning = tune(plan, 2, 1, storage=storage)
    assert begun[:2] == [tuning.space.plan] * 2
    assert len(tuning.trials) == 2
    assert len(trained) == 4
    assert tune(plan, 2, 1, storage=storage, tell=told.append).seeds == tuning.seeds
    assert "2 of 2 trials are in the storage already" in told
    assert len(trained) == 4


def test_searches_share_a_storage(
    plan: Plan, trained: list[Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[Tuning] = []

    def beside(before: Score, *arguments: Any) -> float:
        trained.append(arguments[1])
        if len(trained) == 2:
            others.append(tune(plan, 4, storage=tmp_path / "study"))
        return float(len(trained))

    scored_by(monkeypatch, beside)
    tuning = tune(plan, 4, storage=tmp_path / "study")
    assert len(tuning.trials) == len(trained) == 4
    assert len({trial.params["rate"] for trial in tuning.trials}) == 4
    assert len(others[0].trials) == 3  # all but the one that was running
    assert len(tune(replace(plan, iterations=2), 1, storage=tmp_path / "study").trials) == 1


def test_other_seeds_choose_among_the_best(plan: Plan, trained: list[Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    def lucky(before: Score, *arguments: Any) -> float:
        score = before(*arguments)
        return score if arguments[1].seed == plan.seed else 1 - len(arguments[1].settings)

    assert tune(plan, 4, 1).best.value > 0.8
    scored_by(monkeypatch, lucky)
    tuning = tune(plan, 4, 2)
    assert tuning.plan == tuning.space.plan
    assert tuning.gain() == "the plan itself is the best of 4 trials"
    assert [len(scores) for scores in tuning.seeds.values()] == [2] * 4


def test_no_values_are_tried_twice(plan: Plan, trained: list[Plan]) -> None:
    tuning = tw.tune(
        plan, {"feature_weights": "choice:all,observed", "batch": "int:4:5"}, 20, 0, tell=lambda line: None
    )
    assert len(tuning.trials) == len(trained) == 5
    tried = [(trial.params.get("feature_weights"), trial.params["batch"]) for trial in tuning.trials]
    assert tried[0] == (None, 4)  # the plan
    assert sorted(tried[1:]) == [("all", 4), ("all", 5), ("observed", 4), ("observed", 5)]


def test_trials_that_fall_behind_are_pruned(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    iterations: list[int] = []

    def score(self: object, plan: Plan, trial: optuna.Trial | None = None) -> float:
        if trial is None:
            return 0.0
        reports = search._Reports(trial)
        for number in range(1, 6):
            iterations.append(number)
            reports.iteration(Iteration(number, 0.0, 1.0 - trial.number / 100, True, 0.0), 5)
        return 1.0 - trial.number / 100

    monkeypatch.setattr(search._Trainings, "score", score)
    tuning = tune(plan, 8)
    assert [trial.state.name for trial in tuning.trials] == ["COMPLETE"] * 5 + ["PRUNED"] * 3
    assert iterations[-9:] == [1, 2, 3] * 3
    assert tuning.best.number == 1


def test_values_that_do_not_work_are_noted(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: object, plan: Plan, trial: optuna.Trial | None = None) -> float:
        if trial is not None and trial.number == 1:
            raise ValueError("found nothing")
        return 0.5

    monkeypatch.setattr(search._Trainings, "score", failing)
    told: list[str] = []
    tuning = tune(plan, 3, tell=told.append)
    assert [trial.state.name for trial in tuning.trials] == ["COMPLETE", "FAIL", "COMPLETE"]
    assert any("failed: found nothing" in line for line in told)

    def broken(self: object, plan: Plan, trial: optuna.Trial | None = None) -> float:
        raise ValueError("found nothing")

    monkeypatch.setattr(search._Trainings, "score", broken)
    with pytest.raises(ValueError, match="found nothing"):
        tune(plan)


def test_without_development_data_folds_judge(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr(search, "train", lambda job, compare: jobs.append(job) or train(job, compare))
    told: list[str] = []
    tuning = tune(replace(plan, dev=None), 1, tell=told.append)
    assert "no development data: the score of a trial is the mean of 5 folds of TRAIN" in told
    assert 0.2 < tuning.trials[0].value < 1
    [whole] = job_of(plan, Run()).data.targets
    assert sorted(sentence.forms for job in jobs for sentence in job.dev) == sorted(each.forms for each in whole)
    for job in jobs:
        assert len(job.data.targets[0]) + len(job.dev) == len(whole)
        assert not {id(sentence) for sentence in job.dev} & {id(sentence) for sentence in job.data.targets[0]}
    few = Path(plan.target[0].path).with_name("few.txt")
    few.write_text("我_PN 爱_VV 你_PN\n" * 4, "utf-8")
    with pytest.raises(PlanError, match="or at least 5 sentences"):
        tune(Plan((Source(str(few)),)))


def test_methods_race_once_for_all_trials(plan: Plan, trained: list[Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    races: list[Job] = []
    monkeypatch.setattr(search, "decided", lambda job: races.append(job) or job.with_method(METHODS["coupled"]))
    ctb, pd = (Source(f"{name}={sample.path(f'{name}.txt')}") for name in ("ctb", "pd"))
    of_two = replace(
        plan, target=(ctb,), sources=(pd,), dev=replace(ctb, path=plan.dev.path), method=None, options=None
    )
    tuning = tw.tune(of_two, None, 2, 0, tell=lambda line: None)
    assert len(races) == 1
    assert tuning.plan.method == "coupled"
    assert tuning.space.ranges.keys() > {"rate", "views", "sources.0.weight"}
    of_methods = tw.tune(of_two, {"method": "choice:coupled,stacked"}, 6, 0, tell=lambda line: None)
    assert {trial.params.get("method") for trial in of_methods.trials[1:]} == {"coupled", "stacked"}
    with pytest.raises(PlanError, match="unknown name 'rat' in the search"):
        tw.tune(of_two, {"rat": "log:0.01:1"}, 2, 0, tell=lambda line: None)
    assert len(races) == 1


def test_a_storage_that_cannot_be_opened_is_named(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study").write_text("no database at all")
    with pytest.raises(PlanError, match="study, which cannot be opened"):
        tune(plan, storage=tmp_path / "study")
    with pytest.raises(PlanError) as error:
        tune(plan, storage="postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(error.value)
    assert "connection" in str(error.value)
    with pytest.raises(PlanError, match="0 trials"):
        tune(plan, 0)


def test_the_result_is_shown(plan: Plan, trained: list[Plan], capsys: Any) -> None:
    tuning = tune(plan, 30, 1)
    tuning.render()
    shown = capsys.readouterr().out
    assert "the plan" in shown
    assert "chosen" in shown
    assert shown.count("\n") < 30
    assert tuning.gain().startswith(f"trial {tuning.best.number} is the best of 30 trials: score 0.8000 -> 0.9")
    assert tuning.to_json()["trials"][0]["score"] == 0.8
