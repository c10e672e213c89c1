"""Labels that do not depend on one another: their loss against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.evidence.trees import RelationEvidence
from tagweave.structures.loss import loss as loss_of
from tagweave.structures.tree import Independent


@pytest.mark.parametrize("numbers", [(1,), (1, 0.001)])
@pytest.mark.parametrize("seed", range(4))
def test_the_loss_and_its_gradient(seed: int, numbers: tuple[float, ...]) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(5, 4))
    allowed = rng.random((5, 4)) < 0.5
    allowed[:, 0] |= ~allowed.any(axis=1)
    if len(numbers) > 1:
        allowed = allowed * rng.choice(numbers, allowed.shape)
    counts, noise = rng.uniform(0, 2, 5), np.array([0, 0.5, 1, 0, 0.01])
    losses, gradient = loss_of(Independent(), scores, RelationEvidence(allowed, noise, counts, np.zeros(5, bool)))
    free = np.exp(scores)
    inside = np.where(allowed > 0, allowed, noise[:, None]) * free
    np.testing.assert_allclose(losses, counts * np.log(free.sum(axis=1) / inside.sum(axis=1)), atol=1e-5)
    shares = [each / each.sum(axis=1, keepdims=True) for each in (free, inside)]
    np.testing.assert_allclose(gradient, counts[:, None] * (shares[0] - shares[1]), atol=1e-5)


def loss_and_gradient(scores: np.ndarray, numbers: np.ndarray, is_posterior: bool) -> tuple[float, np.ndarray]:
    evidence = RelationEvidence(numbers[None], np.zeros(1), np.ones(1), np.array([is_posterior]))
    losses, gradient = loss_of(Independent(), scores[None], evidence)
    return losses.sum(), gradient[0]


def test_numbers_are_likelihoods_or_probabilities() -> None:
    scores, numbers = np.array([2.0, -1.0, 0.5, 3.0]), np.array([0.5, 0.25, 0.25, 0])
    p = np.exp(scores) / np.exp(scores).sum()
    loss, gradient = loss_and_gradient(scores, numbers / 0.5, False)
    assert loss == pytest.approx(-np.log(p @ (numbers / 0.5)))
    np.testing.assert_allclose(gradient, p - p * numbers / (p @ numbers))
    loss, gradient = loss_and_gradient(scores, numbers, True)
    assert loss == pytest.approx(-(numbers @ np.log(p)))
    np.testing.assert_allclose(gradient, p - numbers)
