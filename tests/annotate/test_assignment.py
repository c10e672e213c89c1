"""Who gets what, event by event, in both databases."""

from __future__ import annotations

from typing import Any

import pytest
from invariants import check
from made_tasks import GUIDELINE, JJ, NN, VV, Clock, NewUrl, OpenStore, hire, make_task, make_tasks, say, staffed, undo
from sqlalchemy import event

from tagweave.annotate import assignment
from tagweave.annotate import store as store_module
from tagweave.annotate.assignment import ContendedError, Desk, RefusedError, is_passed
from tagweave.annotate.rules import Admission, Rule, Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, Answer, Candidate, Purpose, Ranking, Status, label

LETTERS = {"N": NN, "V": VV, "J": JJ, "x": NOT_A_WORD}


class TestTwoAndTwoMore:
    @pytest.mark.parametrize(
        ("rule", "letters", "status", "outcome"),
        [
            (Rule(), "NN", Status.AGREED, NN),
            (Rule(), "NVVV", Status.AGREED, VV),
            (Rule(), "NVJN", Status.DROPPED, None),
            (Rule(), "Nxxx", Status.AGREED, NOT_A_WORD),
            (Rule(1, 0, 1), "N", Status.AGREED, NN),
            (Rule(3, 0, 2), "NN", Status.OPEN, None),
            (Rule(3, 0, 2), "NVN", Status.AGREED, NN),
            (Rule(3, 2, 4), "NVNN", Status.OPEN, None),
            (Rule(3, 2, 4), "NVNNV", Status.DROPPED, None),
        ],
    )
    def test_who_differ_bring_more_by_the_rule_of_who_hands_out_tasks(
        self, open_store: OpenStore, new_url: NewUrl, rule: Rule, letters: str, status: Status, outcome: Answer | None
    ) -> None:
        url = new_url()
        open_store(url=url).add_tasks(make_tasks([0]))  # perhaps under another rule
        store = open_store(Settings(rule), url=url)
        found = [say(store, who, LETTERS[each]) for who, each in zip(hire(store, len(letters)), letters, strict=True)]
        assert found == [Status.OPEN] * (len(letters) - 1) + [status]
        assert (store.claim(store.add_annotator("late").id) is None) == (status is not Status.OPEN)
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [outcome] * (outcome is not None)
        assert [judgement.slot for judgement in store.judgements()] == [*range(len(letters))]

    def test_the_most_uncertain_come_first_and_pairs_are_random(self, open_store: OpenStore) -> None:
        store = open_store(Settings(window=4))
        store.add_tasks([make_task(number, uncertainty=number) for number in range(12)])
        firsts = [store.claim(person).task.uncertainty for person in hire(store, 8)]
        assert min(firsts) >= 12 - 4 - 8 // 2
        assert firsts != sorted(firsts, reverse=True)


class TestLeases:
    def test_who_asks_again_gets_the_same_task(self, store: Store, clock: Clock) -> None:
        (a,) = staffed(store, 5, 1)
        first = store.claim(a)
        clock.now += 10
        again = store.claim(a)
        assert (again.task_id, again.leased, again.expires) == (first.task_id, first.leased, first.expires + 10)

    def test_the_task_of_who_vanished_goes_to_somebody_else(self, store: Store, clock: Clock) -> None:
        a, b, c, d = staffed(store, 1, 4)
        gone = store.claim(a)
        store.claim(b)
        assert store.claim(c) is None
        clock.now += 901
        say(store, b, NN)  # lapsed, too, but there is a slot
        assert say(store, c, NN) is Status.AGREED
        with pytest.raises(RefusedError, match="gone to somebody else"):
            store.answer(a, gone.task_id, VV)
        assert store.claim(a) is store.claim(d) is None
        assert len([*store.judgements()]) == 2

    def test_who_waits_for_a_task_has_locked_no_lapsed_ones(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two who each free a task and wait for the other's would wait for ever."""
        a, b = staffed(store, 4, 2)
        store.claim(a)
        held = store.claim(b)
        clock.now += 901
        order = []
        for where, name in ((assignment, "lock_task"), (store_module, "free_lapsed")):
            work = getattr(where, name)
            monkeypatch.setattr(where, name, lambda *each, name=name, work=work: (order.append(name), work(*each))[1])
        store.answer_and_claim(b, held.task_id, NN)
        assert order == ["lock_task", "free_lapsed"]
        clock.now += 10
        undo(store, b)
        assert order[2:] == ["lock_task"]

    def test_who_was_away_and_whom_nobody_replaced_goes_on(self, store: Store, clock: Clock) -> None:
        a, b = staffed(store, 1, 2)
        first = store.claim(a)
        clock.now += 901
        say(store, b, NN)
        again = store.claim(a)
        assert again.task_id == first.task_id
        assert store.answer(a, again.task_id, NN).status is Status.AGREED

    def test_a_late_answer_is_taken_while_there_is_a_slot(self, store: Store, clock: Clock) -> None:
        a, b = staffed(store, 1, 2)
        lease = store.claim(a)
        clock.now += 1000
        store.claim(b)  # frees the slot of a, and takes one
        assert store.answer(a, lease.task_id, NN).status is Status.OPEN


class TestAnswers:
    def test_the_same_answer_again_changes_nothing(self, store: Store) -> None:
        (a,) = staffed(store, 1, 1)
        lease = store.claim(a)
        first, again = (store.answer(a, lease.task_id, NN) for _ in range(2))
        assert first == again
        assert len([*store.judgements()]) == 1
        with pytest.raises(RefusedError, match="answered before"):
            store.answer(a, lease.task_id, VV)

    def test_another_ones_task_is_refused(self, store: Store) -> None:
        a, b = staffed(store, 2, 2)
        lease = store.claim(a)
        for number in (lease.task_id, 999, -1):
            with pytest.raises(RefusedError, match="not given to you"):
                store.answer(b, number, NN)
        with pytest.raises(RefusedError, match="no annotator"):
            store.claim(999)
        assert [*store.judgements()] == []

    @pytest.mark.parametrize("name", ["XX", "nn", "NN ", "N\0N", "'; DROP TABLE judgements; --"])
    def test_a_label_that_nobody_knows_is_refused(self, store: Store, name: str) -> None:
        (a,) = staffed(store, 1, 1)
        store.add_labels(GUIDELINE, {"AD": "adverb"})
        lease = store.claim(a)
        with pytest.raises(RefusedError, match="no such label"):
            store.answer(a, lease.task_id, label(name))
        with pytest.raises(RefusedError, match="asks for a label"):
            store.answer(a, lease.task_id, WORD)
        assert [*store.judgements()] == []
        assert store.answer(a, lease.task_id, label("AD")).status is Status.OPEN

    def test_a_judgement_tells_all(self, store: Store, clock: Clock) -> None:
        version = store.add_model("model.safetensors", 0, 0.0)
        store.add_tasks([make_task(7)])
        shown = Candidate("VV", 0.6), Candidate("NN", 0.4)
        store.rank(version, [Ranking(1, 0.75, shown)])
        (a,) = hire(store, 1)
        lease = store.claim(a)
        clock.now += 5
        store.answer(a, lease.task_id, VV, started=clock.now - 3)
        (found,) = store.judgements()
        assert (found.annotator, found.answer, found.revision, found.withdrawn) == ("annotator 0", VV, 0, False)
        assert (found.started, found.ended, found.candidates, found.model) == (1002.0, 1005.0, shown, version)
        assert (found.task.task.sentence, found.task.task.uncertainty) == (make_task(7).sentence, 0.75)

    @pytest.mark.parametrize(("started", "written"), [(None, 1000.0), (0.0, 1000.0), (1e12, 1005.0), (1001.5, 1001.5)])
    def test_a_start_that_cannot_be_is_mended(
        self, store: Store, clock: Clock, started: float | None, written: float
    ) -> None:
        (a,) = staffed(store, 1, 1)
        lease = store.claim(a)
        clock.now += 5
        store.answer(a, lease.task_id, VV, started)
        assert [each.started for each in store.judgements()] == [written]


class TestTurns:
    """An answer and the next task, in one transaction."""

    def test_a_turn_is_an_answer_and_a_claim(self, open_store: OpenStore, new_url: NewUrl) -> None:
        url = new_url()
        store = open_store(url=url)
        (who,) = staffed(store, 5, 1)
        lease, seen = store.claim(who), []
        while lease is not None:
            seen.append(lease.task_id)
            receipt, lease = store.answer_and_claim(who, lease.task_id, NN)
            assert receipt.status is Status.OPEN
            assert (lease and lease.task_id) == ((again := store.claim(who)) and again.task_id)
        assert sorted(seen) == [1, 2, 3, 4, 5]
        assert [each.task.id for each in store.judgements()] == seen
        check(url, Rule())

    def test_it_is_committed_once(self, store: Store) -> None:
        (who,) = staffed(store, 2, 1)
        lease, commits = store.claim(who), []
        event.listen(store._database.engine, "commit", commits.append)
        store.answer_and_claim(who, lease.task_id, NN)
        assert len(commits) == 1

    @pytest.mark.parametrize("answer", [label("unheard of"), VV])
    def test_what_is_refused_claims_nothing(self, store: Store, answer: Any) -> None:
        (who,) = staffed(store, 3, 1)
        first = store.claim(who)
        if answer == VV:  # answered otherwise before
            store.answer(who, first.task_id, NN)
        before = [*store.judgements()]
        with pytest.raises(RefusedError):
            store.answer_and_claim(who, first.task_id, answer)
        assert [*store.judgements()] == before

    def test_where_all_tasks_are_locked_the_turn_is_tried_again(self, open_store: OpenStore, monkeypatch: Any) -> None:
        store, choose, tries = open_store(), Desk._choose, []

        def contended(*words: Any) -> Any:
            tries.append(words)
            if len(tries) < 3:
                raise ContendedError("all tasks are locked")
            return choose(*words)

        (who,) = staffed(store, 2, 1)
        lease = store.claim(who)
        monkeypatch.setattr(Desk, "_choose", contended)
        receipt, following = store.answer_and_claim(who, lease.task_id, NN)
        assert (len(tries), receipt.status, following.task_id != lease.task_id) == (3, Status.OPEN, True)
        assert len([*store.judgements()]) == 1


class TestUndo:
    def test_an_undone_answer_stands_no_longer(self, store: Store) -> None:
        a, b = staffed(store, 1, 2)
        say(store, a, NN)
        say(store, b, NN)
        lease = undo(store, b)
        assert store.outcomes(GUIDELINE) == []
        assert store.progress(b).answers == 0
        assert store.claim(b).task_id == lease.task_id
        assert store.answer(b, lease.task_id, VV).status is Status.OPEN
        history = [(each.annotator[-1], each.revision, each.withdrawn, str(each.answer)) for each in store.judgements()]
        assert history == [("0", 0, False, "NN"), ("1", 0, False, "NN"), ("1", 1, True, "NN"), ("1", 2, False, "VV")]

    def test_several_answers_come_back_one_after_the_other(self, store: Store, clock: Clock) -> None:
        (a,) = staffed(store, 3, 1)
        done = []
        for answer in (NN, VV, JJ):
            clock.now += 1
            done.append(store.claim(a).task_id)
            say(store, a, answer)
        for expected in reversed(done):
            clock.now += 1
            assert undo(store, a).task_id == expected
        with pytest.raises(RefusedError, match="nothing to undo"):
            undo(store, a)
        assert store.counts() == {(Purpose.REAL, Status.OPEN): 3}

    def test_two_more_stay_asked_when_one_of_two_who_differed_agrees_after_all(self, store: Store) -> None:
        a, b, c, d = staffed(store, 1, 4)
        say(store, a, NN)
        say(store, b, VV)
        late = store.claim(c)
        lease = undo(store, b)
        assert store.answer(b, lease.task_id, NN).status is Status.AGREED
        assert store.claim(d) is None
        assert store.answer(c, late.task_id, VV).status is Status.AGREED  # work is not thrown away
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [NN]

    def test_what_a_curator_decided_stays(self, store: Store) -> None:
        (a,) = staffed(store, 1, 1)
        say(store, a, NN)
        store.adjudicate(store.add_annotator("curator", "curator").id, 1, JJ)
        with pytest.raises(RefusedError, match="no longer"):
            undo(store, a)
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [JJ]


class TestKnownAnswers:
    def test_training_admits_who_is_good_enough(self, open_store: OpenStore) -> None:
        store = open_store(Settings(admission=Admission(questions=4, accuracy=0.75), gold_share=0))
        store.add_tasks([*make_tasks(range(10), Purpose.TRAINING, NN), make_task(100)])
        a, b = hire(store, 2)
        lease, purposes = store.claim(a), []
        for answer in (VV, VV, NN, NN, NN, NN):
            purposes.append(lease.task.purpose)
            receipt, lease = store.answer_and_claim(a, lease.task_id, answer)
            assert receipt.gold == (NN if purposes[-1] is Purpose.TRAINING else None)
        assert purposes == [*[Purpose.TRAINING] * 5, Purpose.REAL]
        assert store.training_results(a) == [False, False, True, True, True]
        for _ in range(10):
            say(store, b, VV)
        assert store.claim(b) is None  # not admitted, and nothing to train on is left

    def test_training_is_not_undone(self, open_store: OpenStore) -> None:
        store = open_store(Settings(admission=Admission()))
        store.add_tasks(make_tasks(range(10), Purpose.TRAINING, NN))
        (a,) = hire(store, 1)
        say(store, a, VV)
        with pytest.raises(RefusedError, match="no longer"):
            undo(store, a)

    @pytest.mark.parametrize(
        ("right", "passed"),
        [("", 0), ("11", 0), ("110", 0), ("1101", 1), ("0011", 0), ("000111", 1), ("11110", 1)],
    )
    def test_three_of_the_last_four(self, right: str, passed: int) -> None:
        assert is_passed([each == "1" for each in right], Admission(questions=4, accuracy=0.75)) == bool(passed)

    def test_right_is_the_same_kind_and_the_same_label(self, open_store: OpenStore) -> None:
        store = open_store(Settings(admission=Admission(questions=9)))
        store.add_tasks(make_tasks(range(4), Purpose.TRAINING, NN))
        store.add_tasks(make_tasks(range(4, 6), Purpose.TRAINING, NOT_A_WORD))
        a, b = hire(store, 2)
        expected = []
        for answer in (NN, VV, CANNOT_TELL, NOT_A_WORD, NOT_A_WORD, NN):
            lease = store.claim(a)
            expected.append(answer == lease.task.gold)
            assert store.answer(a, lease.task_id, answer).gold == lease.task.gold
        assert store.training_results(a) == expected
        assert {*expected} == {True, False}
        assert store.training_results(b) == []  # what others answer does not count

    def test_who_hands_out_tasks_says_whether_there_is_a_training_phase(
        self, open_store: OpenStore, new_url: NewUrl
    ) -> None:
        url = new_url()
        anybody, easy, hard = (
            open_store(Settings(admission=admission), url=url)
            for admission in (None, Admission(1, 1.0), Admission(3, 1.0))
        )
        anybody.add_tasks([*make_tasks(range(4), Purpose.TRAINING, NN), *make_tasks(range(4, 8))])
        a, b = hire(anybody, 2)
        assert anybody.claim(a).task.purpose is Purpose.REAL
        lease = hard.claim(b)
        assert lease.task.purpose is Purpose.TRAINING
        easy.answer(b, lease.task_id, NN)
        assert hard.claim(b).task.purpose is Purpose.REAL  # what was passed counts at every server
        assert hard.claim(hard.add_annotator("c", "curator").id).task.purpose is Purpose.REAL

    def test_planted_gold_goes_to_everybody_and_is_counted(self, open_store: OpenStore) -> None:
        store = open_store(Settings(gold_share=0.5))
        store.add_tasks(make_tasks(range(6), Purpose.GOLD, NN))
        people = staffed(store, 6, 2)
        purposes = []
        for person, answer in zip(people, (NN, VV), strict=True):
            while (lease := store.claim(person)) is not None:
                purposes.append(lease.task.purpose)
                assert store.answer(person, lease.task_id, answer).gold is None
        assert purposes.count(Purpose.REAL) == 12
        assert 0 < purposes.count(Purpose.GOLD) <= 12
        golden = [store.progress(person) for person in people]
        assert [each.right for each in golden] == [golden[0].gold, 0]
        assert sum(each.gold for each in golden) == purposes.count(Purpose.GOLD)
        assert store.counts()[Purpose.GOLD, Status.OPEN] == 6
