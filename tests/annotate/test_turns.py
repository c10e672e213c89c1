"""An answer and the next task, in one transaction."""

from __future__ import annotations

from typing import Any

import pytest
from fixture_types import NewUrl, OpenStore
from invariants import check
from made_tasks import NN, VV, hire, make_tasks
from sqlalchemy import event

from tagweave.annotate.aggregation import Admission, Rule, Settings, Status
from tagweave.annotate.assignment import ContendedError, Desk, RefusedError
from tagweave.annotate.task import Purpose, label


def test_a_turn_is_an_answer_and_a_claim(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    store = open_store(url=url)
    [who] = hire(store, 1)
    store.add_tasks(make_tasks(range(5)))
    lease, seen = store.claim(who), []
    while lease is not None:
        seen.append(lease.task_id)
        receipt, lease = store.answer_and_claim(who, lease.task_id, NN)
        assert receipt.status is Status.OPEN
        assert lease == store.claim(who) or (
            lease and lease._replace(expires=0) == store.claim(who)._replace(expires=0)
        )
    assert sorted(seen) == [1, 2, 3, 4, 5]
    assert [each.task.id for each in store.judgements()] == seen
    check(url, Rule())


def test_it_is_committed_once(open_store: OpenStore) -> None:
    store = open_store()
    [who] = hire(store, 1)
    store.add_tasks(make_tasks(range(2)))
    lease, commits = store.claim(who), []
    event.listen(store._database.engine, "commit", commits.append)
    store.answer_and_claim(who, lease.task_id, NN)
    assert len(commits) == 1


def test_a_task_that_stays_open_is_nobodys_twice(open_store: OpenStore) -> None:
    store = open_store()
    a, b = hire(store, 2)
    store.add_tasks(make_tasks(range(1)))
    lease = store.claim(a)
    assert store.answer_and_claim(a, lease.task_id, NN)[1] is None
    assert store.claim(b).task_id == lease.task_id
    receipt, following = store.answer_and_claim(b, lease.task_id, NN)
    assert (receipt.status, following) == (Status.AGREED, None)


@pytest.mark.parametrize("answer", [label("unheard of"), VV])
def test_what_is_refused_claims_nothing(open_store: OpenStore, answer: Any) -> None:
    store = open_store()
    [who] = hire(store, 1)
    store.add_tasks(make_tasks(range(3)))
    first = store.claim(who)
    if answer == VV:  # answered otherwise before
        store.answer(who, first.task_id, NN)
    before = [*store.judgements()]
    with pytest.raises(RefusedError):
        store.answer_and_claim(who, first.task_id, answer)
    assert [*store.judgements()] == before


def test_the_same_turn_again_gives_the_same_task(open_store: OpenStore) -> None:
    store = open_store()
    [who] = hire(store, 1)
    store.add_tasks(make_tasks(range(3)))
    first = store.claim(who)
    turns = [store.answer_and_claim(who, first.task_id, NN) for _ in range(3)]
    assert len({receipt for receipt, _ in turns}) == len({lease.task_id for _, lease in turns if lease}) == 1
    assert len([*store.judgements()]) == 1


def test_who_is_admitted_by_an_answer_gets_a_real_task(open_store: OpenStore) -> None:
    store = open_store(Settings(admission=Admission(2, 0.5), gold_share=0))
    [who] = hire(store, 1)
    store.add_tasks([*make_tasks(range(4), Purpose.TRAINING, NN), *make_tasks(range(4, 6))])
    lease, purposes = store.claim(who), []
    for _ in range(3):
        purposes.append(lease.task.purpose)
        receipt, lease = store.answer_and_claim(who, lease.task_id, NN)
        assert receipt.gold == (NN if purposes[-1] is Purpose.TRAINING else None)
    assert purposes == [Purpose.TRAINING, Purpose.TRAINING, Purpose.REAL]


def test_where_all_tasks_are_locked_the_turn_is_tried_again(open_store: OpenStore, monkeypatch: Any) -> None:
    store, choose, tries = open_store(), Desk._choose, []

    def contended(*words: Any) -> Any:
        tries.append(words)
        if len(tries) < 3:
            raise ContendedError("all tasks are locked")
        return choose(*words)

    [who] = hire(store, 1)
    store.add_tasks(make_tasks(range(2)))
    lease = store.claim(who)
    monkeypatch.setattr(Desk, "_choose", contended)
    receipt, following = store.answer_and_claim(who, lease.task_id, NN)
    assert len(tries) == 3
    assert following.task_id != lease.task_id
    assert len([*store.judgements()]) == 1
    assert receipt.status is Status.OPEN
