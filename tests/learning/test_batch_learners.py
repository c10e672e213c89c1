"""Learners over all sentences at once reach the optimum that SciPy finds, and know when they have."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from convex import Logistic
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pairwise import pairwise
from tagweave.learning.learners.lbfgs import LBFGS
from tagweave.learning.trainer import Trainer, TrainerState

EXACT = {"epsilon": 1e-7, "delta": 0.0}


def trained(trainer: Trainer, objective: Logistic, iterations: int) -> TrainerState:
    state = trainer.start(objective, np.zeros(objective.size, objective.dtype))
    for _ in range(iterations):
        before = state.iteration
        if not state.converged:
            trainer.step(objective, state)
        if state.iteration == before:
            break
    return state


def optimum(objective: Logistic, c2: float) -> Any:
    def value(weights: Any) -> tuple[float, Any]:
        loss, gradient = objective.loss_and_gradient(weights)
        return loss + c2 * float(weights @ weights), gradient + 2 * c2 * weights

    return minimize(value, np.zeros(objective.size), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})


@pytest.mark.parametrize("c2", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_scipys(c2: float, seed: int) -> None:
    objective = Logistic.random(seed)
    trainer = LBFGS(c2=c2, **EXACT)
    state = trained(trainer, objective, 200)
    expected = optimum(objective, c2)
    assert objective.regularised(trainer.result(state), c2) == pytest.approx(expected.fun, rel=1e-8)
    np.testing.assert_allclose(trainer.result(state), expected.x, rtol=1e-3, atol=1e-4)
    assert state.loss == pytest.approx(expected.fun, rel=1e-6)


def test_convergence_is_reported_at_the_optimum() -> None:
    state = trained(LBFGS(c2=0.5, **EXACT), Logistic.random(7), 200)
    assert state.converged
    assert 1 < state.iteration < 200


def test_nothing_to_learn_from_has_converged_at_0() -> None:
    trainer, empty = LBFGS(), Logistic(np.zeros((0, 5)), np.zeros(0))
    state = trainer.start(empty, np.zeros(5))
    trainer.step(empty, state)
    assert state.converged
    assert not trainer.result(state).any()


@pytest.mark.parametrize(("epsilon", "converged"), [(1e-5, True), (1e-6, False)])
def test_the_gradient_is_compared_with_the_size_of_the_weights(epsilon: float, converged: bool) -> None:
    flat = Logistic(np.zeros((1, 1)), np.ones(1))
    trainer = LBFGS(c2=2.5e-6, epsilon=epsilon)
    state = trainer.start(flat, np.array([1000.0]))  # |gradient| = 2 c2 |w| = 0.005
    trainer.step(flat, state)
    assert state.converged == converged


def test_a_small_fall_over_the_period_ends_lbfgs() -> None:
    eager = trained(LBFGS(c2=0.1, period=3, delta=1e-2), Logistic.random(3), 200)
    patient = trained(LBFGS(c2=0.1, period=3, delta=1e-6), Logistic.random(3), 200)
    assert eager.converged
    assert 3 < eager.iteration < patient.iteration


@pytest.mark.parametrize("times", [0.001, 1000.0])
def test_the_fall_of_the_loss_is_compared_with_the_loss(times: float) -> None:
    one = Logistic.random(3)
    plain = trained(LBFGS(c2=0.1, period=3, delta=1e-2, epsilon=0), one, 200)
    scaled = trained(LBFGS(c2=0.1 * times, period=3, delta=1e-2, epsilon=0), _Times(one, times), 200)
    assert plain.converged and scaled.converged
    assert plain.iteration == scaled.iteration


class _Times(Logistic):
    """A problem whose loss is multiplied by a number."""

    def __init__(self, one: Logistic, times: float) -> None:
        super().__init__(one.x, one.y)
        self._times = times

    def loss_and_gradient(self, weights: Any) -> tuple[float, Any]:
        loss, gradient = super().loss_and_gradient(weights)
        return self._times * loss, self._times * gradient


@settings(max_examples=12)
@given(st.integers(0, 1000), st.integers(1, 8))
def test_lbfgs_never_climbs(seed: int, memory: int) -> None:
    trainer, objective = LBFGS(c2=0.01, memory=memory, **EXACT), Logistic.random(seed, rows=12, size=5)
    state = trainer.start(objective, np.zeros(objective.size))
    before = state.loss
    for _ in range(15):
        if state.converged:
            break
        trainer.step(objective, state)
        assert state.loss <= before
        before = state.loss
        assert state.loss == pytest.approx(objective.regularised(state.weights, 0.01), rel=1e-12)


def two_loops(slope: Any, steps: list[Any], changes: list[Any]) -> Any:
    """The direction of L-BFGS by Nocedal's recursion over the last steps and changes of the gradient."""
    q, alphas = slope.copy(), []
    for s, y in zip(reversed(steps), reversed(changes), strict=True):
        alphas.append(s @ q / (s @ y))
        q = q - alphas[-1] * y
    r = q * (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, y, alpha in zip(steps, changes, reversed(alphas), strict=True):
        r = r + s * (alpha - y @ r / (s @ y))
    return -r


@pytest.mark.parametrize("memory", [1, 3, 6])
def test_lbfgs_goes_in_the_direction_of_two_loops(memory: int) -> None:
    trainer, objective = LBFGS(c2=0.1, memory=memory, **EXACT), Logistic.random(3)
    state = trainer.start(objective, np.zeros(objective.size))
    points = [(state.weights, state.arrays["gradient"])]
    for _ in range(9):
        trainer.step(objective, state)
        points.append((state.weights, state.arrays["gradient"]))
    steps, changes = ([b[i] - a[i] for a, b in itertools.pairwise(points)] for i in (0, 1))
    for at in range(1, 9):
        own = slice(max(0, at - memory), at)
        expected = two_loops(points[at][1], steps[own], changes[own])
        ratio = steps[at] / expected
        np.testing.assert_allclose(ratio, ratio.max(), rtol=1e-3)


@pytest.mark.parametrize("products", [np.eye(14), np.eye(14, k=7)], ids=["s y = 0", "y y = 0"])
def test_a_history_without_curvature_is_left_out(products: Any) -> None:
    """Only a file can hold one: rows 0 to 6 of the products are steps, the others changes of the gradient."""
    trainer, objective = LBFGS(c2=0.1), Logistic.random(3)
    state = trained(trainer, objective, 3)
    state.arrays["products"], before = products, state.loss
    slope = objective.loss_and_gradient(state.weights)[1] + 0.2 * state.weights
    np.testing.assert_allclose(trainer._direction(objective, state, slope), -slope)
    trainer.step(objective, state)
    assert state.loss < before


def test_float32_comes_close() -> None:
    single, double, trainer = Logistic.random(1, dtype=np.float32), Logistic.random(1), LBFGS(c2=0.1, **EXACT)
    weights = np.asarray(trainer.result(trained(trainer, single, 200)), np.float64)
    assert double.regularised(weights, 0.1) == pytest.approx(optimum(double, 0.1).fun, rel=1e-4)


@pytest.mark.parametrize(("c2", "c1", "seed"), pairwise([0.0, 0.1], [0.5, 3.0], range(3)))
def test_owlqn_meets_the_conditions_of_the_optimum(c1: float, c2: float, seed: int) -> None:
    """0 is a subgradient of F: g + c1 sign(w) = 0 where w is not 0, and |g| <= c1 where it is."""
    objective = Logistic.random(seed, rows=40, size=12)
    state = trained(LBFGS(c1=c1, c2=c2, epsilon=1e-6, delta=0.0), objective, 400)
    weights = state.weights
    gradient = objective.loss_and_gradient(weights)[1] + 2 * c2 * weights
    kept = weights != 0
    np.testing.assert_allclose(gradient[kept], -c1 * np.sign(weights[kept]), atol=1e-4)
    assert (np.abs(gradient[~kept]) <= c1 + 1e-4).all()
    assert kept.any()
    assert state.loss == pytest.approx(objective.regularised(weights, c2, c1))


def test_lbfgs_ends_where_no_step_is_better() -> None:
    """The gradient points the wrong way, so the line search finds nothing along the steepest descent either."""

    class Uphill(Logistic):
        def loss_and_gradient(self, weights: Any, *more: Any) -> Any:
            loss, gradient = super().loss_and_gradient(weights, *more)
            return loss, -gradient

    given = Logistic.random(0)
    state = trained(LBFGS(c2=0.0), Uphill(given.x, given.y), 5)
    assert state.converged and state.iteration == 0
    assert not state.weights.any()
