"""Aggregation against sums over all label sequences, and what must hold of every method.

Silence of sources as evidence: rates, likelihoods, and functions that can only be told by it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from crowds import SPANS, of_sources, random_answers

from tagweave.sources.answers import Answers
from tagweave.sources.estimate import IndependentLabels, LabelChain, from_votes, in_turns
from tagweave.sources.methods import METHODS, aggregate, sequential_prior
from tagweave.sources.options import AGGREGATIONS
from tagweave.sources.reliability import Prior, SilenceRates, log_likelihood_rows, updated

FREE = ("N", "V", "X")


def one_context(right, wrong):
    return Prior((wrong + (right - wrong) * np.eye(3))[None])


def naive_rows(answers, log_theta, initial):
    """What answers say of the true label, answer by answer; log_theta [K][C][answer][truth]."""
    said = {}
    for t, k, label, share in zip(answers.position, answers.source, answers.label, answers.shares, strict=True):
        said.setdefault((t, k), []).append((label, float(share)))
    rows = np.zeros((answers.positions, len(answers.labels)))
    for (t, k), own in said.items():
        before = said.get((t - 1, k), ()) if t not in answers.sentence_ptr else ()
        contexts = before or [(initial, 1.0)]
        for (label, share), (context, part) in product(own, contexts):
            rows[t] += share * part * log_theta[k, context if log_theta.shape[1] > 1 else 0, label]
    return rows


@pytest.mark.parametrize("labels", [SPANS, FREE])
@pytest.mark.parametrize("seed", range(3))
def test_likelihoods_under_the_answer_before_are_those_of_answers_one_by_one(labels, seed):
    answers = random_answers(seed, labels)
    for prior in (one_context(2, 0.5), sequential_prior(answers, 1, 0.5)):
        reliability = updated(answers, from_votes(answers), prior)
        theta = reliability.counts / reliability.counts.sum(axis=2, keepdims=True)
        expected = naive_rows(answers, np.log(theta), prior.initial)
        assert np.allclose(log_likelihood_rows(answers, reliability), expected)


@pytest.mark.parametrize("labels", [SPANS, FREE])
def test_expected_confusions_are_those_of_answers_one_by_one(labels):
    answers = random_answers(3, labels)
    gamma, prior = from_votes(answers), sequential_prior(answers, 1, 0.5)
    counts = updated(answers, gamma, prior).counts - prior.counts
    for context, answer, truth in product(range(counts.shape[1]), range(3), range(3)):
        indicator = np.zeros((1, *counts.shape[1:]))
        indicator[0, context, answer, truth] = 1
        alone = naive_rows(of_sources(answers, [0]), indicator, prior.initial)
        assert np.isclose((alone * gamma).sum(), counts[0, context, answer, truth])


def test_hardly_any_source_is_expected_to_say_what_cannot_follow():
    prior = sequential_prior(random_answers(0), right=10, wrong=1)
    assert prior.initial == SPANS.index("O")
    for before, answer, truth in product(SPANS, repeat=3):
        expected = (11 if answer == truth else 1) * (1e-3 if (before, answer) == ("O", "I-X") else 1)
        assert prior.counts[SPANS.index(before), SPANS.index(answer), SPANS.index(truth)] == pytest.approx(expected)
    free = sequential_prior(random_answers(0, FREE), right=10, wrong=1)
    assert (free.initial, free.counts.tolist()) == (3, [(1 + 10 * np.eye(3)).tolist()] * 4)


@pytest.mark.parametrize("labels", [SPANS, FREE])
@pytest.mark.parametrize("variational", [False, True])
def test_posteriors_of_a_chain_are_sums_over_sequences(labels, variational):
    answers = random_answers(1, labels)
    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, 0.5, variational)
    chain = chain.updated(np.random.default_rng(0).random((4, 3)) * 5 * (chain.prior > 0))
    rows = np.random.default_rng(1).normal(size=(answers.positions, 3)) * 3
    found = chain.posterior(rows.copy())
    scores = chain.transitions
    gamma, pairs, log_z = np.zeros_like(rows), np.zeros((4, 3)), 0.0
    for low, high in pairwise(answers.sentence_ptr):
        weights = {}
        for labels_ in product(range(3), repeat=int(high - low)):
            steps = sum(scores.score[i, j] for i, j in pairwise(labels_))
            score = scores.start_score[labels_[0]] + steps + scores.end_score[labels_[-1]]
            weights[labels_] = np.exp(score + sum(rows[low + t, y] for t, y in enumerate(labels_)))
        total = sum(weights.values())
        log_z += np.log(total)
        for labels_, weight in weights.items():
            pairs[3, labels_[0]] += weight / total
            for t, y in enumerate(labels_):
                gamma[low + t, y] += weight / total
            for i, j in pairwise(labels_):
                pairs[i, j] += weight / total
    assert np.allclose(found.gamma, gamma)
    assert np.allclose(found.counts, pairs)
    assert np.isclose(found.log_z, log_z)


@pytest.mark.parametrize(("variational", "speaks"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("labels", [SPANS, FREE])
@pytest.mark.parametrize("seed", range(2))
def test_no_turn_lowers_the_objective(variational, speaks, labels, seed):
    answers = random_answers(seed, labels, soft=False)
    flat = np.full(3, 0.1)
    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, 0.2, variational)
    for truth in (IndependentLabels(flat, flat, variational), chain):
        for prior in (one_context(1, 0.1), sequential_prior(answers, 1, 0.1)):
            silent = range(len(answers.sources)) if speaks else ()
            curve = in_turns(
                answers, truth, prior, turns=40, tolerance=0, variational=variational, speaks=silent
            ).objectives
            assert np.diff(curve).min() > -1e-9
            assert curve[-1] > curve[0] + 1e-3


@pytest.mark.parametrize(("method", "variational"), [("dawid-skene", False), ("bsc", True)])
def test_each_method_has_its_truth_its_prior_and_its_kind_of_estimate(method, variational):
    answers, one = random_answers(8), np.ones(3)
    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, 1.0, variational)
    truth = IndependentLabels(one, one) if method == "dawid-skene" else chain
    prior = sequential_prior(answers, 10, 1) if method == "bsc" else one_context(1, 1)
    expected = in_turns(answers, truth, prior, variational=variational)
    found = METHODS[method](answers, {}, lambda line: None)
    assert np.allclose(found.objectives, expected.objectives)


@pytest.mark.parametrize("method", AGGREGATIONS)
def test_the_order_of_sources_does_not_matter_and_the_silent_change_nothing(method):
    answers = random_answers(5, sources=4)
    first = aggregate(answers, method)
    silent = replace(answers, sources=(*answers.sources, "silent"))
    order = [2, 0, 3, 1]
    turned, more = aggregate(of_sources(answers, order), method), aggregate(silent, method)
    assert np.allclose(turned.probabilities, first.probabilities, atol=1e-6)
    assert np.allclose(turned.reliability.confusion, first.reliability.confusion[order], atol=1e-6)
    assert np.array_equal(more.probabilities, first.probabilities)


@pytest.mark.parametrize("method", AGGREGATIONS)
def test_best_labels_follow_each_other_and_probabilities_sum_to_one(method):
    answers = random_answers(7)
    result = aggregate(answers, method)
    assert np.allclose(result.probabilities.sum(axis=1), 1)
    for low, high in pairwise(answers.sentence_ptr):
        assert answers.scheme.start[result.best[low]]
        assert answers.scheme.transition[result.best[low : high - 1], result.best[low + 1 : high]].all()


@pytest.mark.parametrize("method", ["dawid-skene", "bsc", "blend"])
def test_gold_decides_where_it_answers_and_tells_good_sources_from_bad_ones(method):
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 1500)
    # four always agree, since they do not look
    rows = [(t, k, 0) for t in range(1500) for k in range(4)] + [(t, 4, truth[t]) for t in range(1500)]
    rows += [(t, 5, truth[t]) for t in range(500)]
    position, source, label = np.array(rows, np.int32).T
    answers = Answers.of_rows(
        FREE, ["a", "b", "c", "d", "good", "gold"], np.arange(0, 1501, 5), position, source, label
    )
    result = aggregate(answers, method, known={"gold": 1})
    assert np.array_equal(result.best[:500], truth[:500])
    assert (result.best == truth).mean() > 0.95
    assert result.reliability.accuracy()[4, 0] > 0.9 > result.reliability.accuracy()[0, 0]


def test_intervals_hold_the_mean_and_narrow_with_answers():
    answers = random_answers(2)
    reliability = aggregate(answers).reliability
    for each in (reliability.recall(), reliability.accuracy()):
        assert (each[..., 1] <= each[..., 0]).all()
        assert (each[..., 0] <= each[..., 2]).all()
    wide, narrow = reliability.accuracy(0.99)[0], reliability.accuracy(0.5)[0]
    assert wide[2] - wide[1] > narrow[2] - narrow[1]


def test_sources_that_never_overlap_share_a_posterior_through_the_chain():
    labels = np.tile([0, 1, 2], 20).astype(np.int32)
    position = np.arange(60, dtype=np.int32)
    answers = Answers.of_rows(
        SPANS, ["a", "b"], np.arange(0, 61, 3), position, (position // 30).astype(np.int32), labels
    )
    assert np.array_equal(aggregate(answers).best, labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "best"}, "the method 'best', expected one of majority"),
        ({"known": {"gold": 1}}, "a known reliability of 'gold', expected one of source0"),
        ({"known": {"source0": 1.5}}, "the reliability 1.5 of 'source0', expected more than 0, up to 1"),
    ],
)
def test_unknown_methods_and_sources_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        aggregate(random_answers(0), **arguments)


def test_likelihoods_are_those_of_every_source_and_position():
    answers = random_answers(1, SPANS)
    gamma = np.random.default_rng(2).dirichlet(np.ones(3), answers.positions)
    silence, rows = SilenceRates.of(answers, gamma), np.zeros(gamma.shape)
    silence.add_likelihoods(rows)
    expected = np.zeros(gamma.shape)
    for k in range(len(answers.sources)):
        own = np.isin(np.arange(answers.positions), answers.position[answers.source == k])[:, None]
        rate = ((gamma * own).sum(axis=0) + 1) / (gamma.sum(axis=0) + 2)
        expected += np.where(own, np.log(rate), np.log(1 - rate))
    assert np.allclose(rows, expected)


def test_a_source_of_one_label_tells_by_answering_at_all():
    """Three functions find the same spans; a fourth one says where none is, and so always the same."""
    random = np.random.default_rng(0)
    inside = random.random(300) < 0.2
    rows = [(t, 0, 1) for t in np.flatnonzero(~inside)]
    rows += [(t, k, 0) for k in (1, 2, 3) for t in np.flatnonzero(inside & (random.random(300) < 0.7))]
    position, source, label = np.array(rows, np.int32).T
    answers = Answers.of_rows(["B-A", "O"], list("oabc"), np.arange(301), position, source, label)
    flat = np.ones(2)
    for speaks, is_right in (((0, 1, 2, 3), True), ((), False)):
        gamma = in_turns(answers, IndependentLabels(flat, flat), Prior.even(2, 1.0, {}), speaks=speaks).gamma
        assert (((gamma.argmax(axis=1) == 0) == inside).mean() > 0.95) == is_right


@pytest.mark.parametrize(("sources", "labels"), [("ao", (0, 1)), ("o", (1,))])
def test_silence_of_sources_that_only_exclude_says_nothing(sources, labels):
    rows = np.array([[k, k, label] for k, label in enumerate(labels)], np.int32).T
    answers = Answers.of_rows(["B-A", "O"], list(sources), np.array([0, 2]), *rows)
    silence, likelihoods = SilenceRates.of(answers, from_votes(answers)), np.zeros((2, 2))
    silence.add_likelihoods(likelihoods)
    assert len(silence.rates) == len(sources) - 1
    assert likelihoods.any() == (sources == "ao")
