"""Posteriors of labels as evidence: the expected loss of labels that are drawn by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from batches import Case
from tagweave.labels.sets import LabelRows, Posteriors
from tagweave.structures.chain import Chain, ChainGradient
from tagweave.structures.loss import loss as loss_of

LENGTHS = [4, 1, 3]


def case_of(rng: np.random.Generator, spread: float, size: int = 3, lengths: list[int] | None = None) -> Case:
    """Sentences without forbidden transitions, with a set of their own for every token, which has all labels."""
    lengths = lengths or LENGTHS
    n = sum(lengths)
    scores = (rng.normal(0, spread, shape) for shape in ((n, size), (size, size), size, size))
    return Case(lengths, *scores, np.arange(n, dtype=np.int32), np.ones((n, size)), np.zeros(0))


def posteriors_of(rng: np.random.Generator, groups: list[list[int] | None]) -> Posteriors:
    """Draw probabilities of groups, given for each token as the group of each label, or `None`."""
    drawn = [each for each in groups if each is not None]
    of_set = np.cumsum([each is not None for each in groups]) - 1
    of_set[[each is None for each in groups]] = -1
    share = np.zeros((len(drawn), max(max(each) for each in drawn) + 1))
    for row, each in zip(share, drawn, strict=True):
        row[: max(each) + 1] = rng.dirichlet(np.ones(max(each) + 1))
    return Posteriors(of_set.astype(np.int32), np.array(drawn, np.int32), share)


def loss_and_gradient(
    case: Case, posteriors: Posteriors | None, weights: tuple[float, ...] = (1.0, 1.0, 1.0), dtype: type = np.float64
) -> tuple[float, ChainGradient]:
    rows = LabelRows(case.masks, posteriors).in_precision(dtype)
    evidence = replace(case.evidence, rows=rows, weights=np.array(weights[: len(case.lengths)]))
    losses, gradient = loss_of(Chain(), case.scores_as(dtype), evidence)
    return float(losses.sum()), gradient


def twin_loss(case: Case, posteriors: Posteriors, weights: tuple[float, ...] = (1.0, 1.0, 1.0)) -> float:
    total = 0.0
    for s, (free, limited) in enumerate(zip(case.chains(False), case.chains(True), strict=True)):
        assert free is not None and limited is not None
        drawn = [
            {
                frozenset(np.flatnonzero(posteriors.group[number] == g).tolist()): float(p)
                for g, p in enumerate(posteriors.share[number])
                if p > 0
            }
            if number >= 0
            else None
            for number in posteriors.of_set[case.allow[case.ptr[s] : case.ptr[s + 1]]].tolist()
        ]
        total += weights[s] * (naive.log_partition(free) - naive.over_draws(limited, drawn))
    return total


def slopes(case: Case, gradient: ChainGradient, posteriors: Posteriors) -> tuple[float, float]:
    """The derivative along a random direction, by the gradient and by differences."""
    rng, step = np.random.default_rng(0), 1e-5
    along = [rng.normal(size=each.shape) for each in (case.scores, case.transition, case.start, case.end)]
    names = ("scores", "transition", "start", "end")
    moved = [
        loss_and_gradient(
            replace(case, **{n: getattr(case, n) + by * each for n, each in zip(names, along, strict=True)}), posteriors
        )[0]
        for by in (step, -step)
    ]
    pairs = zip((gradient.emission, gradient.transition, gradient.start, gradient.end), along, strict=True)
    return sum(float((own * each).sum()) for own, each in pairs), (moved[0] - moved[1]) / (2 * step)


@pytest.mark.parametrize("spread", [1.0, 2.0, 4.0, 8.0])
def test_loss_and_gradient_are_the_mean_over_draws(spread: float) -> None:
    """Posteriors everywhere, and posteriors beside labels, sets, likelihoods and unknown positions."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        case, weights = case_of(rng, spread), (0.5, 1.0, 3.0)
        everywhere = posteriors_of(rng, [[0, 1, 2]] * 8)
        loss, gradient = loss_and_gradient(case, everywhere, weights)
        assert loss == pytest.approx(twin_loss(case, everywhere, weights), rel=1e-9)
        found, expected = slopes(case, loss_and_gradient(case, everywhere)[1], everywhere)
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)
        single, one = loss_and_gradient(case, everywhere, weights, np.float32)
        assert single == pytest.approx(loss, rel=1e-4)
        np.testing.assert_allclose(one.emission, gradient.emission, atol=1e-4)
        case.masks[[1, 2, 5, 7]] = [[0, 1, 0], [0.1, 1, 0.5], [1, 0.3, 0.2], [0, 1, 1]]
        drawn = rng.permutation(8) < 4
        mixed = posteriors_of(rng, [[0, 1, 2] if each else None for each in drawn])
        case = replace(case, masks=np.where(drawn[:, None], 1.0, case.masks))
        loss, gradient = loss_and_gradient(case, mixed)
        assert loss == pytest.approx(twin_loss(case, mixed), rel=1e-9)
        found, expected = slopes(case, gradient, mixed)
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_of_groups_of_several_labels_the_loss_is_an_upper_bound_and_exact_for_one() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        case = case_of(rng, 2.0, 4, [3, 2])
        several = posteriors_of(rng, [[0, 0, 1, 1], [0, 1, 1, 2], None, [0, 1, 0, 1], None])
        loss, gradient = loss_and_gradient(case, several)
        expected = twin_loss(case, several)
        assert expected - 1e-9 <= loss < expected + 1
        found, differences = slopes(case, gradient, several)
        assert found == pytest.approx(differences, rel=1e-5, abs=1e-5)
        one = posteriors_of(rng, [None, [0, 1, 1, 0], None, None, [0, 1, 1, 1]])
        assert loss_and_gradient(case, one)[0] == pytest.approx(twin_loss(case, one), rel=1e-9)


def test_certain_posteriors_are_gold_labels_and_unknown_positions_nothing() -> None:
    rng = np.random.default_rng(1)
    case = case_of(rng, 2.0)
    labels = rng.integers(0, 3, 8)
    group = np.where(np.eye(3, dtype=bool)[labels], 0, -1).astype(np.int32)
    case = replace(case, masks=(group == 0).astype(float))
    certain = Posteriors(np.arange(8, dtype=np.int32), group, np.ones((8, 1)))
    (loss, gradient), (other_loss, other) = loss_and_gradient(case, certain), loss_and_gradient(case, None)
    assert loss == pytest.approx(other_loss, rel=1e-12)
    np.testing.assert_allclose(gradient.emission, other.emission, atol=1e-12)
    np.testing.assert_allclose(gradient.transition, other.transition, atol=1e-10)
    case = replace(case, masks=np.ones((8, 3)))
    known = posteriors_of(rng, [*[[0, 1, 2]] * 4, *[None] * 4])
    loss, gradient = loss_and_gradient(case, known)
    assert loss == pytest.approx(loss_and_gradient(case, known, (1.0, 0.0, 0.0))[0], abs=1e-12)
    np.testing.assert_allclose(gradient.emission[4:], 0, atol=1e-12)


def test_labels_that_the_coding_excludes_leave_their_share_to_the_others() -> None:
    rng = np.random.default_rng(3)
    case = case_of(rng, 2.0, 3, [1, 2])
    case.start[0] = -np.inf
    posteriors = posteriors_of(rng, [[0, 1, 2], [0, 1, 2], None])
    others = posteriors.share * [0, 1, 1]
    found = loss_and_gradient(case, posteriors)
    loss, gradient = loss_and_gradient(case, replace(posteriors, share=others / others.sum(axis=1, keepdims=True)))
    assert found[0] == pytest.approx(loss)
    np.testing.assert_allclose(found[1].emission, gradient.emission)


def test_what_cannot_precede_the_label_behind_it_leaves_its_share_to_what_can() -> None:
    """Of O 0.7, B 0.3 before I 0.4, O 0.6: B alone before I, and both before O; I keeps its share."""
    rng = np.random.default_rng(4)
    case = case_of(rng, 2.0, 3, [2])
    case.start[2] = case.transition[0, 2] = -np.inf
    group = np.array([[0, 1, -1], [0, -1, 1]], np.int32)
    posteriors = Posteriors(np.array([0, 1], np.int32), group, np.array([[0.7, 0.3], [0.6, 0.4]]))
    case = replace(case, masks=(group >= 0).astype(float))
    loss, gradient = loss_and_gradient(case, posteriors)
    (chain,) = case.chains(False)
    assert chain is not None
    weights = naive.log_weights(chain)
    expected = 0.4 * weights[1, 2] + 0.6 * (0.7 * weights[0, 0] + 0.3 * weights[1, 0])
    assert loss == pytest.approx(naive.log_partition(chain) - expected)
    given = np.array(naive.state_marginals(chain)) - gradient.emission
    np.testing.assert_allclose(given, [[0.42, 0.58, 0], [0.6, 0, 0.4]], atol=1e-12)
