"""What an answer is expected to tell, by counting all cases, and the same ranking wherever people are asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.annotate.selection import least_certain
from tagweave.sources.gain import gain_of_answer, gain_over_labels, of_sentences, questions
from tagweave.sources.methods import Aggregate
from tagweave.sources.reliability import Prior, Reliability
from tagweave.training.cascades.label_errors import LabelJudge
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

BELIEFS = np.array([0.5, 0.3, 0.2])
ANSWERS = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.6, 0.1, 0.2], [0.0, 0.3, 0.3, 0.4]])


def counted(answers: np.ndarray, recorded: np.ndarray) -> float:
    """The expected drop of -log q(y) by an answer, over all labels and answers."""
    joint = BELIEFS[:, None] * answers
    after = joint / joint.sum(axis=0)
    cases = [(y, a) for y in range(3) for a in range(answers.shape[1]) if joint[y, a] > 0]
    return float(sum(joint[y, a] * np.log(after[y, a] / recorded[y]) for y, a in cases))


@pytest.mark.parametrize("answers", [ANSWERS, np.eye(3), np.full((3, 2), 0.5)])
def test_an_answer_tells_what_counting_says_where_beliefs_are_recorded(answers: np.ndarray) -> None:
    assert gain_of_answer(BELIEFS, answers) == pytest.approx(counted(answers, BELIEFS))


def test_a_right_answer_tells_the_entropy() -> None:
    assert gain_of_answer(BELIEFS) == pytest.approx(counted(np.eye(3), BELIEFS))
    assert gain_of_answer(np.eye(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("answers", [ANSWERS, np.eye(3)])
def test_where_labels_are_recorded_an_answer_tells_in_proportion_to_their_being_wrong(answers: np.ndarray) -> None:
    recorded, small = np.array([False, True, False]), 1e-250
    q = np.where(recorded, 1.0, small)
    assert gain_over_labels(BELIEFS, recorded) == pytest.approx(counted(answers, q) / -np.log(small), abs=2e-3)
    assert gain_over_labels(BELIEFS, np.array([True, True, False])) == pytest.approx(0.2)


def test_sentences_are_ranked_by_their_tokens_mean() -> None:
    assert of_sentences(np.array([1.0, 3.0, 4.0]), np.array([0, 2, 2, 3])).tolist() == [2, 0, 4]


def test_check_aggregation_and_the_server_rank_the_same_beliefs_in_the_same_order() -> None:
    best = np.array([0.95, 0.6, 0.8, 0.99, 0.7, 0.55])
    table = np.concatenate([np.stack([best, 1 - best], 1), np.stack([1 - best, best], 1)])  # of NN and VV
    corpus = tw.Corpus([(["x"], ["NN"])] * len(best) + [(["x"], ["VV"])] * len(best))
    reliability = Reliability(("NN", "VV"), ("ann",), np.array([[[[9.0, 1.0], [1.0, 9.0]]]]), Prior.even(2, 0.0, {}))
    found = Aggregate(("NN", "VV"), table, table.argmax(1), reliability)
    orders = [[each.sentence for each in questions(found, np.arange(len(table) + 1), len(table))]]
    suspicion = LabelJudge(corpus, Recipe(Task("tag"))).doubts([[(row[None], {})] for row in table])[0]
    orders.append(np.argsort(-suspicion.round(12), kind="stable").tolist())
    tagger: Any = SimpleNamespace(
        labels=("NN", "VV"), model=SimpleNamespace(of_characters=False), probabilities=lambda *_: table[:, None]
    )
    orders += [least_certain(tagger, corpus.sentences, 1.0).sentence.tolist()]
    expected = np.argsort(best, kind="stable").tolist()
    for order in orders:  # mirrored beliefs are worth the same
        assert [each for each in order if each < len(best)] == expected
        assert [each - len(best) for each in order if each >= len(best)] == expected
