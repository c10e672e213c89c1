"""Who gets what, event by event, in both databases."""

from __future__ import annotations

import pytest
from fixture_types import OpenStore
from made_tasks import GUIDELINE, JJ, NN, VV, Clock, hire, make_task, make_tasks, undo

from tagweave.annotate.aggregation import Admission, Settings, Status
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.questions import Ranking
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, Answer, Candidate, Purpose, label


def say(store: Store, annotator: int, answer: Answer) -> Status:
    """Answer the task that an annotator gets."""
    lease = store.claim(annotator)
    assert lease is not None
    return store.answer(annotator, lease.task_id, answer).status


class TestTwoAndTwoMore:
    def test_two_who_agree_are_enough(self, open_store: OpenStore) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        a, b, c = hire(store, 3)
        assert say(store, a, NN) is Status.OPEN
        assert store.outcomes(GUIDELINE) == []
        assert say(store, b, NN) is Status.AGREED
        assert store.claim(c) is None
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [NN]

    def test_two_are_in_a_task_at_once_and_no_third(self, open_store: OpenStore) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        a, b, c = hire(store, 3)
        assert store.claim(a) is not None
        assert store.claim(b) is not None
        assert store.claim(c) is None

    @pytest.mark.parametrize(
        ("answers", "status", "outcome"),
        [
            ([NN, VV, VV, VV], Status.AGREED, VV),
            ([NN, VV, JJ, NN], Status.DROPPED, None),
            ([NN, NOT_A_WORD, NOT_A_WORD, NOT_A_WORD], Status.AGREED, NOT_A_WORD),
        ],
    )
    def test_two_who_differ_bring_two_more(
        self, open_store: OpenStore, answers: list[Answer], status: Status, outcome: Answer | None
    ) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        people = hire(store, 5)
        found = [say(store, person, answer) for person, answer in zip(people, answers, strict=False)]
        assert found == [Status.OPEN] * 3 + [status]
        assert store.claim(people[4]) is None
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [outcome] * (outcome is not None)
        assert [judgement.slot for judgement in store.judgements()] == [0, 1, 2, 3]

    def test_nobody_gets_a_task_twice(self, open_store: OpenStore) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        a, b = hire(store, 2)
        say(store, a, NN)
        assert store.claim(a) is None
        say(store, b, VV)
        assert store.claim(a) is None
        assert store.claim(b) is None

    def test_the_most_uncertain_come_first_and_pairs_are_random(self, open_store: OpenStore) -> None:
        store = open_store(Settings(window=4))
        store.add_tasks([make_task(number, uncertainty=number) for number in range(12)])
        firsts = []
        for person in hire(store, 8):
            lease = store.claim(person)
            assert lease is not None
            firsts.append(lease.task.uncertainty)
        assert min(firsts) >= 12 - 4 - 8 // 2
        assert firsts != sorted(firsts, reverse=True)


class TestLeases:
    def test_who_asks_again_gets_the_same_task(self, open_store: OpenStore) -> None:
        clock = Clock()
        store = open_store(clock=clock)
        store.add_tasks(make_tasks(range(5)))
        (a,) = hire(store, 1)
        first = store.claim(a)
        clock.now += 10
        again = store.claim(a)
        assert first is not None
        assert again is not None
        assert (again.task_id, again.leased, again.expires) == (first.task_id, first.leased, first.expires + 10)

    def test_the_task_of_who_vanished_goes_to_somebody_else(self, open_store: OpenStore) -> None:
        clock = Clock()
        store = open_store(Settings(lease=60), clock)
        store.add_tasks([make_task(0)])
        a, b, c, d = hire(store, 4)
        gone = store.claim(a)
        assert gone is not None
        store.claim(b)
        assert store.claim(c) is None
        clock.now += 61
        say(store, b, NN)  # lapsed, too, but there is a slot
        assert say(store, c, NN) is Status.AGREED
        with pytest.raises(RefusedError, match="gone to somebody else"):
            store.answer(a, gone.task_id, VV)
        assert store.claim(a) is None
        assert store.claim(d) is None
        assert len([*store.judgements()]) == 2

    def test_who_was_away_and_whom_nobody_replaced_goes_on(self, open_store: OpenStore) -> None:
        clock = Clock()
        store = open_store(Settings(lease=60), clock)
        store.add_tasks([make_task(0)])
        a, b = hire(store, 2)
        first = store.claim(a)
        clock.now += 61
        say(store, b, NN)
        again = store.claim(a)
        assert first is not None
        assert again is not None
        assert again.task_id == first.task_id
        assert store.answer(a, again.task_id, NN).status is Status.AGREED

    def test_a_late_answer_is_taken_while_there_is_a_slot(self, open_store: OpenStore) -> None:
        clock = Clock()
        store = open_store(Settings(lease=60), clock)
        store.add_tasks([make_task(0)])
        a, b = hire(store, 2)
        lease = store.claim(a)
        assert lease is not None
        clock.now += 1000
        store.claim(b)  # frees the slot of a, and takes one
        assert store.answer(a, lease.task_id, NN).status is Status.OPEN


class TestAnswers:
    def test_the_same_answer_again_changes_nothing(self, open_store: OpenStore) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        (a,) = hire(store, 1)
        lease = store.claim(a)
        assert lease is not None
        first, again = (store.answer(a, lease.task_id, NN) for _ in range(2))
        assert first == again
        assert len([*store.judgements()]) == 1
        with pytest.raises(RefusedError, match="answered before"):
            store.answer(a, lease.task_id, VV)

    def test_another_ones_task_is_refused(self, open_store: OpenStore) -> None:
        store = open_store()
        store.add_tasks(make_tasks(range(2)))
        a, b = hire(store, 2)
        lease = store.claim(a)
        assert lease is not None
        for number in (lease.task_id, 999, -1):
            with pytest.raises(RefusedError, match="not given to you"):
                store.answer(b, number, NN)
        with pytest.raises(RefusedError, match="no annotator"):
            store.claim(999)
        assert [*store.judgements()] == []

    @pytest.mark.parametrize("name", ["XX", "nn", "NN ", "N\0N", "'; DROP TABLE judgements; --"])
    def test_a_label_that_nobody_knows_is_refused(self, open_store: OpenStore, name: str) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        store.add_labels(GUIDELINE, {"AD": "adverb"})
        (a,) = hire(store, 1)
        lease = store.claim(a)
        assert lease is not None
        with pytest.raises(RefusedError, match="no such label"):
            store.answer(a, lease.task_id, label(name))
        with pytest.raises(RefusedError, match="asks for a label"):
            store.answer(a, lease.task_id, WORD)
        assert [*store.judgements()] == []
        assert store.answer(a, lease.task_id, label("AD")).status is Status.OPEN

    def test_a_judgement_tells_all(self, open_store: OpenStore) -> None:
        clock = Clock()
        store = open_store(clock=clock)
        version = store.add_model("model.safetensors", 0, 0.0)
        store.add_tasks([make_task(7)])
        store.rank(version, [Ranking(1, 0.75, (Candidate("VV", 0.6), Candidate("NN", 0.4)))])
        (a,) = hire(store, 1)
        lease = store.claim(a)
        assert lease is not None
        clock.now += 5
        store.answer(a, lease.task_id, VV, started=clock.now - 3)
        (found,) = store.judgements()
        assert (found.annotator, found.answer, found.revision, found.withdrawn) == ("annotator 0", VV, 0, False)
        assert (found.started, found.ended) == (1002.0, 1005.0)
        assert (found.candidates, found.model) == ((Candidate("VV", 0.6), Candidate("NN", 0.4)), version)
        assert found.task.task.sentence == make_task(7).sentence
        assert found.task.task.uncertainty == 0.75

    @pytest.mark.parametrize(("started", "written"), [(None, 1000.0), (0.0, 1000.0), (1e12, 1005.0), (1001.5, 1001.5)])
    def test_a_start_that_cannot_be_is_mended(
        self, open_store: OpenStore, started: float | None, written: float
    ) -> None:
        clock = Clock()
        store = open_store(clock=clock)
        store.add_tasks([make_task(7)])
        (a,) = hire(store, 1)
        lease = store.claim(a)
        assert lease is not None
        clock.now += 5
        store.answer(a, lease.task_id, VV, started)
        assert [each.started for each in store.judgements()] == [written]


class TestUndo:
    def test_an_undone_answer_stands_no_longer(self, open_store: OpenStore) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        a, b = hire(store, 2)
        say(store, a, NN)
        say(store, b, NN)
        lease = undo(store, b)
        assert store.outcomes(GUIDELINE) == []
        assert store.progress(b).answers == 0
        again = store.claim(b)
        assert again is not None
        assert again.task_id == lease.task_id
        assert store.answer(b, lease.task_id, VV).status is Status.OPEN
        history = [(each.annotator[-1], each.revision, each.withdrawn, str(each.answer)) for each in store.judgements()]
        assert history == [("0", 0, False, "NN"), ("1", 0, False, "NN"), ("1", 1, True, "NN"), ("1", 2, False, "VV")]

    def test_several_answers_come_back_one_after_the_other(self, open_store: OpenStore) -> None:
        clock = Clock()
        store = open_store(clock=clock)
        store.add_tasks(make_tasks(range(3)))
        (a,) = hire(store, 1)
        done = []
        for answer in (NN, VV, JJ):
            clock.now += 1
            done.append(store.claim(a))
            say(store, a, answer)
        for expected in reversed(done):
            clock.now += 1
            assert expected is not None
            assert undo(store, a).task_id == expected.task_id
        with pytest.raises(RefusedError, match="nothing to undo"):
            undo(store, a)
        assert store.counts() == {(Purpose.REAL, Status.OPEN): 3}

    def test_two_more_stay_asked_when_one_of_two_who_differed_agrees_after_all(self, open_store: OpenStore) -> None:
        store = open_store()
        store.add_tasks([make_task(0)])
        a, b, c, d = hire(store, 4)
        say(store, a, NN)
        say(store, b, VV)
        late = store.claim(c)
        assert late is not None
        lease = undo(store, b)
        assert store.answer(b, lease.task_id, NN).status is Status.AGREED
        assert store.claim(d) is None
        assert store.answer(c, late.task_id, VV).status is Status.AGREED  # work is not thrown away
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [NN]

    def test_what_a_curator_decided_stays(self, open_store: OpenStore) -> None:
        store = open_store()
        curator = store.add_annotator("curator", "curator").id
        store.add_tasks([make_task(0)])
        (a,) = hire(store, 1)
        say(store, a, NN)
        store.adjudicate(curator, 1, JJ)
        with pytest.raises(RefusedError, match="no longer"):
            undo(store, a)
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [JJ]


class TestKnownAnswers:
    def test_training_admits_who_is_good_enough(self, open_store: OpenStore) -> None:
        store = open_store(Settings(admission=Admission(questions=4, accuracy=0.75)))
        store.add_tasks(make_tasks(range(10), Purpose.TRAINING, NN))
        store.add_tasks([make_task(100)])
        a, b = hire(store, 2)
        for answer in (VV, VV, NN, NN, NN):
            lease = store.claim(a)
            assert lease is not None
            assert lease.task.purpose is Purpose.TRAINING
            assert store.answer(a, lease.task_id, answer).gold == NN
        lease = store.claim(a)
        assert lease is not None
        assert lease.task.purpose is Purpose.REAL
        assert store.answer(a, lease.task_id, NN).gold is None
        assert store.training_results(a) == [False, False, True, True, True]
        for _ in range(10):
            say(store, b, VV)
        assert store.claim(b) is None  # not admitted, and nothing to train on is left
        store.admit(b)
        assert store.claim(b) is not None

    def test_training_is_not_undone(self, open_store: OpenStore) -> None:
        store = open_store(Settings(admission=Admission()))
        store.add_tasks(make_tasks(range(10), Purpose.TRAINING, NN))
        (a,) = hire(store, 1)
        say(store, a, VV)
        with pytest.raises(RefusedError, match="no longer"):
            undo(store, a)

    def test_planted_gold_goes_to_everybody_and_is_counted(self, open_store: OpenStore) -> None:
        store = open_store(Settings(gold_share=0.5))
        store.add_tasks(make_tasks(range(6), Purpose.GOLD, NN))
        store.add_tasks(make_tasks(range(6)))
        a, b = hire(store, 2)
        purposes = []
        for person, answer in ((a, NN), (b, VV)):
            while (lease := store.claim(person)) is not None:
                purposes.append(lease.task.purpose)
                assert store.answer(person, lease.task_id, answer).gold is None
        assert purposes.count(Purpose.REAL) == 12
        assert 0 < purposes.count(Purpose.GOLD) <= 12
        golden = [store.progress(person) for person in (a, b)]
        assert [each.right for each in golden] == [golden[0].gold, 0]
        assert sum(each.gold for each in golden) == purposes.count(Purpose.GOLD)
        assert store.counts()[Purpose.GOLD, Status.OPEN] == 6

    def test_without_gold_there_is_real_work(self, open_store: OpenStore) -> None:
        store = open_store(Settings(gold_share=1.0))
        store.add_tasks(make_tasks(range(2)))
        (a,) = hire(store, 1)
        assert say(store, a, CANNOT_TELL) is Status.OPEN
