"""Parts of a work on executors: folds, tests of significance, cells of studies. Results are those of one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from reproductions.lab.cell_task import cell_tasks, fill
from reproductions.liu_2014.study import STUDY
from tagweave.cluster.executor import AUTO, IN_PROCESS, LOCAL, Executor, executor_at, results
from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load, save
from tagweave.evaluation.report import evaluate
from tagweave.front.training import resolve
from tagweave.learning.run import Run, Schedule, Silence
from tagweave.training.jackknife import jackknifed
from tagweave.training.plan import CorpusReference, TrainingPlan, with_names
from tagweave.training.plan_task import PlanResult, PlanTask, carry_out, plan_task
from tagweave.training.pruning import fit_pruning, with_proposals
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task
from tagweave.tuning.search import Search, search
from tagweave.tuning.space import Space
from tagweave.tuning.study import opened


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    whole = load(str(sample.path("ctb.txt")))
    return whole.with_sentences(whole.sentences[:24])


@pytest.fixture(scope="module")
def workers(ray: Any) -> Iterator[list[Executor]]:
    """Executors of both kinds, with one worker each: starting it takes longer than all that it does here."""
    with ExitStack() as stack:
        yield [stack.enter_context(executor_at(address, workers=1)) for address in (LOCAL, AUTO)]


def test_folds(corpus: Corpus, workers: list[Executor]) -> None:
    here, recipe = Run(Schedule(2), cancel=lambda: False), Recipe(Task("segtag"))
    expected = jackknifed([corpus], recipe, 3, run=here)
    for executor in workers:
        lines: list[str] = []
        there = replace(here, executor=executor, tell=lines.append)
        assert jackknifed([corpus], recipe, 3, run=there) == expected
        assert [line[-12:] for line in lines] == [f"{n} of 3 folds" for n in (1, 2, 3)]


def test_a_fold_that_fails_raises_what_it_raised(corpus: Corpus, workers: list[Executor]) -> None:
    for executor in workers:
        with pytest.raises(TypeError, match="'colour'"):
            jackknifed([corpus], Recipe(settings={"colour": 1}), 2, run=Run(executor=executor))


def test_proposals_of_pruning(corpus: Corpus, workers: list[Executor]) -> None:
    pruning = fit_pruning([corpus], Recipe(), 0.05, Run(Schedule(1)))
    there = with_proposals([corpus], Recipe(), pruning, Run(executor=workers[0]))
    assert there == with_proposals([corpus], Recipe(), pruning)


def test_tests_of_significance(corpus: Corpus, workers: list[Executor]) -> None:
    other = corpus.map(lambda sentence: sentence.with_layer("tag", [("NN",)] * len(sentence)))
    systems = {"one": other, "two": corpus, "three": corpus}
    for executor in workers:
        assert evaluate(corpus, systems, executor=executor).comparisons == evaluate(corpus, systems).comparisons


def test_cells_of_a_study(tmp_path: Path, workers: list[Executor]) -> None:
    tasks = cell_tasks(STUDY, list(STUDY.parts)[:1], None, 1, tmp_path, 1)
    assert len(list(results(workers[0], fill, tasks[:1]))) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_search_with_one_worker(tmp_path: Path, corpus: Corpus, workers: list[Executor]) -> None:
    pytest.importorskip("optuna", reason="Optuna is not installed (pip install '.[tune]')")
    save(corpus, str(tmp_path / "train.conllu"))
    save(corpus.with_sentences(corpus.sentences[1:]), str(tmp_path / "dev.conllu"))
    reference, dev = (CorpusReference(str(tmp_path / f"{name}.conllu")) for name in ("train", "dev"))
    plan = resolve(TrainingPlan((reference,), dev=dev, iterations=2), lambda line: None)
    space = Space.of(plan, {"rate": "log:0.01:1", "batch": "int:1:8"})
    found = []
    for executor in (IN_PROCESS, *workers):
        with opened(space, None) as study:
            tuning = search(space, study, executor, Search(3, 1))
        found.append(([(each.values, each.curve) for each in tuning.trials], tuning.plan))
    assert found[0] == found[1] == found[2]


def test_a_training_with_folds(tmp_path: Path, ray: Any) -> None:
    files = {name: str(tmp_path / f"{name}.txt") for name in ("ctb", "pd")}
    for name, file in files.items():
        lines = sample.path(f"{name}.txt").read_text("utf-8").splitlines(keepends=True)
        Path(file).write_text("".join(lines[:16]), "utf-8")
    plan: dict[str, Any] = {"task": "segtag", "method": "subword", "folds": 2, "iterations": 1, "callback": Silence()}
    models = [tw.train(f"ctb={files['ctb']}", f"pd={files['pd']}", cluster=cluster, **plan) for cluster in (None, AUTO)]
    assert np.array_equal(models[0].chain.weights, models[1].chain.weights)


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
    assert models[0].about["plan"] == with_names(replace(plan, average_seeds=1).to_json())


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
