"""What is told of sources, how far they agree, and where another annotator would tell most."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from crowds import SPANS, random_answers

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.sources.agreement import agreement
from tagweave.sources.answers import Answers
from tagweave.sources.gain import expected_gains, questions
from tagweave.sources.layers import in_iob2, with_aggregate
from tagweave.sources.methods import aggregate
from tagweave.sources.reliability import inside_labels, source_rows, write_csv, write_json


@pytest.fixture
def result():
    return aggregate(random_answers(2))


def test_numbers_of_candidates_are_shares_and_are_divided_among_the_labels_of_a_wildcard():
    layers = {"x": (Soft(("N", "V"), (0.6, 0.2)),), "y": (Soft(("N", "!N"), (0.5, 0.5)),), "z": (("A",),)}
    answers = Answers.of_sentences([Sentence(("a",), layers)], "xyz")
    assert np.allclose(answers.votes(), [[1.25, 0.75 + 0.5, 0.5]])
    layers = {"x": (("!N",),), "y": (("N", "V"),), "z": (("A",),)}
    answers = Answers.of_sentences([Sentence(("a",), layers)], "xyz")
    assert answers.votes().tolist() == [[1.5, 0.5, 1.0]]
    assert answers.scheme.is_free


def test_gains_are_the_mutual_information_of_label_and_answer(result):
    reliability = result.reliability
    counts = reliability.expected.sum(axis=0) + 1 / 3
    theta = counts / counts.sum(axis=1, keepdims=True)
    p = np.array([0.5, 0.2, 0.3])
    joint = p[:, None] * theta
    expected = sum(joint[y, a] * np.log(joint[y, a] / (p[y] * joint[:, a].sum())) for y in range(3) for a in range(3))
    assert np.isclose(expected_gains(p[None], reliability)[0], expected)
    assert np.allclose(expected_gains(np.eye(3), reliability), 0)


def test_the_sentences_asked_for_have_the_largest_mean_gains(result):
    answers = random_answers(2)
    gains = expected_gains(result.probabilities.astype(float), result.reliability)
    means = [gains[a:b].mean() for a, b in zip(answers.sentence_ptr, answers.sentence_ptr[1:], strict=False)]
    asked = questions(result, answers.sentence_ptr, 2)
    assert [each.sentence for each in asked] == list(np.argsort(means)[::-1][:2])
    assert asked[0].gain == pytest.approx(max(means))


def test_reports_have_a_row_for_every_source_and_label(result):
    rows = source_rows(result.reliability)
    assert len(rows) == 3 * 4
    assert [row["label"] for row in rows[:4]] == ["", *SPANS]
    assert rows[0]["answers"] == pytest.approx(sum(row["answers"] for row in rows[1:4]), abs=0.2)
    assert inside_labels(result.reliability) == [0, 1]
    table, plain = io.StringIO(), io.StringIO()
    write_csv(result.reliability, table)
    write_json(result.reliability, plain)
    assert next(csv.DictReader(table.getvalue().splitlines()))["source"] == "source0"
    assert np.allclose(np.sum(json.loads(plain.getvalue())["confusion"]["source1"], axis=1), 1, atol=1e-4)


def test_the_layer_has_the_best_label_first_and_is_unknown_where_nobody_answered():
    sentence = Sentence(
        ("a", "b"),
        {"x": (("N",), None), "y": (("V",), None), "z": (("N",), None)},
        {"x": ("N", "_"), "pos": ("P", "P")},
    )
    answers = Answers.of_sentences([sentence], "xyz")
    (soft,) = with_aggregate([sentence], answers, aggregate(answers, "majority"), "tag")
    assert list(soft.layers) == ["tag"]
    assert soft.layers["tag"][0] == Soft(("N", "V"), (0.6667, 0.3333))
    assert soft.layers["tag"][1] is None
    assert list(soft.columns) == ["pos"]
    (hard,) = with_aggregate([sentence], answers, aggregate(answers, "majority"), "tag", hard=True)
    assert hard.layers["tag"] == (("N",), None)


def _corpus(*labels: str) -> Corpus:
    layer = tuple((label,) for label in labels)
    return Corpus((Sentence(tuple("abc"), {"x": layer}),))


@pytest.mark.parametrize("labels", [("B-X", "E-X", "O"), ("I-X", "I-X", "O"), ("B-X", "I-X", "O")])
def test_spans_of_any_coding_become_iob2(labels):
    assert in_iob2(_corpus(*labels), ["x"])[0].layers["x"] == (("B-X",), ("I-X",), ("O",))


def test_labels_that_are_no_spans_stay_and_broken_codings_are_refused():
    assert in_iob2(_corpus("N", "V", "N"), ["x"]) == _corpus("N", "V", "N")
    with pytest.raises(CorpusError):
        in_iob2(_corpus("B-X", "S-X", "O"), ["x"])


def test_numbers_are_no_sign_of_a_coding():
    corpus = Corpus((Sentence(("a",), {"x": (Soft(("I-X", "B-X"), (0.6, 0.4)),)}),), "x")
    assert in_iob2(corpus, ["x"]) is corpus


NAMES = ("ann", "bob", "eve")


def _answers(*columns: str) -> Answers:
    """Sources from a word for each position and source: `-` is unknown, `a|b` two candidates."""
    layers = [[None if each == "-" else tuple(each.split("|")) for each in column.split()] for column in columns]
    forms = tuple("w" for _ in layers[0])
    named = dict(zip(NAMES, map(tuple, layers), strict=False))
    return Answers.of_sentences([Sentence(forms, named)], NAMES[: len(columns)])


def _alpha(*columns: list[int | None]) -> float:
    """Compute alpha by its definition, from pairs of answers."""
    units = [[each for each in unit if each is not None] for unit in zip(*columns, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    together = [each for unit in units for each in unit]

    def differing(answers: list[int]) -> float:
        return sum(one != other for one in answers for other in answers) / (len(answers) - 1)

    return 1 - sum(map(differing, units)) / differing(together)


def test_alpha_is_that_of_the_definition_whatever_is_missing():
    random = np.random.default_rng(5)
    truth = random.integers(0, 4, 60)
    columns = [np.where(random.random(60) < 0.6, truth, random.integers(0, 4, 60)) for _ in NAMES]
    known = [random.random(60) < 0.7 for _ in NAMES]
    pairs = [list(zip(column.tolist(), mask, strict=True)) for column, mask in zip(columns, known, strict=True)]
    answers = _answers(*(" ".join("abcd"[label] if is_known else "-" for label, is_known in each) for each in pairs))
    expected = _alpha(*([label if is_known else None for label, is_known in each] for each in pairs))
    found = agreement(answers)
    assert found.everything.alpha == pytest.approx(expected)
    binary = _alpha(*([int(label == 2) if is_known else None for label, is_known in each] for each in pairs))
    assert found.labels["c"].alpha == pytest.approx(binary)


def test_of_two_sources_each_agrees_with_the_other_as_both_do():
    found = agreement(_answers("a a b b - c", "a b b b c -"))
    assert found.sources["ann"].alpha == pytest.approx(found.everything.alpha)
    assert found.everything.alpha == pytest.approx(_alpha([0, 0, 1, 1, None, 2], [0, 1, 1, 1, 2, None]))


def test_a_source_that_says_the_opposite_agrees_least():
    found = agreement(_answers("a a b b", "a a b b", "b b a a"))
    assert found.sources["eve"].alpha < 0 < found.sources["ann"].alpha


def test_coverage_overlap_and_conflict():
    found = agreement(_answers("a a - -", "a b b -", "- a - -"))
    everything = found.everything
    assert (everything.coverage, everything.overlap, everything.conflict) == (3, 2, 1)
    bob = found.sources["bob"]
    assert (bob.coverage, bob.overlap, bob.conflict) == (3, 2, 1)
    b = found.labels["b"]
    assert (b.coverage, b.overlap, b.conflict) == (2, 1, 1)
    assert found.counts == {"ann": {"a": 2, "b": 0}, "bob": {"a": 1, "b": 2}, "eve": {"a": 1, "b": 0}}


def test_candidates_contradict_what_they_exclude_alone():
    found = agreement(_answers("a|b a|b a|b", "a c b|c"))
    assert found.sources["ann"].conflict == found.sources["bob"].conflict == 1
    assert found.labels["c"].conflict == 1
    assert found.labels["a"].conflict == 1


def test_no_alpha_without_pairs_or_without_a_second_label():
    found = agreement(_answers("a - b", "- a -"))
    assert found.everything.alpha is found.sources["ann"].alpha is None
    assert agreement(_answers("a a", "a a")).everything.alpha is None
