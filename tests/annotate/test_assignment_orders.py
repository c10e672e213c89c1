"""Any order of claims, answers, undos, lapses and decisions keeps what is promised."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from invariants import check
from made_tasks import NN, VV, Clock, hire, make_task, undo

from benchmarks.postgresql import temporary_folder
from tagweave.annotate.assignment import Lease, RefusedError
from tagweave.annotate.rules import Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, Status

_PEOPLE = st.integers(0, 4)
_ANSWERS = st.sampled_from([NN, VV, CANNOT_TELL])


class Orders(RuleBasedStateMachine):
    """Five annotators and two tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.folder, self.clock = temporary_folder(), Clock()
        self.url, self.settings = f"sqlite:///{self.folder}/answers.db", Settings(lease=10, window=2)
        self.store = Store.open(self.url, self.settings, self.clock, seed=0)
        self.hands: dict[int, Lease] = {}
        self.answered: set[tuple[int, int]] = set()

    @initialize()
    def fill(self) -> None:
        self.people = hire(self.store, 5)
        self.curator = self.store.add_annotator("curator", "curator").id
        self.store.add_tasks([make_task(number, uncertainty=number) for number in range(2)])

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(who=_PEOPLE)
    def claim(self, who: int) -> None:
        lease = self.store.claim(self.people[who])
        if lease is not None:
            assert (who, lease.task_id) not in self.answered
            self.hands[who] = lease

    @rule(who=_PEOPLE, answer=_ANSWERS)
    def answer(self, who: int, answer) -> None:  # type: ignore[no-untyped-def]
        lease = self.hands.get(who)
        if lease is None:
            return
        before = self.store.last_judgement()
        try:
            self.store.answer(self.people[who], lease.task_id, answer)
        except RefusedError:
            # away too long, and somebody else has the slot, or nobody needs it any more; or answered otherwise before
            assert self.store.last_judgement() == before
            assert self.clock.now > lease.expires or (who, lease.task_id) in self.answered
            return
        assert self.store.last_judgement() == before + ((who, lease.task_id) not in self.answered)
        self.answered.add((who, lease.task_id))

    @rule(who=_PEOPLE, answer=_ANSWERS)
    def claim_and_answer(self, who: int, answer) -> None:  # type: ignore[no-untyped-def]
        self.claim(who)
        self.answer(who, answer)

    @rule(who=_PEOPLE)
    def undo(self, who: int) -> None:
        try:
            lease = undo(self.store, self.people[who])
        except RefusedError:
            return
        assert (who, lease.task_id) in self.answered
        self.answered.remove((who, lease.task_id))
        self.hands[who] = lease

    @rule(seconds=st.sampled_from([1.0, 4.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @precondition(lambda self: self.clock.now > 1_060)
    @rule(number=st.integers(1, 2))
    def adjudicate(self, number: int) -> None:
        self.store.adjudicate(self.curator, number, NN)

    @invariant()
    def keeps_what_is_promised(self) -> None:
        check(self.url, self.settings.rule)


TestOrders = Orders.TestCase
TestOrders.settings = settings(max_examples=6, stateful_step_count=30, deadline=None)


def test_no_task_is_left_when_enough_people_work_to_the_end(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/answers.db", seed=0)
    store.add_tasks([make_task(number) for number in range(6)])
    people = hire(store, 4)
    for turn in range(100):
        lease = store.claim(people[turn % 4])
        if lease is not None:
            store.answer(people[turn % 4], lease.task_id, [NN, VV, CANNOT_TELL][turn % 3])
    assert {status for _, status in store.counts()} <= {Status.AGREED, Status.DROPPED}
    store.close()
