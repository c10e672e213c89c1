"""A search is repeatable, can be killed and goes on, and never chooses a plan that is worse than the given one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from benchmarks import postgresql
from tagweave.corpus import sample
from tagweave.errors import PlanError
from tagweave.training.plan import CorpusReference, TrainingPlan
from tagweave.tuning import search
from tagweave.tuning.search import Tuning
from tagweave.tuning.space import usual_ranges
from tagweave.tuning.study import StudyError, Trial
from tagweave.tuning.training import STEPS

pytest.importorskip("optuna", reason="Optuna is not installed (pip install '.[tune]')")

RANGES = {"rate": "log:0.001:1", "batch": "int:1:16", "weights": "choice:all,observed"}


def tune(plan: TrainingPlan, trials: int = 6, seeds: int = 0, **options: Any) -> Tuning:
    return tw.tune(plan, RANGES, trials, seeds, tell=lambda line: None, **options)


def essence(tuning: Tuning) -> list[Any]:
    return [(each.number, each.values, each.state, each.score, each.curve) for each in tuning.trials]


@pytest.fixture(scope="module")
def whole(plan: TrainingPlan) -> Tuning:
    return tune(plan, 7)


def test_the_plan_itself_is_the_first_trial(whole: Tuning) -> None:
    first = whole.trials[0]
    assert first.is_default
    assert first.values == {"rate": 0.2, "batch": 4, "weights": None}
    assert whole.best.score == max(each.score or 0 for each in whole.trials if each.state == "complete")


def test_the_best_plan_repeats_its_score(plan: TrainingPlan, whole: Tuning, tmp_path: Path) -> None:
    whole.save(tmp_path / "best.json")
    again = tw.tune(tmp_path / "best.json", {"rate": "float:0:1"}, 1, 0, tell=lambda line: None)
    assert again.trials[0].score == whole.best.score


def test_a_killed_search_goes_on_as_if_nothing_had_happened(
    plan: TrainingPlan, whole: Tuning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[int] = []
    carry_out = search.carry_out_trial

    def killed(task: Any) -> Any:
        trained.append(task.number)
        if len(trained) == 4:
            raise KeyboardInterrupt
        return carry_out(task)

    monkeypatch.setattr(search, "carry_out_trial", killed)
    with pytest.raises(KeyboardInterrupt):
        tune(plan, 7, study=tmp_path / "study")
    assert essence(tune(plan, 7, study=tmp_path / "study")) == essence(whole)
    assert len(trained) == 8


def test_a_finished_study_trains_nothing(plan: TrainingPlan, tmp_path: Path) -> None:
    finished: list[Trial] = []
    first = tune(plan, 2, 1, study=tmp_path / "study", finished=finished.append)
    again = tune(plan, 2, 1, study=tmp_path / "study", finished=finished.append)
    assert len(finished) == 2
    assert essence(first) == essence(again)
    assert [each.scores for each in first.finalists] == [each.scores for each in again.finalists]


def test_a_study_in_postgresql_is_continued(plan: TrainingPlan) -> None:
    if (folder := postgresql.programs()) is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with postgresql.running(folder) as url:
        first = tune(plan, 1, study=url)
        assert essence(tune(plan, 2, study=url))[:1] == essence(first)


def test_the_chosen_trial_is_the_best_with_other_seeds(plan: TrainingPlan) -> None:
    tuning = tune(plan, 4, 1)
    assert tuning.finalists[0].trial.is_default
    assert tuning.best == max(tuning.finalists, key=lambda each: each.mean).trial


def test_nothing_is_tried_twice(plan: TrainingPlan, tmp_path: Path) -> None:
    told: list[str] = []
    ranges, study = {"weights": "choice:all,observed", "batch": "int:4:5"}, tmp_path / "study"
    tuning = tw.tune(plan, ranges, 8, 0, study=study, tell=told.append)
    tried = [(each.values["weights"], each.values["batch"]) for each in tuning.trials]
    assert tried[0] == (None, 4)  # the plan
    assert sorted(tried[1:]) == [("all", 4), ("all", 5), ("observed", 4), ("observed", 5)]
    assert "the search space has hardly other values than those of 5 trials: the search ends" in told
    assert essence(tw.tune(plan, ranges, 8, 0, study=study, tell=told.append)) == essence(tuning)


def test_methods_race_once_for_all_trials(plan: TrainingPlan) -> None:
    told: list[str] = []
    ours, other = (CorpusReference(f"{name}={sample.path(f'{name}.txt')}") for name in ("ctb", "pd"))
    dev = replace(ours, path=plan.dev.path if plan.dev else "")
    of_two = replace(plan, target=(ours,), sources=(other,), dev=dev, method=None, options=None)
    tuning = tw.tune(of_two, None, 2, 0, tell=told.append)
    assert sum("methods race" in line for line in told) == 1
    assert tuning.plan.method in ("stacked", "coupled")
    assert tuning.space.ranges.keys() > usual_ranges(plan).keys()  # those of the method, too
    told.clear()
    of_methods = tw.tune(of_two, {"method": "choice:coupled,stacked"}, 3, 0, tell=told.append)
    assert [each.values["method"] for each in of_methods.trials[1:]] in (["coupled", "stacked"], ["stacked", "coupled"])
    with pytest.raises(PlanError, match="unknown name 'rat' in the search"):
        tw.tune(of_two, {"rat": "log:0.01:1"}, 2, 0, tell=told.append)
    assert not any("methods race" in line for line in told)


def test_trials_that_fall_behind_are_pruned() -> None:
    is_behind = search.judge_by([{STEPS + n: 0.9 for n in range(1, 9)}] * 5)
    curve = {STEPS + n: 0.5 for n in range(1, 5)}
    judged = [is_behind(dict(list(curve.items())[:n])) for n in range(1, 5)]
    assert judged == [False, False, True, True]
    assert not search.judge_by([{STEPS + 9: 0.9}] * 4)(curve)


def test_a_trial_that_fails_is_kept_with_its_reason(plan: TrainingPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(task: Any) -> Any:
        if task.number == 1:
            raise ValueError("found nothing")
        return carry_out(task)

    carry_out = search.carry_out_trial
    monkeypatch.setattr(search, "carry_out_trial", failing)
    tuning = tune(plan, 3)
    assert [each.state for each in tuning.trials][:2] == ["complete", "failed"]
    assert tuning.trials[1].problem == "found nothing"
    monkeypatch.setattr(search, "carry_out_trial", lambda task: failing(search.replace(task, number=1)))
    with pytest.raises(ValueError, match="found nothing"):
        tune(plan, 1)


def test_a_plan_without_development_data_is_refused(plan: TrainingPlan) -> None:
    with pytest.raises(PlanError, match="without dev"):
        tune(search.replace(plan, dev=None))


def test_a_study_that_cannot_be_opened_is_named(plan: TrainingPlan, tmp_path: Path) -> None:
    (tmp_path / "study").write_text("no database at all")
    with pytest.raises(StudyError, match="cannot be opened"):
        tune(plan, study=tmp_path / "study")
    with pytest.raises(StudyError) as error:
        tune(plan, study="postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(error.value)


def test_the_result_is_shown_and_drawn(whole: Tuning, tmp_path: Path, capsys: Any) -> None:
    whole.render()
    assert "the plan" in capsys.readouterr().out
    whole.plot(tmp_path / "search.svg")
    assert (tmp_path / "search.svg").read_text().count("<use") > 3 * len(whole.trials)
    assert whole.to_json()["trials"][0]["score"] == whole.trials[0].score
