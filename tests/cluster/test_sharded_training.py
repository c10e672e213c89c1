"""Training on shards: sums do not depend on the workers, one shard is no shard, and a dead worker changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagweave.cluster.executor import IN_PROCESS, Executor
from tagweave.cluster.processes import Processes
from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.errors import CorpusError, PlanError
from tagweave.front.training import train
from tagweave.learning.run import SILENT, Run, Schedule, Silence
from tagweave.training import sharded_job as sharding
from tagweave.training.corpora import read_outline
from tagweave.training.fit import Problem, fit_problem, prepare
from tagweave.training.plan import CorpusReference, TrainingPlan
from tagweave.training.recipe import Recipe
from tagweave.training.sharded_job import CorpusPart, shards_of
from tagweave.training.task import Task
from tests.cluster.calls import MortalShard

CTB, PD = (str(sample.path(name)) for name in ("ctb.txt", "pd.txt"))


@contextmanager
def on_workers(recipe: Recipe, workers: int, executor: Executor | None = None, path: str = CTB) -> Iterator[Problem]:
    """The sample corpus, twice, on workers."""
    _, outline = read_outline(CorpusReference(path), recipe.task.name)
    part = CorpusPart(SharedFile.of(path), outline, 0, outline.sentences)
    with sharding.Shards(executor or IN_PROCESS, workers, (part, part)).problem(recipe, SILENT) as problem:
        yield problem


def here(recipe: Recipe) -> Problem:
    return prepare([load(CTB)] * 2, recipe)


def fitted(problem: Problem, recipe: Recipe, run: Run) -> np.ndarray[Any, Any]:
    return fit_problem(problem, recipe, None, run).model.weights


@pytest.mark.parametrize(("task", "features"), [("tag", "all"), ("segtag", "observed")])
def test_the_gradient_does_not_depend_on_the_workers(task: str, features: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "_LEAVES", 8)  # of 3 workers, one has blocks 5 to 7, and 5 and 6 are no node
    recipe = Recipe(Task(task), learner="lbfgs", features=features, precision="float64", minimum_count=2)
    plain = here(recipe)
    weights = np.random.default_rng(0).normal(size=plain.objective.size)
    loss, gradient = plain.objective.loss_and_gradient(weights)
    sums = []
    for workers in (1, 2, 3):
        with on_workers(recipe, workers) as problem:
            codes = [each.model.encoder.arrays()["index.codes"] for each in (plain, problem)]
            assert np.array_equal(*codes)
            assert problem.model.space.names == plain.model.space.names
            sums.append(problem.objective.loss_and_gradient(weights))
    for own_loss, own in sums:
        assert own_loss == sums[0][0] == pytest.approx(loss, rel=1e-12)
        assert np.array_equal(own, sums[0][1])
        np.testing.assert_allclose(own, gradient, rtol=0, atol=1e-10)


@pytest.mark.parametrize("learner", ["adagrad", "perceptron"])
def test_mixing_one_shard_is_training_without_workers(learner: str) -> None:
    recipe, run = Recipe(Task("segtag"), learner=learner), Run(Schedule(iterations=3))
    with on_workers(recipe, 1) as problem:
        assert np.array_equal(fitted(problem, recipe, run), fitted(here(recipe), recipe, run))


def test_mixed_weights_are_the_mean_of_those_of_the_shards_that_moved_them() -> None:
    recipe = Recipe(Task("tag"), learner="perceptron")
    with on_workers(recipe, 7) as problem:
        mixing, objective = replace(problem.trainer(recipe), times=1), problem.objective
        state = mixing.start(objective, problem.model.weights)
        alone = [
            replace(each, arrays={name: array.copy() for name, array in each.arrays.items()})
            for each in objective.part_of_iteration(recipe.trainer(), state, (0, 1))
        ]
        mixing.step(objective, state)
    moved = np.array([each.weights != 0 for each in alone])
    assert 1 < moved.sum(0).max() <= 7 and (moved.sum(0) == 1).any() and not moved.any(0).all()
    for name, array in state.arrays.items():
        own = np.array([each.arrays[name] for each in alone])
        expected = np.where(moved, own, 0).sum(0) / np.maximum(1, moved.sum(0))
        np.testing.assert_allclose(array, np.where(moved.any(0), expected, own[-1]), rtol=1e-6, atol=1e-9)
    assert len({each.numbers["step"] for each in alone}) > 1
    assert state.numbers["step"] == max(each.numbers["step"] for each in alone)
    assert state.loss == sum(each.loss for each in alone)
    assert {state.iteration, *(each.iteration for each in alone)} == {1}


def test_an_iteration_takes_every_sentence_once_in_parts() -> None:
    recipe = Recipe(Task("tag"), learner="perceptron")
    with on_workers(recipe, 2) as problem:
        mixing, state = problem.trainer(recipe), problem.trainer(recipe).start(problem.objective, problem.model.weights)
        mixing.step(problem.objective, state)
        whole = problem.trainer(recipe).start(problem.objective, problem.model.weights)
        done = problem.objective.part_of_iteration(recipe.trainer(), whole, (0, 1))
        longest = max(each.numbers["step"] for each in done)
        resident = problem.objective.group.residents[0]  # type: ignore[attr-defined]
        objective = resident.held._over(problem.objective.aspect)
        orders = []
        for part in range(5):
            objective.part = part, 5
            orders.append(objective.order(3, 1, 4))
    assert sorted(np.concatenate(orders)) == list(range(len(objective)))
    assert longest <= state.numbers["step"] < longest + mixing.times


def test_blocks_and_shards_differ_by_one_at_most() -> None:
    file, (_, outline) = SharedFile.of(CTB), read_outline(CorpusReference(CTB), "tag")
    parts = [CorpusPart(file, outline, 0, last) for last in (13, 6)]
    shards = shards_of(parts, 8, 3)
    blocks = [[(part.first, part.last) for part in block] for shard in shards for block in shard.blocks]
    assert [shard.first for shard in shards] == [0, 2, 5]
    assert blocks == [[(0, 2)], [(2, 4)], [(4, 7)], [(7, 9)], [(9, 11)], [(11, 13), (0, 1)], [(1, 3)], [(3, 6)]]
    assert [len(shard.blocks) for shard in shards_of(parts, 2, 3)] == [1, 1]


def test_a_long_shard_is_taken_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "_LONG", 500)
    recipe = Recipe(Task("segtag"))
    with on_workers(recipe, 1) as problem:
        [resident] = problem.objective.group.residents  # type: ignore[attr-defined]
        shard = resident.held
        objective = shard._over(problem.objective.aspect)
        order = objective.order(seed=0, iteration=0, batch=7)
        assert sorted(order) == list(range(len(objective)))
        assert len(shard._blocks) > 3
        weights = np.random.default_rng(0).normal(size=objective.size).astype(np.float32)
        shuffled, gradient, loss = objective.shuffled(order), np.zeros_like(weights), 0.0
        touched = np.zeros(objective.size, bool)
        for first in range(0, len(order), 7):
            loss += shuffled.add_batch(weights, first, min(len(order), first + 7), gradient)
            for low, high in zip(*shuffled.touched(first, min(len(order), first + 7)), strict=True):
                touched[low:high] = True
    expected, of = here(recipe).objective.loss_and_gradient(weights)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient, of, rtol=1e-5, atol=1e-3)
    assert not gradient[~touched].any()


def test_a_killed_worker_does_not_change_the_weights(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = "adagrad" if isinstance(executor, Processes) else "lbfgs"
    recipe, run = Recipe(Task("segment"), learner=learner), Run(Schedule(iterations=3))
    with on_workers(recipe, 2) as problem:
        expected = fitted(problem, recipe, run)
    corpus, die = tmp_path / "ctb.txt", tmp_path / "ctb.txt.die"
    shutil.copy(CTB, corpus)
    die.touch()
    monkeypatch.setattr(sharding, "TrainingShard", MortalShard)
    with on_workers(recipe, 2, executor, str(corpus)) as problem:
        assert np.array_equal(fitted(problem, recipe, run), expected)
    assert not die.exists()


def test_a_batch_learner_is_resumed_with_other_workers(tmp_path: Path) -> None:
    recipe = Recipe(Task("tag"), learner="lbfgs")
    for workers, iterations in ((2, 2), (3, 4)):
        with on_workers(recipe, workers) as problem:
            schedule = Schedule(iterations, checkpoint=tmp_path / "checkpoint", resume=True)
            resumed = fitted(problem, recipe, Run(schedule))
    with on_workers(recipe, 1) as problem:
        assert np.array_equal(resumed, fitted(problem, recipe, Run(Schedule(4))))


def test_a_cancelled_training_keeps_its_weights() -> None:
    recipe = Recipe(Task("tag"))
    with on_workers(recipe, 2) as problem:
        outcome = fit_problem(problem, recipe, None, Run(cancel=lambda: True)).outcome
    assert outcome.interrupted
    assert not outcome.iterations


def test_the_front_door_trains_on_workers() -> None:
    settings: dict[str, Any] = {"dev": PD, "task": "segment", "iterations": 2, "callback": Silence()}
    model, plain = train(CTB, cluster="local", workers=1, **settings), train(CTB, **settings)
    assert model.score == plain.score
    assert np.array_equal(model.trained.weights, plain.trained.weights)
    assert model.about["workers"] == 1
    assert model.plan.target == plain.plan.target


@pytest.mark.parametrize(("learner", "workers", "told"), [("adagrad", 2, 1), ("adagrad", 1, 0), ("lbfgs", 2, 0)])
def test_who_averages_weights_is_told(learner: str, workers: int, told: int) -> None:
    plan, notes = TrainingPlan((CorpusReference(CTB),), task="segment", learner=learner), list[str]()
    with sharding.opened_job(plan, Run(tell=notes.append), "local", workers):
        assert sum("average their weights" in note for note in notes) == told


SPANS = {
    "mostly unknown": [
        "Ann I-PER\nBell I-PER\nleft _\n",
        "Graz I-LOC\nis _\nold _\n",
        "a _\nlake _\nis _\nso _\nfar _\n",
        "it O\nis _\n",
    ],
    "read by the scheme of the whole file": ["a _\nAnn I-PER\nat O\n", "Ann I-PER\nBell B-PER\n", "it O\n"],
    "labels that go on with nothing": ["it O\nBell I-PER\n", "Ann B-PER\nBell I-PER\n", "at B-LOC\n"],
    "numbers": ["a B-PER:0.6|O:0.4\n", "b O:0.7|B-PER:0.3\nleft O:0.9|B-PER:0.1\n", "a _\n"],
}


@pytest.mark.parametrize("task", ["spans", "tag"])
@pytest.mark.parametrize("case", SPANS)
def test_incomplete_labels_give_the_same_weights_on_workers(
    case: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One worker has all sentences in their order; the weights of several are mixed, and so are others."""
    monkeypatch.setattr("tagweave.training.sharded_job.executor_at", lambda *_: nullcontext(IN_PROCESS))
    monkeypatch.setattr("tagweave.training.sharded_job._SLICE", 1)  # sentence by sentence
    file, weights, notes = tmp_path / "spans.conll", [], []
    file.write_text("\n".join(SPANS[case] * 8))
    for more in ({}, {"cluster": "local", "workers": 1}):
        weights.append(train(str(file), task=task, iterations=3, **more).trained.weights)
        told = capsys.readouterr().err.splitlines()
        notes.append([line for line in told if "spans everywhere" in line or "labels I" in line or "pointwise" in line])
    assert np.array_equal(*weights) and weights[0].any()
    assert notes[0] == notes[1]


def test_rejected_spans_are_evidence_on_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagweave.training.sharded_job.executor_at", lambda *_: nullcontext(IN_PROCESS))
    monkeypatch.setattr("tagweave.training.sharded_job._SLICE", 1)  # sentence by sentence
    file, plain = tmp_path / "rejected.conll", tmp_path / "plain.conll"
    known = ["Ann I-PER\nBell I-PER\nleft O\n", "# rejected = tag 1-2 PER\nAnn _\nLake _\n", "it O\n"]
    file.write_text("\n".join(known * 8))
    plain.write_text("\n".join(known * 8).replace("rejected", "id"))
    options: tuple[dict[str, Any], ...] = ({}, {"cluster": "local", "workers": 1})
    here, there = (train(str(file), task="spans", iterations=3, **more).trained.weights for more in options)
    assert np.array_equal(here, there)
    assert not np.array_equal(here, train(str(plain), task="spans", iterations=3).trained.weights)
    for more in options:
        with pytest.raises(CorpusError, match=r"rejected\.conll:6: found rejected spans for the learner perceptron"):
            train(str(file), task="spans", learner="perceptron", iterations=1, callback=Silence(), **more)


def test_workers_cannot_keep_to_a_share(tmp_path: Path) -> None:
    file = tmp_path / "spans.conll"
    file.write_text("Ann B-PER\nleft _\n\nat B-LOC\n")
    with pytest.raises(PlanError, match="workers cannot keep to a share"):
        train(str(file), task="spans", cluster="local", workers=1, callback=Silence())


def test_a_learner_that_cannot_use_numbers_says_so_on_workers(tmp_path: Path) -> None:
    file = tmp_path / "soft.conll"
    file.write_text("\n".join(SPANS["numbers"] * 8))
    for more in ({}, {"cluster": "local", "workers": 1}):
        with pytest.raises(CorpusError, match="candidates with numbers for the learner perceptron"):
            train(str(file), task="tag", learner="perceptron", iterations=1, callback=Silence(), **more)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "parse"}, "found the task parse, expected tag, segment, segtag or spans with `cluster`"),
        ({"sources": CTB}, "found `sources`, expected corpora of one guideline"),
        ({"method": "coupled"}, "found the method coupled"),
        ({"sample": ["all"]}, "found `sample`"),
        ({"incomplete": "posterior"}, "found `incomplete=posterior`, expected marginal"),
        ({"task": "spans", "entity_ratio": "0.2"}, "found `entity_ratio`, expected it without `cluster`"),
        ({"task": "spans", "outside_confidence": 0.5}, "found `outside_confidence`, expected it without `cluster`"),
        ({"learner": "sgd"}, "found the learner sgd, expected one of adagrad, lbfgs"),
        ({"target": load(CTB)}, "found a corpus in memory, expected the path of its file"),
        ({"cluster": None}, "found `workers` without `cluster`"),
    ],
)
def test_what_workers_cannot_do_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        train(**({"target": CTB, "cluster": "local", "workers": 1} | settings))


def test_seeds_are_those_of_the_corpus_on_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tagweave.training.sharded_job.executor_at", lambda *_: nullcontext(IN_PROCESS))
    file = tmp_path / "spans.conll"
    file.write_text("Ann B-PER\nleft O\n\n" * 11_000)
    model = train(str(file), task="spans", iterations=1, callback=Silence(), cluster="local", workers=1)
    assert model.about["plan"]["average_seeds"] == 1
    file.write_text("Ann B-PER\nleft O\n\n" * 10)
    train(str(file), task="spans", iterations=1, cluster="local", workers=1)
    assert "20 tokens are few: the mean of 3 seeds" in capsys.readouterr().err
