"""Training as a whole: when it stops, what it keeps, and that stopping and going on leaves no trace."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field, replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convex import SETTINGS, Logistic, order_of, problem_for

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.rules import ArrayRule
from tagweave.learning import loop, mistake_driven
from tagweave.learning import trainer as trainer_module
from tagweave.learning.loop import CheckpointError, TrainingError, load_checkpoint, train
from tagweave.learning.progress import log_callback
from tagweave.learning.run import Iteration, Run, Schedule
from tagweave.learning.trainer import UNWATCHED, Learner, StateRules, TrainerState, Watch
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.problem import fit_problem
from tagweave.training.fit.recipe import LEARNERS, Recipe

RULES = StateRules({"weights": ArrayRule(("float64",), (2,))})


@dataclass
class Counting(Learner):
    """A trainer whose weights are the number of iterations; after `events` comes what they say."""

    epochs = 30
    events: dict[int, Any] = field(default_factory=dict)

    def start(self, objective: Any, weights: Any) -> TrainerState:
        return TrainerState({"weights": weights.copy()})

    def rules(self, objective: Any) -> StateRules:
        return RULES

    def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        event = self.events.get(state.iteration + 1)
        if event is KeyboardInterrupt:
            raise KeyboardInterrupt
        if event == "stuck":
            return
        state.iteration += 1
        state.weights[:] = np.nan if event == "nan weights" else state.iteration
        state.loss = float("inf") if event == "infinite loss" else 1 / state.iteration
        state.converged = event == "converged"

    def result(self, state: TrainerState) -> Any:
        return state.weights


@dataclass
class Recorder:
    """Records every iteration."""

    iterations: list[Iteration] = field(default_factory=list)
    limits: set[int] = field(default_factory=set)

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self.iterations.append(iteration)
        self.limits.add(limit)


def count(schedule: Schedule, scores: list[float] | None = None, **events: Any) -> tuple[Any, Recorder]:
    """Train the counting trainer; `scores` are those of iterations 1, 2, ..."""
    recorder = Recorder()
    evaluate = None if scores is None else lambda weights: scores[int(weights[0]) - 1]
    trainer = Counting({int(key.removeprefix("at_")): value for key, value in events.items()})
    return train(trainer, Logistic.random(), np.zeros(2), Run(schedule, recorder), evaluate), recorder


def test_it_ends_at_the_limit_with_the_last_weights() -> None:
    outcome, recorder = count(Schedule(iterations=7))
    assert (outcome.iterations, outcome.score, outcome.weights.tolist()) == (7, None, [7, 7])
    assert [(each.number, each.score, each.best) for each in recorder.iterations] == [
        (n, None, False) for n in range(1, 8)
    ]
    assert recorder.iterations == outcome.history
    assert recorder.limits == {7}
    assert (outcome.interrupted, outcome.diverged) == (False, False)


def test_convergence_ends_it() -> None:
    assert count(Schedule(), at_4="converged")[0].iterations == 4
    assert count(Schedule(), at_4="stuck")[0].iterations == 3


def test_patience_ends_it_and_the_best_is_kept() -> None:
    scores = [0.1, 0.5, 0.4, 0.5, 0.3, 0.9]
    outcome, recorder = count(Schedule(patience=3), scores)
    assert (outcome.iterations, outcome.score, outcome.weights.tolist()) == (5, 0.5, [2, 2])
    assert [each.best for each in recorder.iterations] == [True, True, False, False, False]
    outcome, _ = count(Schedule(iterations=6, patience=4), scores)
    assert (outcome.score, outcome.weights.tolist()) == (0.9, [6, 6])


def test_an_interrupt_keeps_the_best_or_the_last() -> None:
    outcome, _ = count(Schedule(), [0.2, 0.9, 0.5], at_4=KeyboardInterrupt)
    assert (outcome.interrupted, outcome.iterations, outcome.score, outcome.weights[0]) == (True, 3, 0.9, 2)
    outcome, _ = count(Schedule(), at_4=KeyboardInterrupt)
    assert (outcome.interrupted, outcome.iterations, outcome.weights[0]) == (True, 3, 3)
    outcome, recorder = count(Schedule(), at_1=KeyboardInterrupt)
    assert (outcome.interrupted, outcome.iterations, recorder.iterations) == (True, 0, [])


@pytest.mark.parametrize("event", ["nan weights", "infinite loss"])
def test_divergence_is_reported_and_never_kept(event: str, tmp_path: Path) -> None:
    schedule = Schedule(checkpoint=tmp_path / "state")
    with pytest.raises(TrainingError, match="diverged in iteration 4: found a loss of"):
        count(schedule, at_4=event)
    state, _ = load_checkpoint(tmp_path / "state", "", RULES)
    assert (state.iteration, state.weights.tolist()) == (3, [3, 3])
    outcome, recorder = count(schedule, [0.1, 0.9, 0.8], at_4=event)
    assert (outcome.diverged, outcome.score, outcome.weights.tolist()) == (True, 0.9, [2, 2])
    assert len(recorder.iterations) == 3
    assert load_checkpoint(tmp_path / "state", "", RULES)[0].iteration == 3


@pytest.mark.parametrize("name", SETTINGS)
def test_every_learner_reports_a_loss_that_is_not_finite(name: str) -> None:
    objective = replace(problem_for(name), broken=9)
    trainer = LEARNERS[name](**SETTINGS[name] | ({"rate": 0.1} if name == "sgd" else {}))
    if LEARNERS[name].mistake_driven:  # counts mistakes; its loss is always a number
        assert np.isfinite(train(trainer, objective, np.zeros(8), Run(Schedule(3))).weights).all()
    elif name == "lbfgs":  # a line search turns away from what is no number
        assert np.isfinite(train(trainer, objective, np.zeros(8), Run(Schedule(9))).weights).all()
    else:
        with pytest.raises(TrainingError, match="diverged"):
            train(trainer, objective, np.zeros(8), Run(Schedule(20)))


# Interrupted and resumed


@pytest.mark.parametrize(
    ("name", "case"),
    [*zip(sorted({*SETTINGS} - {"adamw"}), cycle(product([True, False], [np.float32, np.float64])), strict=False)],
)
def test_resuming_after_any_iteration_changes_nothing(name: str, case: tuple[bool, Any], tmp_path: Path) -> None:
    """Not of adamw, whose rate falls to 0 over the iterations that there are to be."""
    scored, dtype = case
    objective, last = Logistic.random(8, dtype=dtype), 6
    goal = np.linspace(-1, 1, objective.size)
    evaluate = (lambda weights: -float(np.abs(weights - goal).sum())) if scored else None

    def run(schedule: Schedule) -> Any:
        trainer = LEARNERS[name](**SETTINGS[name])
        return train(trainer, objective, np.zeros(objective.size, dtype), Run(schedule), evaluate)

    whole = run(Schedule(last))
    assert whole.iterations >= 4
    for stop in range(1, whole.iterations):
        path = tmp_path / f"{stop}"
        first = run(Schedule(stop, checkpoint=path))
        rest = run(Schedule(last, checkpoint=path, resume=True))
        assert (rest.weights == whole.weights).all()
        assert rest.weights.dtype == whole.weights.dtype
        assert (rest.score, rest.iterations) == (whole.score, whole.iterations)
        resumed = [(each.number, each.loss, each.score, each.best) for each in first.history + rest.history]
        assert resumed == [(each.number, each.loss, each.score, each.best) for each in whole.history]
        assert not list(tmp_path.glob("*.part"))


def test_patience_survives_resumption(tmp_path: Path) -> None:
    scores = [0.5, 0.4, 0.3, 0.2, 0.1, 0.9]
    schedule = Schedule(iterations=2, patience=3, checkpoint=tmp_path / "state")
    count(schedule, scores)
    outcome, recorder = count(replace(schedule, iterations=6, resume=True), scores)
    assert [each.number for each in recorder.iterations] == [3, 4]
    assert (outcome.score, outcome.weights[0], outcome.iterations) == (0.5, 1, 4)
    again, recorder = count(replace(schedule, iterations=6, resume=True), scores)
    assert (again.score, again.weights[0], recorder.iterations) == (0.5, 1, [])


def test_a_checkpoint_is_not_read_unless_asked(tmp_path: Path) -> None:
    schedule = Schedule(iterations=3, checkpoint=tmp_path / "state")
    count(schedule)
    assert len(count(schedule)[1].iterations) == 3
    with pytest.raises(CheckpointError, match="another training run"):
        count(replace(schedule, resume=True, identity="another"))


@pytest.mark.parametrize("calls", range(1, 75, 7))
def test_an_interrupted_epoch_of_the_perceptron_has_its_average(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistake_driven, "_RUN", 1)
    objective = replace(Logistic.random(5), stop=calls)
    outcome = train(LEARNERS["perceptron"](), objective, np.zeros(objective.size), Run(Schedule(50)))
    assert outcome.interrupted
    plain, weights, total, steps = Logistic.random(5), np.zeros(objective.size), np.zeros(objective.size), 0
    rows = [row for iteration in range(4) for row in order_of(0, iteration, len(plain))]
    for row in rows[: calls - 1]:
        x, y = plain.x[row], plain.y[row]
        weights = weights + (y * x if (1 if x @ weights > 0 else -1) != y else 0)
        total, steps = total + weights, steps + 1
    np.testing.assert_allclose(outcome.weights, total / max(1, steps), atol=1e-12)


def test_an_interrupt_while_sgd_tries_rates() -> None:
    objective = replace(Logistic.random(5), stop=3)
    outcome = train(LEARNERS["sgd"](), objective, np.zeros(objective.size), Run(Schedule(9)))
    assert outcome.interrupted
    assert outcome.iterations == 0
    assert not outcome.weights.any()


class Asked:
    """Says stop when it is asked for the nth time."""

    def __init__(self, until: int) -> None:
        self.left = until

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_a_cancelled_training_keeps_the_best_weights_and_a_checkpoint_to_resume_from(
    learner: str, tmp_path: Path
) -> None:
    def weights(run: Run) -> Any:
        objective = problem_for(learner)
        scores = iter([0.9, 0.5, 0.1, 0.2])
        trainer = LEARNERS[learner]()
        return train(trainer, objective, np.zeros(objective.size), run, lambda _: next(scores))

    every = Schedule(3, checkpoint=tmp_path / "c", identity="r")
    whole = weights(Run(replace(every, checkpoint=None)))
    cut = next(
        outcome
        for asked in range(2, 1000)  # the first time after the first iteration
        if (outcome := weights(Run(every, cancel=Asked(asked)))).iterations == 1 and outcome.interrupted
    )
    assert cut.score == 0.9 and (tmp_path / "c").exists()
    np.testing.assert_array_equal(cut.weights, whole.weights)
    assert weights(Run(replace(every, resume=True))).iterations > 1


@dataclass
class Clock:
    """Seconds that a test sets."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_checkpoints_are_written_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of 1 second after 30 or more, between iterations of 8; before other steps after the last one, too."""
    monkeypatch.setattr(loop, "SHARE", 1 / 30)
    clock, written = Clock(), []
    save = loop.save_checkpoint

    def saving(path: Path, state: TrainerState, *rest: Any) -> None:
        written.append((path.name, state.iteration))
        clock.seconds += 1
        save(path, state, *rest)

    @dataclass
    class Slow(Counting):
        def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
            clock.seconds += 8
            super().step(objective, state)

    monkeypatch.setattr(loop, "save_checkpoint", saving)
    run = Run(Schedule(10, checkpoint=tmp_path / "state"), clock=clock)
    train(Slow(), Logistic.random(), np.zeros(2), run)
    train(Slow(), Logistic.random(), np.zeros(2), run.part("first"))
    assert written == [*(("state", each) for each in (1, 5, 9)), *(("state.first", each) for each in (1, 5, 9, 10))]


@pytest.mark.parametrize("name", SETTINGS)
def test_an_interrupt_in_the_midst_of_an_iteration_leaves_no_trace(name: str, tmp_path: Path) -> None:
    """Trainers change their state in place; none of the iteration that is cut short is in the checkpoint."""
    objective, evaluate = problem_for(name, seed=8), lambda weights: -float(np.abs(weights).sum())
    path = tmp_path / "state"

    class Interrupted(LEARNERS[name]):  # type: ignore[name-defined, misc]
        def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
            super().step(objective, state, watch)
            if state.iteration == 3:
                for each in state.arrays:
                    state.arrays[each] += 1
                raise KeyboardInterrupt

    def run(kind: Any, **schedule: Any) -> Any:
        return train(kind(**SETTINGS[name]), objective, np.zeros(8), Run(Schedule(5, **schedule)), evaluate)

    stopped = run(Interrupted, checkpoint=path)
    assert stopped.interrupted and len(stopped.history) == 2
    resumed, whole = run(LEARNERS[name], checkpoint=path, resume=True), run(LEARNERS[name])
    assert resumed.history[0].number == 3
    assert (resumed.weights == whole.weights).all() and resumed.score == whole.score


CORPUS = Corpus(tuple(Sentence(("x", "y"), {"tag": (("A",), (label,))}) for label in "AB" * 20))


class Shown:
    """Keeps the shares reported."""

    def __init__(self) -> None:
        self.shares: list[tuple[int, float]] = []

    def iteration(self, iteration: Iteration, limit: int) -> None:
        pass

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        self.shares.append((number, share))


@pytest.mark.parametrize("learner", ["adagrad", "sgd", "perceptron", "lbfgs"])
def test_shares_rise_in_every_iteration(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "_EVERY", 0.0)
    recipe, shown = Recipe(learner=learner), Shown()
    watched = fit_problem(prepare([CORPUS], recipe), recipe, run=Run(Schedule(2), shown))
    alone = fit_problem(prepare([CORPUS], recipe), recipe, run=Run(Schedule(2)))
    assert np.array_equal(watched.model.weights, alone.model.weights)
    if learner != "lbfgs":  # whose iterations are not made of batches
        assert shown.shares == sorted(shown.shares)
        assert {number for number, share in shown.shares if share == 1} == {1, 2}


def test_a_full_disk_costs_the_checkpoint_and_the_log_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(loop, "save_file", full)
    monkeypatch.setattr(loop, "SHARE", 1e9)  # it is time for a checkpoint after every iteration
    told: list[str] = []
    with log_callback(Path("/dev/full")) as log:
        run = Run(Schedule(4, checkpoint=tmp_path / "state", is_part=True), log, tell=told.append)
        outcome = train(Counting(), None, np.zeros(2), run)
    assert (outcome.iterations, outcome.interrupted) == (4, False)
    (line,) = told
    assert line.startswith("warning: no checkpoint: No space left on device (") and str(tmp_path / "state") in line
    assert capsys.readouterr().err == "warning: no log: No space left on device (/dev/full)\n"
    assert list(tmp_path.iterdir()) == []


class Ticking:
    """A clock that a second passes on whenever it is read."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1
        return self.seconds


def test_the_deadline_ends_training_after_an_iteration() -> None:
    lines: list[str] = []
    run = replace(Run(Schedule(), tell=lines.append, clock=Ticking()), deadline=20)
    outcome = train(Counting(), None, np.zeros(2), run)  # type: ignore[arg-type]
    assert 0 < outcome.iterations < 30 and outcome.weights[0] == outcome.iterations and not outcome.interrupted
    assert lines == [f"time is over after iteration {outcome.iterations} of at most 30"]
    best = train(Counting(), None, np.zeros(2), replace(run, clock=Ticking()), lambda weights: -weights[0])  # type: ignore[arg-type]
    assert best.weights[0] == 1 and best.score == -1


@dataclass
class Slow(Counting):
    """A trainer whose iterations have many batches, each of which changes the weights."""

    def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        for _ in watch.batches(1000):
            state.weights[:] += 1
        super().step(objective, state, watch)


def test_the_deadline_ends_the_first_iteration_with_what_it_has_learned() -> None:
    run = replace(Run(clock=Ticking()), deadline=20)
    outcome = train(Slow(), None, np.zeros(2), run, lambda weights: float(weights[0]))  # type: ignore[arg-type]
    assert outcome.iterations == 1 and 0 < outcome.weights[0] < 1000 and outcome.score == outcome.weights[0]


def test_a_step_without_time_is_left_out_and_told() -> None:
    lines: list[str] = []
    run = Run(tell=lines.append, clock=Ticking()).limited(1)

    def work(step: Run) -> str:
        assert step.deadline is not None and run.deadline is not None and step.deadline < run.deadline
        while True:
            step.aside().stop_if_cancelled()

    assert run.if_time("the race", work, "usual", 0.5) == "usual"
    assert run.if_time("a step", lambda step: "done", "not") == "done"
    run.clock.seconds += 60  # type: ignore[attr-defined]
    assert run.if_time("another step", lambda step: "done", "not") == "not"
    assert lines == [f"left out, because time is over: {step}" for step in ("the race", "another step")]
    unlimited = Run().limited(None)
    assert unlimited.if_time("a step", lambda step: step is unlimited, False) and not unlimited.is_over
