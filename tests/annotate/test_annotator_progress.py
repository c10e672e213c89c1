"""Sums that are brought up to date are those of counting everything anew."""

from __future__ import annotations

import random

import pytest
from fixture_types import NewUrl, OpenStore
from made_tasks import NN, VV, Clock, hire, make_task, make_tasks, undo

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.record import standing
from tagweave.annotate.store import Store
from tagweave.annotate.task import NOT_A_WORD, WORD, Purpose, Settings


def counted(store: Store, name: str) -> tuple[int, float, int, int]:
    """Answers, seconds, gold and right, judgement by judgement."""
    mine = [each for each in store.judgements() if each.annotator == name]
    found = [each for task in {each.task.id for each in mine} for each in standing(store.judgements_of(task))]
    found = [each for each in found if each.annotator == name]
    gold = [each.task.task.gold == each.answer for each in found if each.task.task.purpose is Purpose.GOLD]
    return len(found), sum(each.ended - each.started for each in found), len(gold), sum(gold)


def test_answers_and_undos_in_any_order(open_store: OpenStore, new_url: NewUrl) -> None:
    url, clock, rng = new_url(), Clock(), random.Random(2)
    store = open_store(Settings(gold_share=0.4), clock, url=url)
    other = open_store(url=url)  # looks later, and so at more at once
    people = hire(store, 2)
    store.add_tasks([*make_tasks(range(30)), *make_tasks(range(30), Purpose.GOLD, VV)])
    for step in range(40):
        who, clock.now = rng.choice(people), clock.now + rng.uniform(0, 9)
        if rng.random() < 0.2:
            try:
                undo(store, who)
            except RefusedError:
                continue
        elif (lease := store.claim(who)) is not None:
            clock.now += rng.uniform(1, 9)
            store.answer(who, lease.task_id, rng.choice([NN, VV]))
        assert store.progress(who)[:4] == pytest.approx(counted(store, f"annotator {people.index(who)}"))
        if step % 20 == 19:
            assert other.progress(who)[:4] == pytest.approx(store.progress(who)[:4])
    both = [store.progress(who) for who in people]
    assert sum(each.gold for each in both) > sum(each.right for each in both) > 0


def test_another_mark_of_a_concordance_takes_the_place_of_the_first(open_store: OpenStore) -> None:
    clock = Clock()
    store = open_store(Settings(), clock)
    [who] = hire(store, 1)
    task = make_task(0, Purpose.CONCORDANCE)
    for answer in (WORD, NOT_A_WORD, NOT_A_WORD, WORD):
        clock.now += 5
        assert store.mark(who, [task], answer) == [True]
        assert store.progress(who).answers == 1
        assert store.progress(who)[:4] == pytest.approx(counted(store, "annotator 0"))
