"""Silence of sources as evidence: rates, likelihoods, and functions that can only be told by it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from crowds import SPANS, random_answers

from tagweave.sources.answers import Answers
from tagweave.sources.estimate import from_votes, in_turns
from tagweave.sources.method import Run
from tagweave.sources.options import TurnOptions
from tagweave.sources.posterior import aggregate
from tagweave.sources.reliability import Prior
from tagweave.sources.silence import Silence
from tagweave.sources.truth import IndependentLabels, LabelChain


def test_likelihoods_are_those_of_every_source_and_position():
    answers = random_answers(1, SPANS)
    gamma = np.random.default_rng(2).dirichlet(np.ones(3), answers.positions)
    silence, rows = Silence.of(answers, gamma), np.zeros(gamma.shape)
    silence.add_likelihoods(rows)
    expected = np.zeros(gamma.shape)
    for k in range(len(answers.sources)):
        own = np.isin(np.arange(answers.positions), answers.position[answers.source == k])[:, None]
        rate = ((gamma * own).sum(axis=0) + 1) / (gamma.sum(axis=0) + 2)
        expected += np.where(own, np.log(rate), np.log(1 - rate))
    assert np.allclose(rows, expected)


@pytest.mark.parametrize("chain", [False, True])
def test_the_objective_never_falls(chain):
    answers = random_answers(4, SPANS)
    ones = np.ones(3)
    truth = LabelChain.of(answers.sentence_ptr, answers.scheme, 1.0, False) if chain else IndependentLabels(ones, ones)
    found = in_turns(answers, truth, Prior.plain(3, 2, 1), TurnOptions(30, 0), Run(), speaks=True)
    assert all(after >= before - 1e-9 for before, after in pairwise(found.objectives))
    assert found.objectives[-1] > found.objectives[0]


def test_a_source_of_one_label_tells_by_answering_at_all():
    """Three functions find the same spans; a fourth one says where none is, and so always the same."""
    random = np.random.default_rng(0)
    inside = random.random(300) < 0.2
    rows = [(t, 0, 1) for t in np.flatnonzero(~inside)]
    rows += [(t, k, 0) for k in (1, 2, 3) for t in np.flatnonzero(inside & (random.random(300) < 0.7))]
    position, source, label = np.array(rows, np.int32).T
    answers = Answers.of_rows(["B-A", "O"], list("oabc"), np.arange(301), position, source, label)
    right = [((aggregate(answers, "dawid-skene", each).best == 0) == inside).mean() for each in ({"silence": True}, {})]
    assert right[0] > 0.95 > right[1]


def test_silence_of_a_source_that_only_excludes_says_nothing():
    answers = Answers.of_rows(["B-A", "O"], ["a", "o"], np.array([0, 2]), *np.array([[0, 1], [0, 1], [0, 1]], np.int32))
    assert len(Silence.of(answers, from_votes(answers)).rates) == 1


def test_sources_that_all_only_exclude_say_nothing_by_silence():
    answers = Answers.of_rows(["B-A", "O"], ["o"], np.array([0, 2]), *np.array([[0], [0], [1]], np.int32))
    rows = np.zeros((2, 2))
    Silence.of(answers, from_votes(answers)).add_likelihoods(rows)
    assert not rows.any()
