"""Stores in which posteriors decide: whom they ask, when they stop, undo, restarts, and many people at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import made_spans
import pytest
from browsing import signed_in
from invariants import check_slots as check
from made_tasks import CANDIDATES, GUIDELINE, NN, VV, NewUrl, OpenStore, hire, make_task, make_tasks, say, undo

from reproductions.lab.simulated_annotators import Simulated, StoreDesk, even, work_all
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.reliability import confusions, expected_gain
from tagweave.annotate.rules import PosteriorRule, Settings
from tagweave.annotate.task import AnnotationTask, Answer, Candidate, Purpose, Ranking, Status
from tagweave.corpus.sentence import Location, Sentence

SETTINGS = Settings(posterior=PosteriorRule(0.95, 4), window=1, gold_share=0.0)


def task_with(number: int, *probabilities: float) -> AnnotationTask:
    """A task with candidates of these probabilities."""
    names = [each.label for each in CANDIDATES]
    candidates = tuple(Candidate(*pair) for pair in zip(names, probabilities, strict=False))
    return AnnotationTask(Sentence(("a", "b"), location=Location("toy.txt", number + 1)), 0, 1, GUIDELINE, candidates)


@pytest.mark.parametrize(("probabilities", "answers"), [((0.8, 0.2), [NN]), ((0.5, 0.4), [NN, VV, NN, NN])])
def test_people_are_asked_until_an_answer_is_sure(
    open_store: OpenStore, new_url: NewUrl, probabilities: tuple[float, ...], answers: list[Answer]
) -> None:
    url = new_url()
    store = open_store(SETTINGS, url=url)
    store.add_tasks([task_with(0, *probabilities)])
    *everybody, late = hire(store, len(answers) + 1)
    found = [say(store, who, answer) for who, answer in zip(everybody, answers, strict=True)]
    assert found == [*[Status.OPEN] * (len(answers) - 1), Status.AGREED]
    assert store.claim(late) is None
    assert [each.outcome for each in store.outcomes(GUIDELINE)] == [NN]
    check(url)


def test_the_next_task_is_where_an_answer_gains_most(open_store: OpenStore) -> None:
    store = open_store(SETTINGS)
    store.add_tasks([task_with(0, 0.9, 0.1), task_with(1, 0.5, 0.5), task_with(2, 0.7, 0.3)])
    (ada,) = hire(store, 1)
    order = []
    while (lease := store.claim(ada)) is not None:
        order.append(lease.task.sentence.location.line)
        store.answer(ada, lease.task_id, NN)
    assert order == [2, 3, 1]


def test_a_newer_model_changes_what_a_first_answer_gains(open_store: OpenStore) -> None:
    store = open_store(SETTINGS)
    store.add_tasks([task_with(0, 0.9, 0.1), task_with(1, 0.5, 0.5)])
    version = store.add_model("second.model", 0, 0.0)
    first, second = store.tasks(Status.OPEN)
    store.rank(version, [Ranking(first.id, 0.0, (Candidate("NN", 0.5), Candidate("VV", 0.5)))])
    store.rank(version, [Ranking(second.id, 1.0, (Candidate("NN", 0.95), Candidate("VV", 0.05)))])
    (ada,) = hire(store, 1)
    assert store.claim(ada).task_id == first.id


def test_two_at_once_get_two_tasks_and_never_the_same(open_store: OpenStore) -> None:
    store = open_store(SETTINGS)
    store.add_tasks([task_with(0, 0.5, 0.5), task_with(1, 0.6, 0.4)])
    ada, bob, cy = hire(store, 3)
    assert {store.claim(ada).task_id, store.claim(bob).task_id} == {1, 2}
    assert store.claim(cy) is None  # one answer may be enough
    assert say(store, ada, NN) is Status.OPEN
    assert store.claim(cy).task_id == 1


def test_an_undo_opens_a_task_again(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    store = open_store(SETTINGS, url=url)
    store.add_tasks([task_with(0, 0.8, 0.2)])
    ada, bob = hire(store, 2)
    assert say(store, ada, NN) is Status.AGREED
    undo(store, ada)
    assert [each.status for each in store.tasks(Status.OPEN)] == [Status.OPEN]
    check(url)
    assert store.claim(bob) is None  # it is in Ada's hands
    assert say(store, ada, VV) is Status.OPEN
    assert say(store, bob, VV) is Status.AGREED
    check(url)


def test_a_restarted_server_knows_what_the_first_one_knew(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    store = open_store(SETTINGS, url=url)
    store.add_tasks([task_with(number, 0.6, 0.4) for number in range(30)])
    people = hire(store, 3)
    work_all([Simulated(StoreDesk(store, who), lambda _: NN, even(0.8), who) for who in people])
    again = open_store(SETTINGS, url=url)
    after = {name: each.reliabilities() for name, each in {"first": store, "second": again}.items()}
    assert after["first"] == after["second"]
    assert again.counts() == store.counts()


def test_planted_gold_informs_reliability(open_store: OpenStore) -> None:
    store = open_store(Settings(posterior=PosteriorRule(), gold_share=1.0))
    store.add_tasks(make_tasks(range(40), Purpose.GOLD, VV))
    good, bad = hire(store, 2)
    for who, answer in ((good, VV), (bad, NN)):
        for _ in range(40):
            say(store, who, answer)
    found = {each.annotator: each for each in store.reliabilities()}
    assert found["annotator 0"].right > 0.9
    assert found["annotator 1"].right < 0.2
    assert all(each.low <= each.right <= each.high for each in found.values())


def test_spans_are_agreed_on_by_votes(open_store: OpenStore) -> None:
    store = made_spans.furnished(open_store(SETTINGS))
    ada, bob = hire(store, 2)
    assert say(store, ada, made_spans.all_of(made_spans.ADA)) is Status.OPEN
    assert say(store, bob, made_spans.all_of(made_spans.ADA)) is Status.AGREED


def test_many_at_once(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    store = open_store(SETTINGS, url=url)
    store.add_tasks([make_task(number, uncertainty=number) for number in range(12)])
    people = hire(store, 5)

    def work(who: int) -> int:
        random, done = Random(who), 0
        while (lease := store.claim(who)) is not None:
            try:
                store.answer(who, lease.task_id, random.choices([NN, VV], [4, 1])[0])
                done += 1
            except RefusedError:
                pytest.fail("nobody was away")
        return done

    with ThreadPoolExecutor(len(people)) as pool:
        first = sum(pool.map(work, people))
    rest = sum(map(work, people))  # others may have held what somebody could have had
    assert first + rest == len([*store.judgements()])
    assert not [each for each in store.tasks(Status.OPEN) if len(store.judgements_of(each.id)) >= 4]
    check(url)


def test_the_dashboard_shows_reliability_and_open_posteriors(open_store: OpenStore) -> None:
    store = open_store(SETTINGS)
    store.add_tasks([task_with(0, 0.8, 0.2), task_with(1, 0.5, 0.4)])
    (ada,) = hire(store, 1)
    assert [say(store, ada, NN), say(store, ada, NN)] == [Status.OPEN, Status.AGREED]
    page = signed_in(store, "cur", "curator").look("/dashboard")
    (reliable,) = store.reliabilities()
    (open_task,) = store.most_gain(5)
    assert f"{100 * reliable.low:.1f} – {100 * reliable.high:.1f}%" in page
    label, probability = open_task.posterior.ranked()[0]
    assert (str(label), open_task.answers) == ("NN", 1)
    assert f"<bdi>NN</bdi> {100 * probability:.0f}%" in page
    assert f"{open_task.gain:.2f}" in page
    votes = open_store(Settings())
    assert "Reliability" not in signed_in(votes, "cur", "curator").look("/dashboard")


def test_a_store_may_change_the_rule(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    by_votes = open_store(Settings(window=1, gold_share=0.0), url=url)
    by_votes.add_tasks([task_with(0, 0.8, 0.2), task_with(1, 0.5, 0.4), task_with(2, 0.9, 0.1)])
    ada, bob = hire(by_votes, 2)
    assert [say(by_votes, ada, NN), say(by_votes, ada, VV)] == [Status.OPEN, Status.OPEN]
    by_posterior = open_store(SETTINGS, url=url)
    by_posterior.judge_again()
    assert [each.task.sentence.location.line for each in by_posterior.tasks(Status.AGREED)] == [1]
    people = confusions(by_posterior.answered())[GUIDELINE]
    most = by_posterior.most_gain(5)
    assert [each.gain for each in most] == pytest.approx([expected_gain(each.posterior, people) for each in most])
    assert by_posterior.claim(bob).task_id == most[0].asked.id == 3
    check(url)
    again = open_store(Settings(window=1, gold_share=0.0), url=url)
    assert say(again, bob, VV) is Status.OPEN
    assert say(again, bob, VV) is Status.AGREED  # of the second, as Ada has said
    check(url)
