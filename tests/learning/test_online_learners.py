"""Learners over batches of sentences against dense twins that do every step the plain way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from convex import Logistic, order_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.learning.learners.adagrad import AdaGrad
from tagweave.learning.learners.adamw import AdamW
from tagweave.learning.learners.arow import AROW
from tagweave.learning.learners.pa import PassiveAggressive
from tagweave.learning.learners.perceptron import AveragedPerceptron
from tagweave.learning.learners.sgd import SGD
from tagweave.learning.trainer import UNWATCHED, Trainer

SEED, BATCH, PASSES = st.integers(0, 500), st.integers(1, 40), st.integers(1, 4)


def trained(trainer: Trainer, objective: Logistic, epochs: int) -> tuple[Any, list[float]]:
    state = trainer.start(objective, np.zeros(objective.size, objective.dtype))
    losses = []
    for _ in range(epochs):
        trainer.step(objective, state)
        losses.append(state.loss)
    assert state.iteration == epochs
    return trainer.result(state), losses


def gradient_of(objective: Logistic, weights: Any, rows: Any) -> tuple[float, Any]:
    return objective.shuffled(rows).loss_and_gradient(weights)


@settings(max_examples=25)
@given(SEED, BATCH, PASSES, st.sampled_from([0, 1, 2, 3]))
def test_adagrad(seed: int, batch: int, epochs: int, average_from: int) -> None:
    objective = Logistic.random(seed)
    weights, squares, ends = np.zeros(objective.size), np.full(objective.size, 0.1), []
    for iteration in range(epochs):
        order = order_of(seed, iteration, len(objective))
        for low in range(0, len(order), batch):
            _, gradient = gradient_of(objective, weights, order[low : low + batch])
            squares += gradient**2
            weights = weights - 0.2 * gradient / np.sqrt(squares)
        ends.append(weights)
    averaged = ends[average_from - 1 :] if 0 < average_from <= epochs else ends[-1:]
    learned, _ = trained(AdaGrad(0.2, batch, seed, average_from), objective, epochs)
    np.testing.assert_allclose(learned, np.mean(averaged, axis=0), rtol=1e-9, atol=1e-12)


@settings(max_examples=25)
@given(SEED, BATCH, PASSES, st.sampled_from([0.0, 0.3, 20.0]))
def test_sgd_and_its_lazy_decay(seed: int, batch: int, epochs: int, c2: float) -> None:
    objective = Logistic.random(seed)
    weights, now = np.zeros(objective.size), 0
    decay = 2 * c2 / len(objective) * batch
    losses = []
    for iteration in range(epochs):
        order, loss = order_of(seed, iteration, len(objective)), 0.0
        for low in range(0, len(order), batch):
            rate = 0.05 / (1 + 0.05 * decay * now)
            part, gradient = gradient_of(objective, weights, order[low : low + batch])
            weights = (weights - rate * gradient) * (1 - min(rate * decay, 0.5))
            loss, now = loss + part, now + 1
        losses.append(loss + c2 * float(weights @ weights))
    learned, reported = trained(SGD(c2, 0.05, batch, seed), objective, epochs)
    np.testing.assert_allclose(learned, weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(reported, losses, rtol=1e-9)


def test_calibration_takes_the_rate_that_helps_most() -> None:
    """Features a hundred times larger want a rate that is smaller by far."""
    small = Logistic.random(3)
    large = Logistic(small.x * 100, small.y)
    rates = [SGD(c2=0.0).start(each, np.zeros(each.size)).numbers["rate"] for each in (small, large)]
    assert rates[1] < rates[0] / 4
    assert all(0.1 * 2**-6 <= rate <= 0.1 * 2**5 for rate in rates)


@given(SEED, st.just(1) | BATCH, PASSES)
@settings(max_examples=40)
def test_the_perceptron_averages_the_weights_after_every_batch(seed: int, batch: int, epochs: int) -> None:
    objective = Logistic.random(seed)
    weights, history, mistakes = np.zeros(objective.size), [], [0.0] * epochs
    for iteration in range(epochs):
        order = order_of(seed, iteration, len(objective))
        for low in range(0, len(order), batch):
            x, y = objective.x[order[low : low + batch]], objective.y[order[low : low + batch]]
            wrong = np.where(x @ weights > 0, 1, -1) != y
            weights = weights + (x * (y * wrong)[:, None]).sum(axis=0)
            history.append(weights)
            mistakes[iteration] += wrong.sum()
    learned, reported = trained(AveragedPerceptron(batch, seed), objective, epochs)
    np.testing.assert_allclose(learned, np.mean(history, axis=0), rtol=1e-9, atol=1e-12)
    assert reported == mistakes


def test_an_epoch_without_a_mistake_is_the_last() -> None:
    objective = Logistic(np.array([[1.0, 0], [0, 1]]), np.array([1, -1]))
    trainer = AveragedPerceptron()
    state = trainer.start(objective, np.zeros(2))
    trainer.step(objective, state)
    assert (state.loss, state.converged) == (1.0, False)
    trainer.step(objective, state)
    assert (state.loss, state.converged) == (0.0, True)


@pytest.mark.parametrize("trainer", [AdaGrad(), SGD(), SGD(rate=0.1), AveragedPerceptron()])
def test_nothing_to_learn_from_leaves_weights_at_0(trainer: Trainer) -> None:
    learned, losses = trained(trainer, Logistic(np.zeros((0, 4)), np.zeros(0)), 2)
    assert not learned.any()
    assert losses == [0.0, 0.0]


@pytest.mark.parametrize("trainer", [AdaGrad(), SGD(c2=0.1), AveragedPerceptron()])
def test_float32_comes_close(trainer: Trainer) -> None:
    single, _ = trained(trainer, Logistic.random(2, dtype=np.float32), 3)
    double, _ = trained(trainer, Logistic.random(2), 3)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-3)


# Batches


@given(st.integers(0, 50), st.integers(1, 60))
def test_batches_cover_all_sentences(count: int, size: int) -> None:
    cut = list(UNWATCHED.batches(count, size))
    assert [row for first, last in cut for row in range(first, last)] == list(range(count))
    assert all(last - first == size for first, last in cut[:-1])


def aggressive(slack: int, c: float, cost: float, squared: float) -> float:
    """tau of Crammer et al. 2006, section 3."""
    return {0: cost / squared, 1: min(c, cost / squared), 2: cost / (squared + 1 / (2 * c))}[slack]


@settings(max_examples=25)
@given(SEED, PASSES, st.sampled_from([0, 1, 2]), st.sampled_from([0.05, 1.0]), st.booleans())
def test_passive_aggressive(seed: int, epochs: int, slack: int, c: float, averaging: bool) -> None:
    objective = Logistic.random(seed)
    weights, past, losses = np.zeros(objective.size), [np.zeros(objective.size)], []
    for iteration in range(epochs):
        losses.append(0.0)
        for row in order_of(seed, iteration, len(objective)):
            x, y = objective.x[row], objective.y[row]
            if (x @ weights > 0) != (y > 0) and x.any():
                cost = 1 - y * (x @ weights)
                weights = weights + aggressive(slack, c, cost, x @ x) * y * x
                losses[-1] += cost
            past.append(weights)
    trainer = PassiveAggressive(slack, c, averaging=averaging, seed=seed)
    learned, reported = trained(trainer, objective, epochs)
    np.testing.assert_allclose(learned, np.mean(past, axis=0) if averaging else weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(reported, losses, rtol=1e-9)


@settings(max_examples=25)
@given(SEED, PASSES, st.sampled_from([0.3, 1.0]), st.sampled_from([0.5, 1.0, 4.0]))
def test_arow_with_a_full_matrix_that_stays_diagonal(seed: int, epochs: int, variance: float, gamma: float) -> None:
    objective = Logistic.random(seed)
    weights, precision, losses = np.zeros(objective.size), np.full(objective.size, 1 / variance), []
    for iteration in range(epochs):
        losses.append(0.0)
        for row in order_of(seed, iteration, len(objective)):
            x, y = objective.x[row], objective.y[row]
            if (x @ weights > 0) != (y > 0) and x.any():
                cost = 1 - y * (x @ weights)
                weights = weights + cost / (gamma + x @ (x / precision)) * y * x / precision
                precision = precision + x * x / gamma
                losses[-1] += cost
    learned, reported = trained(AROW(variance, gamma, seed=seed), objective, epochs)
    np.testing.assert_allclose(learned, weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(reported, losses, rtol=1e-9)


def test_the_mean_cost_can_end_training() -> None:
    objective = Logistic.random(2)
    for trainer in (PassiveAggressive(), AROW()):
        state = trainer.start(objective, np.zeros(objective.size))
        trainer.step(objective, state)
        assert not state.converged
        patient = type(trainer)(epsilon=state.loss / len(objective) * 1.01)
        state = patient.start(objective, np.zeros(objective.size))
        patient.step(objective, state)
        assert state.converged


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PassiveAggressive(slack=3), "found slack=3, expected 0"),
        (lambda: PassiveAggressive(c=0), "found c=0, expected a number above 0"),
        (lambda: AROW(variance=0), "found variance=0, expected a number above 0"),
        (lambda: AROW(gamma=float("nan")), "found gamma=nan, expected a number above 0"),
    ],
)
def test_settings_out_of_range(make: Callable[[], Trainer], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_the_rate_of_adamw_rises_and_falls() -> None:
    learner = AdamW(warm_up=0.5)
    for updates, total, shares in ((4, 8, (0.5, 7 / 8, 6 / 8, 5 / 8, 4 / 8)), (1, 2, (1, 0.5, 0))):
        assert [learner._share_of_rate(n, updates, total) for n in range(len(shares))] == pytest.approx(shares)


def test_adamw_makes_a_thousand_updates() -> None:
    """Of the sentences that an iteration visits."""
    objectives: list[Any] = [SimpleNamespace(order=lambda *_, size=size: range(size)) for size in (100, 1000, 14_000)]
    assert [AdamW(batch=8).iterations(objective, True) for objective in objectives] == [16, 8, 3]


def test_defaults_are_those_that_were_chosen_on_development_data() -> None:
    """The pages of docs are made from the program, so nothing else would notice another default."""
    chosen = {
        AdaGrad: (0.2, 4, 0, 2, 0.1),
        AdamW: (2e-4, 20.0, 0.9, 0.1, 8, 1, 0.01, 0.5, 1.0, 0, 0),
        AROW: (1.0, 1.0, 0.0, 0),
        PassiveAggressive: (1, 1.0, True, True, 0.0, 0),
        AveragedPerceptron: (1, 0, 0.0),
        SGD: (1.0, None, 8, 0, 0.1, 2.0, 1000),
    }
    for learner, defaults in chosen.items():
        assert astuple(learner()) == defaults, learner
