"""Posteriors of labels as evidence: the sums of the nearest distribution that has them as marginals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from batches import Case
from tagweave.labels.sets import LabelRows, Posteriors
from tagweave.structures import chain as structure
from tagweave.structures.chain import Chain, ChainGradient
from tagweave.structures.loss import loss as loss_of


def case_of(rng: np.random.Generator, lengths: list[int], size: int) -> Case:
    """Sentences without forbidden transitions; set 1 is all labels but the last, set 2 all labels."""
    n = sum(lengths)
    masks = np.ones((3, size))
    masks[1, -1] = 0
    allow = rng.integers(0, 3, n).astype(np.int32)
    scores = (rng.normal(0, 2, shape) for shape in ((n, size), (size, size), size, size))
    return Case(lengths, *scores, allow, masks, np.zeros(0))


def posteriors_of(case: Case, rng: np.random.Generator) -> Posteriors:
    """Set 1 has a probability for each of its labels."""
    size = len(case.start)
    group = np.arange(size, dtype=np.int32)[None, :].copy()
    group[0, -1] = -1
    share = rng.dirichlet(np.ones(size - 1))[None, :]
    return Posteriors(np.array([-1, 0, -1], np.int32), group, share)


def loss_and_gradient(
    case: Case, posteriors: Posteriors | None, weights: tuple[float, ...] = ()
) -> tuple[float, ChainGradient]:
    evidence = replace(case.evidence, rows=LabelRows(case.masks, posteriors))
    evidence = replace(evidence, weights=np.array(weights)) if weights else evidence
    losses, gradient = loss_of(Chain(), case.scores_as(np.float64), evidence)
    return float(losses.sum()), gradient


@pytest.fixture
def converged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "_SWEEPS", 2000)


@pytest.mark.usefixtures("converged")
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(3, 4))
def test_loss_and_gradient_are_those_of_the_nearest_distribution(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    case = case_of(rng, [4, 1, 3], size)
    posteriors = posteriors_of(case, rng)
    assume(posteriors.share.min() > 0.02)
    weights = (0.5, 1.0, 3.0)
    loss, gradient = loss_and_gradient(case, posteriors, weights)
    wanted, expected = 0.0, np.zeros(case.scores.shape)
    for s, twin in enumerate(case.chains(False)):
        assert twin is not None
        first, last = case.ptr[s], case.ptr[s + 1]
        labels = {y: float(posteriors.share[0, y]) for y in range(size - 1)}
        given_at = {t: labels for t in range(last - first) if case.allow[first + t] == 1}
        q = naive.nearest(twin, given_at)
        wanted += weights[s] * naive.divergence(q, twin)
        expected[first:last] += weights[s] * np.array(naive.state_marginals(twin))
        for sequence, mass in q.items():
            expected[range(first, last), list(sequence)] -= weights[s] * mass
    assert loss == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    np.testing.assert_allclose(gradient.emission, expected, atol=1e-6)


def one_hot(case: Case, labels: Any) -> tuple[Case, Posteriors]:
    """The case with a set for each label, in which that label has probability 1 and others none."""
    size = len(case.start)
    group = np.where(np.eye(size, dtype=bool), 0, -1).astype(np.int32)
    of_set = np.concatenate([[-1], np.arange(size)]).astype(np.int32)
    masks = np.concatenate([np.ones((1, size)), np.eye(size)])
    certain = Posteriors(of_set, group, np.ones((size, 1)))
    return replace(case, masks=masks, allow=(labels + 1).astype(np.int32)), certain


def test_certain_posteriors_are_gold_labels() -> None:
    rng = np.random.default_rng(1)
    case, posteriors = one_hot(case_of(rng, [4, 2], 4), rng.integers(-1, 4, 6))
    loss, gradient = loss_and_gradient(case, posteriors)
    other_loss, other = loss_and_gradient(case, None)
    assert loss == pytest.approx(other_loss, rel=1e-12)
    np.testing.assert_allclose(gradient.emission, other.emission, atol=1e-12)
    np.testing.assert_allclose(gradient.transition, other.transition, atol=1e-10)


def test_labels_that_the_coding_excludes_leave_their_share_to_the_others() -> None:
    rng = np.random.default_rng(3)
    case = replace(case_of(rng, [1, 3], 4), allow=np.array([1, 1, 2, 2], np.int32))
    case.start[0] = -np.inf
    posteriors = posteriors_of(case, rng)
    others = posteriors.share * [0, 1, 1]
    found = loss_and_gradient(case, posteriors)
    loss, gradient = loss_and_gradient(case, replace(posteriors, share=others / others.sum()))
    assert found[0] == pytest.approx(loss)
    np.testing.assert_allclose(found[1].emission, gradient.emission)
