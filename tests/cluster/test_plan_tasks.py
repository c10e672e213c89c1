"""Trainings as tasks: the same model wherever they run, also where the files of the plan are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tagweave as tw
from tagweave.cluster.executor import IN_PROCESS, Executor
from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus import sample
from tagweave.front.training import resolve
from tagweave.training.plan import CorpusReference, TrainingPlan, with_names
from tagweave.training.plan_task import PlanResult, PlanTask, carry_out, plan_task


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> TrainingPlan:
    folder = tmp_path_factory.mktemp("plan")
    lines = sample.path("ctb.txt").read_text("utf-8").splitlines(keepends=True)
    (folder / "train.txt").write_text("".join(lines[:40]), "utf-8")
    (folder / "dev.txt").write_text("".join(lines[100:]), "utf-8")
    target, dev = (CorpusReference(str(folder / name)) for name in ("train.txt", "dev.txt"))
    return resolve(TrainingPlan((target,), dev=dev, iterations=3), lambda line: None)


def carried_out(executor: Executor, task: PlanTask) -> PlanResult:
    [(_, result)] = executor.outcomes(carry_out, [task])
    assert isinstance(result, PlanResult), result
    return result


def weights(result: PlanResult, path: Path) -> tw.Model:
    assert result.model is not None
    path.write_bytes(result.model)
    return tw.load_model(path)


def test_a_training_gives_the_same_model_on_every_executor(
    plan: TrainingPlan, executor: Executor, tmp_path: Path
) -> None:
    there = carried_out(executor, plan_task(plan, executor, with_model=True))
    here = carried_out(IN_PROCESS, plan_task(plan, IN_PROCESS, with_model=True))
    assert (there.score, there.curve) == (here.score, here.curve)
    models = [weights(result, tmp_path / name) for result, name in ((there, "there"), (here, "here"))]
    assert np.array_equal(models[0].chain.weights, models[1].chain.weights)
    assert models[0].about["plan"] == with_names(plan.to_json())


def test_a_training_stops_when_it_is_told(plan: TrainingPlan) -> None:
    result = carry_out(plan_task(plan, IN_PROCESS), lambda curve: len(curve) == 2)
    assert result.cancelled
    assert len(result.curve) == 2


def test_copies_of_files_take_the_place_of_what_is_not_there(plan: TrainingPlan, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_bytes(Path(plan.target[0].path).read_bytes())
    values = plan.to_json()
    values["target"][0]["path"] = "/nowhere/train.txt"
    files = {"/nowhere/train.txt": SharedFile.of(str(elsewhere))}
    result = carry_out(PlanTask(values, files, with_model=True))
    assert weights(result, tmp_path / "model").about["plan"]["target"][0]["path"] == "train.txt"
