"""Labels that do not depend on one another: their loss against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.models.arc_labels import RelationScorer
from tagweave.structures.independent import Independent, Positions
from tagweave.structures.loss import add_loss


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_and_its_gradient(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, features = rng.normal(size=(8, 4)).astype(np.float32), rng.integers(0, 8, (5, 3)).astype(np.int32)
    allowed = rng.random((5, 4)) < 0.5
    allowed[:, 0] |= ~allowed.any(axis=1)
    counts, noise = rng.uniform(0, 2, 5), np.array([0, 0.5, 1, 0, 0.01])
    gradient, d_scores = np.zeros((8, 4), np.float32), np.zeros((5, 4))
    batch, scorer = Positions(features, allowed, noise, counts), RelationScorer(weights, gradient)
    loss = add_loss(Independent(), scorer.scores(batch), batch, d_scores)
    scorer.add_gradient(batch, d_scores)
    free = np.exp(weights[features].sum(axis=1, dtype=np.float64))
    inside = np.where(allowed, 1, noise[:, None]) * free
    assert loss == pytest.approx(counts @ np.log(free.sum(axis=1) / inside.sum(axis=1)), abs=1e-5)
    shares = [each / each.sum(axis=1, keepdims=True) for each in (free, inside)]
    difference = counts[:, None] * (shares[0] - shares[1])
    np.testing.assert_allclose(d_scores, difference, atol=1e-5)
    expected = np.zeros((8, 4))
    np.add.at(expected, features, difference[:, None])
    np.testing.assert_allclose(gradient, expected, atol=1e-5)
