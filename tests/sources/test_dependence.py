"""Sources that err together: copies have one vote, shared opinions are found, independent sources are left alone."""

from __future__ import annotations

from math import lgamma

import numpy as np
import pytest
from crowds import of_sources

from tagweave.sources.answers import Answers
from tagweave.sources.dependence import Opinions, _dirichlet_multinomial, merge_copies, shared_opinions
from tagweave.sources.methods import aggregate, guessing_prior

LABELS = ("name", "other")


def answers_of(columns):
    """Answers of sources to all positions, int[N, K]; sentences of five positions."""
    size, count = columns.shape
    position, source = (each.reshape(-1).astype(np.int32) for each in np.indices(columns.shape))
    names = [f"source{k}" for k in range(count)]
    return Answers.of_rows(LABELS, names, np.arange(0, size + 1, 5), position, source, columns.reshape(-1))


def people(random, truth, count):
    """Independent people, who miss three tenths of the names and mark a few other things."""
    wrong = np.where(
        truth[:, None] == 0, random.random((len(truth), count)) < 0.3, random.random((len(truth), count)) < 0.01
    )
    return np.where(wrong, 1 - truth[:, None], truth[:, None])


def share_right(answers, truth, method="blend"):
    found = aggregate(answers, method)
    names = (truth == 0) | (found.best == 0)
    return (found.best == truth)[names].mean()


def made(seed, size=3000):
    random = np.random.default_rng(seed)
    return random, np.where(random.random(size) < 0.2, 0, 1)


@pytest.mark.parametrize("changed", [0.0, 0.04])
def test_three_copies_of_five_sources_have_one_vote(changed):
    random, truth = made(0)
    independent = people(random, truth, 3)
    copies = np.repeat(independent[:, :1], 2, axis=1)
    copies[(copies == 0) & (random.random(copies.shape) < changed)] = 1
    answers = answers_of(np.concatenate([independent, copies], axis=1))
    single = merge_copies(answers)
    assert single.sources == ("source0", "source1", "source2")
    assert single.answered.tolist() == [3] * len(truth)
    assert np.allclose(np.bincount(single.position, single.shares), 3)
    expected = (answers.votes()[:, 0] - (independent[:, 1:] == 0).sum(axis=1)) / 3
    assert np.allclose(single.votes()[:, 0] - (independent[:, 1:] == 0).sum(axis=1), expected, atol=1e-6)
    alone = share_right(of_sources(answers, [0, 1, 2]), truth)
    assert alone > share_right(answers, truth, "majority") + 0.05
    assert share_right(answers, truth) > alone - 0.01
    found = aggregate(answers)
    assert found.reliability.sources == answers.sources


def test_independent_sources_are_no_copies_and_share_no_opinion():
    random, truth = made(1)
    answers = answers_of(people(random, truth, 5))
    assert merge_copies(answers) is answers
    assert shared_opinions(answers, guessing_prior(answers)).share < 0.06
    assert share_right(answers, truth) > share_right(answers, truth, "majority") + 0.01


def test_sources_of_known_reliability_are_merged_with_none_and_three_remain():
    random, truth = made(2)
    independent = people(random, truth, 3)
    answers = answers_of(np.concatenate([independent, independent[:, :1]], axis=1))
    assert len(merge_copies(answers).sources) == 3
    assert merge_copies(answers, ["source3"]) is answers
    pair = answers_of(independent[:, [0, 0, 1]])
    assert merge_copies(pair) is pair


def test_a_few_positions_do_not_show_that_sources_are_copies():
    random, truth = made(3, 40)
    independent = people(random, truth, 3)
    answers = answers_of(np.concatenate([independent, independent[:, :1]], axis=1))
    assert merge_copies(answers) is answers


def trained_alike(seed):
    """Seven sources; at one position in ten, each marks a name by a share that is the same for all."""
    random, truth = made(seed)
    hard = random.random(len(truth)) < 0.1
    share = np.where(truth == 0, 0.97, 0.002)
    share[hard] = random.random(hard.sum())
    truth = np.where(hard, np.where(random.random(len(truth)) < share, 0, 1), truth)
    return np.where(random.random((len(truth), 7)) < share[:, None], 0, 1), truth


def test_where_sources_err_together_votes_decide_and_agreement_is_not_taken_for_certainty():
    columns, truth = trained_alike(4)
    answers = answers_of(columns)
    opinions = shared_opinions(answers, guessing_prior(answers))
    marks = (columns == 0).sum(axis=1)
    assert opinions.share > 0.3
    assert opinions.probability[marks == 3].mean() > 0.8
    assert opinions.probability[marks == 0].mean() < 0.1
    found = aggregate(answers)
    few = (marks == 2) | (marks == 3)
    assert found.probabilities[few, 0].mean() == pytest.approx((truth == 0)[few].mean(), abs=0.12)
    right, by_votes = ((each.best == truth).mean() for each in (found, aggregate(answers, "majority")))
    assert right > by_votes - 0.005
    assert (found.best[marks >= 4] == 0).all()
    assert (found.best[marks <= 2] == 1).all()
    independent = aggregate(answers, "dawid-skene")
    assert independent.probabilities[few, 0].mean() > (truth == 0)[few].mean() + 0.2


def test_three_answers_show_no_opinion():
    columns, _ = trained_alike(5)
    answers = answers_of(columns[:, :3])
    opinions = shared_opinions(answers, guessing_prior(answers))
    assert opinions == Opinions(opinions.probability, 0.0)
    assert not opinions.probability.any()


def test_counts_under_an_opinion_have_the_probabilities_of_polyas_urn():
    counts, mean = np.array([[2.0, 1.0], [0.0, 3.0]]), np.array([0.25, 0.75])
    found = _dirichlet_multinomial(counts, mean, np.array([1.0, 0.0]))
    by_size = {}
    for s in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        alpha = s * mean
        by_size[s] = [
            lgamma(s) - lgamma(s + 3) + sum(lgamma(a + n) - lgamma(a) for a, n in zip(alpha, row, strict=True))
            for row in counts
        ]
    best = max(by_size.values(), key=lambda each: each[0])
    assert found == pytest.approx(best)
    assert best not in (by_size[0.25], by_size[32.0])
