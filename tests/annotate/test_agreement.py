"""Agreement by hand, beside scikit-learn's kappa, and beside the textbook's alpha."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_tasks import JJ, NN, VV

from tagweave.annotate.aggregation import Rule
from tagweave.annotate.pages.dashboard import (
    cohens_kappa,
    cohens_kappas,
    krippendorffs_alpha,
    of_first,
    raw_agreement,
)
from tagweave.annotate.record import Vote
from tagweave.annotate.task import CANNOT_TELL, Answer

_ANSWERS = st.sampled_from([NN, VV, JJ, CANNOT_TELL])


def votes_of(*tasks: dict[str, Answer]) -> list[Vote]:
    """Who said what, by task; slots in the order of the names."""
    return [
        Vote(number, name, slot, answer)
        for number, answers in enumerate(tasks)
        for slot, (name, answer) in enumerate(answers.items())
    ]


def test_raw_agreement_is_of_pairs() -> None:
    votes = votes_of({"a": NN, "b": NN}, {"a": NN, "b": VV, "c": VV}, {"c": NN})
    assert raw_agreement(votes) == 2 / 4
    assert raw_agreement(of_first(votes, Rule())) == 1 / 2
    assert raw_agreement(votes[-1:]) is None


def test_those_who_were_asked_first_are_told_by_their_slots() -> None:
    votes = [Vote(1, "a", 0, NN), Vote(1, "b", 1, VV), Vote(1, "c", 2, VV), Vote(1, "d", 3, VV), Vote(2, "a", None, NN)]
    assert of_first(votes, Rule()) == votes[:2]
    assert of_first(votes, Rule(1, 2, 2)) == votes[:1]


@given(st.lists(st.tuples(_ANSWERS, _ANSWERS), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[Answer, Answer]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found = cohens_kappa(pairs)
    if found is None:
        assert {*pairs} == {(pairs[0][0], pairs[0][0])}
        return
    first, second = ([str(answer) for answer in answers] for answers in zip(*pairs, strict=True))
    assert found == pytest.approx(metrics.cohen_kappa_score(first, second))


def test_kappa_is_of_each_two_annotators_whatever_their_order() -> None:
    votes = votes_of({"a": NN, "b": NN}, {"b": VV, "a": VV}, {"a": NN, "c": VV}, {"c": NN, "a": VV})
    assert cohens_kappas(votes) == {("a", "b"): 1.0, ("a", "c"): pytest.approx(-1.0)}


@pytest.mark.parametrize(
    ("observers", "alpha"),
    [
        (["0100000010", "1110010000"], 0.095),
        (["aabbdcccedda", "babbbccceddd"], 0.692),
        (["123321412...", "1233224125.3", ".3332342251.", "12332441251."], 0.743),
    ],
)
def test_alpha_of_the_textbook(observers: list[str], alpha: float) -> None:
    """The examples of nominal data in Krippendorff 2011, sections A to C; a point is a missing answer."""
    votes = [
        Vote(task, str(name), None, Answer(NN.kind, letter))
        for name, row in enumerate(observers)
        for task, letter in enumerate(row)
        if letter != "."
    ]
    assert krippendorffs_alpha(votes) == pytest.approx(alpha, abs=0.0005)


@given(st.lists(st.lists(_ANSWERS, max_size=4), max_size=12))
def test_alpha_by_counting_pairs(tasks: list[list[Answer]]) -> None:
    """alpha = 1 - observed / expected disagreement, over pairs of answers of a task, and of all answers."""
    votes = votes_of(*({str(name): answer for name, answer in enumerate(answers)} for answers in tasks))
    compared = [answers for answers in tasks if len(answers) > 1]
    together = [answer for answers in compared for answer in answers]
    found = krippendorffs_alpha(votes)
    if len({*together}) < 2:
        assert found is None
        return

    def differing(answers: list[Answer]) -> int:
        return sum(one != other for one in answers for other in answers)

    observed = sum(differing(answers) / (len(answers) - 1) for answers in compared) / len(together)
    expected = differing(together) / (len(together) * (len(together) - 1))
    assert found == pytest.approx(1 - observed / expected, abs=1e-9)
