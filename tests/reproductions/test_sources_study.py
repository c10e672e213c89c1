"""Simulated crowds, and the rows of the study of sources."""

import numpy as np
import pytest

from reproductions.sources import aggregation
from reproductions.sources.aggregation import gold_numbers, labelled, rows
from reproductions.sources.calibration import calibration_error
from reproductions.sources.crowd import Crowd, crowded
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.sources.answers import Answers

NEVER = (1.0, 1e9)


@pytest.fixture
def gold() -> Corpus:
    layer = (("B-X",), ("I-X",), ("O",), ("B-Y",))
    return Corpus(tuple(Sentence(("a", "b", "c", "d"), {"gold": layer}) for _ in range(40)), guideline="gold")


def test_people_who_never_err_mark_the_gold_spans_of_the_documents_they_see(gold):
    crowd = Crowd(10, 3, 5, NEVER, NEVER, NEVER, NEVER, NEVER)
    sentences, names = crowded(gold.sentences, "gold", crowd, 0)
    marked = [set(sentence.layers) - {"gold"} for sentence in sentences]
    assert all(marked)
    assert marked[0] == marked[4]
    assert len({frozenset(each) for each in marked}) > 1
    assert all(
        sentence.layers[name] == sentence.layers["gold"]
        for sentence in sentences
        for name in set(names) & set(sentence.layers)
    )


def test_people_who_err_leave_labels_that_can_follow_each_other(gold):
    crowd = Crowd(6, 4, 5, (2, 2), (2, 2), (2, 2), (2, 2), (2, 20))
    sentences, names = crowded(gold.sentences, "gold", crowd, 0)
    answers = Answers.of_sentences(sentences, names)
    first = answers.previous < 0
    assert answers.scheme.start[answers.label[first]].all()
    assert answers.scheme.transition[answers.label[answers.previous[~first]], answers.label[~first]].all()
    assert not np.array_equal(answers.label, gold_numbers(gold, answers.labels)[answers.position])


def test_a_row_scores_the_labels_of_a_method_against_gold(gold, monkeypatch):
    sentences, names = crowded(gold.sentences, "gold", Crowd(6, 4, 5), 1)
    answers = Answers.of_sentences(sentences, names)
    monkeypatch.setattr(aggregation, "WAYS", aggregation.WAYS[:3])
    found = list(rows(gold, answers, None, 20, lambda _: None))
    assert [row["name"] for row in found] == ["majority", "majority of whole spans", "Dawid-Skene"]
    assert found[2]["against"]["majority"]["difference"] == pytest.approx(found[2]["f"] - found[0]["f"])
    best = gold_numbers(gold, answers.labels)
    assert labelled(gold, answers.labels, best).sentences == gold.sentences


def test_calibration_error_is_the_gap_of_confidence_and_share_of_right_labels():
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    assert calibration_error(probabilities, np.array([0, 1, 1, 1])) == pytest.approx(100 * (0.4 + 0.4) / 2)
