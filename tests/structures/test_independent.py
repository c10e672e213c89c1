"""Labels that do not depend on one another: their loss against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.models.arc_labels import RelationScorer
from tagweave.structures.independent import Independent, Positions
from tagweave.structures.loss import add_loss


@pytest.mark.parametrize("numbers", [(1,), (1, 0.001)])
@pytest.mark.parametrize("seed", range(4))
def test_the_loss_and_its_gradient(seed: int, numbers: tuple[float, ...]) -> None:
    rng = np.random.default_rng(seed)
    weights, features = rng.normal(size=(8, 4)).astype(np.float32), rng.integers(0, 8, (5, 3)).astype(np.int32)
    allowed = rng.random((5, 4)) < 0.5
    allowed[:, 0] |= ~allowed.any(axis=1)
    if len(numbers) > 1:
        allowed = allowed * rng.choice(numbers, allowed.shape)
    counts, noise = rng.uniform(0, 2, 5), np.array([0, 0.5, 1, 0, 0.01])
    gradient, d_scores = np.zeros((8, 4), np.float32), np.zeros((5, 4))
    batch = Positions(features, allowed, noise, counts, np.zeros(5, bool))
    scorer = RelationScorer(weights, gradient)
    loss = add_loss(Independent(), scorer.scores(batch), batch, d_scores)
    scorer.add_gradient(batch, d_scores)
    free = np.exp(weights[features].sum(axis=1, dtype=np.float64))
    inside = np.where(allowed > 0, allowed, noise[:, None]) * free
    assert loss == pytest.approx(counts @ np.log(free.sum(axis=1) / inside.sum(axis=1)), abs=1e-5)
    shares = [each / each.sum(axis=1, keepdims=True) for each in (free, inside)]
    difference = counts[:, None] * (shares[0] - shares[1])
    np.testing.assert_allclose(d_scores, difference, atol=1e-5)
    expected = np.zeros((8, 4))
    np.add.at(expected, features, difference[:, None])
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


def loss_of(scores: np.ndarray, numbers: np.ndarray, is_posterior: bool) -> tuple[float, np.ndarray]:
    batch = Positions(np.zeros((1, 0), np.int32), numbers[None], np.zeros(1), np.ones(1), np.array([is_posterior]))
    gradient = np.zeros((1, len(scores)))
    return add_loss(Independent(), scores[None], batch, gradient), gradient[0]


def test_numbers_are_likelihoods_or_probabilities() -> None:
    scores, numbers = np.array([2.0, -1.0, 0.5, 3.0]), np.array([0.5, 0.25, 0.25, 0])
    p = np.exp(scores) / np.exp(scores).sum()
    loss, gradient = loss_of(scores, numbers / 0.5, False)
    assert loss == pytest.approx(-np.log(p @ (numbers / 0.5)))
    np.testing.assert_allclose(gradient, p - p * numbers / (p @ numbers))
    loss, gradient = loss_of(scores, numbers, True)
    assert loss == pytest.approx(-(numbers @ np.log(p)))
    np.testing.assert_allclose(gradient, p - numbers)
