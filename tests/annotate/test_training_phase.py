"""Who is admitted after simulated tasks: enough of the last answers are right."""

from __future__ import annotations

import pytest
from fixture_types import NewUrl, OpenStore
from hypothesis import given
from hypothesis import strategies as st
from made_tasks import NN, VV, hire, make_tasks

from tagweave.annotate.aggregation import Admission, Settings
from tagweave.annotate.assignment import is_passed
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, Purpose


@pytest.mark.parametrize(
    ("right", "passed"),
    [("", False), ("11", False), ("110", False), ("1101", True), ("0011", False), ("000111", True), ("11110", True)],
)
def test_three_of_the_last_four(right: str, passed: bool) -> None:
    assert is_passed([each == "1" for each in right], Admission(questions=4, accuracy=0.75)) is passed


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 10), st.floats(0, 1))
def test_what_was_long_ago_does_not_count(right: list[bool], questions: int, accuracy: float) -> None:
    admission = Admission(questions, accuracy)
    for before in ([False] * 5, [True] * 5):
        if len(right) >= questions:
            assert is_passed(before + right, admission) == is_passed(right, admission)


def test_right_is_the_same_kind_and_the_same_label(open_store: OpenStore) -> None:
    store = open_store(Settings(admission=Admission(questions=9)))
    store.add_tasks(make_tasks(range(4), Purpose.TRAINING, NN))
    store.add_tasks(make_tasks(range(4, 6), Purpose.TRAINING, NOT_A_WORD))
    (a,) = hire(store, 1)
    expected = []
    for answer in (NN, VV, CANNOT_TELL, NOT_A_WORD, NOT_A_WORD, NN):
        lease = store.claim(a)
        assert lease is not None
        expected.append(answer == lease.task.gold)
        assert store.answer(a, lease.task_id, answer).gold == lease.task.gold
    assert store.training_results(a) == expected
    assert {*expected} == {True, False}


def test_what_others_answer_does_not_count(open_store: OpenStore) -> None:
    store = open_store(Settings(admission=Admission(questions=1, accuracy=1.0)))
    store.add_tasks(make_tasks(range(4), Purpose.TRAINING, NN))
    a, b = hire(store, 2)
    lease = store.claim(a)
    assert lease is not None
    store.answer(a, lease.task_id, NN)
    admitted = {person.name: person.admitted is not None for person in store.annotators()}
    assert admitted == {"annotator 0": True, "annotator 1": False}
    assert store.training_results(b) == []


def test_who_hands_out_tasks_says_whether_there_is_a_training_phase(open_store: OpenStore, new_url: NewUrl) -> None:
    url, strict = new_url(), Settings(admission=Admission(questions=1, accuracy=1.0))
    anybody, demanding = open_store(url=url), open_store(strict, url=url)
    anybody.add_tasks([*make_tasks(range(4), Purpose.TRAINING, NN), *make_tasks(range(4, 8))])
    for at in (anybody, demanding):
        name = f"added with {at.settings.admission}"
        somebody = at.add_annotator(name).id
        assert purpose(anybody, somebody) is Purpose.REAL
        assert purpose(demanding, at.add_annotator(f"{name} too").id) is Purpose.TRAINING


def test_what_was_passed_counts_at_every_server(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    easy, hard = (open_store(Settings(admission=Admission(n, 1.0)), url=url) for n in (1, 3))
    easy.add_tasks([*make_tasks(range(4), Purpose.TRAINING, NN), *make_tasks(range(4, 8))])
    (a,) = hire(easy, 1)
    lease = hard.claim(a)
    assert lease is not None
    easy.answer(a, lease.task_id, NN)
    assert purpose(hard, a) is Purpose.REAL


def test_a_curator_needs_no_training(open_store: OpenStore) -> None:
    store = open_store(Settings(admission=Admission()))
    store.add_tasks([*make_tasks([0], Purpose.TRAINING, NN), *make_tasks([1])])
    assert purpose(store, store.add_annotator("c", "curator").id) is Purpose.REAL


def purpose(store: Store, annotator: int) -> Purpose:
    """Of the task that somebody gets."""
    lease = store.claim(annotator)
    assert lease is not None
    return lease.task.purpose
