"""What the store keeps beside answers: people, labels, models, ranks, concordances; and that it is append-only."""

from __future__ import annotations

import random
import stat
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from made_tasks import (
    CANDIDATES,
    GUIDELINE,
    JJ,
    NN,
    VV,
    Clock,
    NewUrl,
    OpenStore,
    hire,
    make_task,
    make_tasks,
    say,
    staffed,
    undo,
)
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from tagweave.annotate import database
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.database import Database
from tagweave.annotate.rules import Settings
from tagweave.annotate.store import Store, standing
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, AnnotationTask, Candidate, Purpose, Ranking, Status
from tagweave.corpus.sentence import Location, Sentence


class TestOpening:
    @pytest.mark.parametrize(
        "url", ["", "answers.db", "mysql://localhost/x", "sqlite://", "sqlite:///:memory:", "oracle://x"]
    )
    def test_other_urls_are_refused(self, url: str) -> None:
        with pytest.raises(ValueError, match="sqlite:///PATH"):
            Store.open(url)

    def test_a_folder_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            Store.open(f"sqlite:///{tmp_path}/none/answers.db")

    @pytest.mark.parametrize("name", ["people", "values", "labels"])
    def test_what_another_program_keeps_is_left_alone(self, new_url: NewUrl, name: str) -> None:
        url = new_url()
        database = Database(url)
        with database.writing() as connection:
            connection.execute(text(f'CREATE TABLE "{name}" (name TEXT)'))
        path = Path(url.removeprefix("sqlite:///"))
        before = path.read_bytes() if path.exists() else b""
        with pytest.raises(ValueError, match=rf"found a database with other tables \({name}\), expected a store of"):
            Store.open(url)
        with database.reading() as connection:
            assert inspect(connection).get_table_names() == [name]
        database.close()
        assert before == (path.read_bytes() if path.exists() else b"")

    def test_tables_beside_ours_are_not_ours_to_refuse(self, open_store: OpenStore, new_url: NewUrl) -> None:
        url = new_url()
        open_store(url=url).add_annotator("ada")
        database = Database(url)
        with database.writing() as connection:
            connection.execute(text("CREATE TABLE our_view_of_it (name TEXT)"))
        database.close()
        assert open_store(url=url).annotator("ada")

    def test_a_store_of_another_version_is_refused(self, new_url: NewUrl, monkeypatch: pytest.MonkeyPatch) -> None:
        url = new_url()
        Store.open(url).close()
        monkeypatch.setattr(database, "VERSION", "another")
        with pytest.raises(ValueError, match="version 7, expected another"):
            Store.open(url)

    def test_a_file_of_sqlite_is_readable_by_nobody_else_and_waits_for_the_disk(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/answers.db"
        Store.open(url).close()
        assert stat.S_IMODE((tmp_path / "answers.db").stat().st_mode) == 0o600
        database = Database(url)
        with database.reading() as connection:
            pragmas = [
                connection.execute(text(f"PRAGMA {name}")).scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            ]
        database.close()
        assert pragmas == ["wal", 2, 1, 30_000]


class TestAppendOnly:
    def test_the_database_itself_refuses_changes(self, open_store: OpenStore, new_url: NewUrl) -> None:
        url = new_url()
        store = open_store(url=url)
        curator = store.add_annotator("curator", "curator").id
        store.add_tasks([make_task(0)])
        assert store.claim(curator) is not None
        store.answer(curator, 1, NN)
        store.adjudicate(curator, 1, NN)
        database = Database(url)
        for table, change in product(
            ("judgements", "adjudications"), ("UPDATE {} SET kind = 'word'", "DELETE FROM {}")
        ):
            with pytest.raises(DBAPIError, match="append-only"), database.writing() as connection:
                connection.execute(text(change.format(table)))
        database.close()
        assert [each.answer for each in store.judgements()] == [NN]

    def test_a_block_that_raises_has_done_nothing(self, new_url: NewUrl) -> None:
        opened = Database(new_url())
        database.metadata.create_all(opened.engine)
        with pytest.raises(KeyError), opened.writing() as connection:
            connection.execute(database.values.insert().values(name="a", value="b"))
            raise KeyError
        with opened.reading() as connection:
            assert connection.execute(database.values.select()).all() == []
        opened.close()


class TestPeople:
    def test_who_is_added_is_found_by_name_and_number(self, store: Store, clock: Clock) -> None:
        added = store.add_annotator("王小明", password_hash="$argon2id$...")  # noqa: S106
        assert store.annotator("王小明") == store.annotator(added.id) == added
        assert (added.role, added.created, added.admitted, added.session_epoch) == ("annotator", 1000.0, None, 0)
        assert store.annotator("nobody") is store.annotator(99) is store.annotator("\0") is None
        assert [each.name for each in store.annotators()] == ["王小明"]

    def test_names_that_cannot_be(self, store: Store) -> None:
        store.add_annotator("taken")
        for name in ("", " ", "a\nb", "a\0", "taken"):
            with pytest.raises(ValueError, match="found the name"):
                store.add_annotator(name)

    def test_roles_that_are_not(self, store: Store) -> None:
        with pytest.raises(ValueError, match="expected one of annotator, curator"):
            store.add_annotator("a", "admin")

    def test_a_link_lets_in_once_and_not_for_ever(self, store: Store, clock: Clock) -> None:
        added = store.add_annotator("a")
        store.invite(added.id, "first", 60)
        store.invite(added.id, "second", 60)
        assert [store.is_invited(token) for token in ("none", "first")] == [False, True]
        assert store.redeem("none", "hash") is None
        found = store.redeem("first", "hash")
        assert found == replace(added, password_hash="hash", session_epoch=1)  # noqa: S106
        assert store.redeem("first", "other") is None
        assert store.annotator("a") == found
        clock.now += 61
        assert store.redeem("second", "hash") is None
        assert not store.is_invited("second")

    def test_tokens_are_not_in_the_file(self, tmp_path: Path) -> None:
        store = Store.open(f"sqlite:///{tmp_path}/answers.db")
        store.invite(store.add_annotator("a").id, "a-very-secret-token", 60)
        store.close()
        assert b"a-very-secret-token" not in (tmp_path / "answers.db").read_bytes()


class TestQuestions:
    def test_sentences_come_back_as_they_were(self, store: Store) -> None:
        layers = {"ctb": (None, ("NN", "VV"), ("PU",)), "pd": (("n",), None, None)}
        forms = "一", "שלום", "\U00020000'\";--"
        sentence = Sentence(forms, layers, {"lemma": ("1", "2", "3")}, location=Location("x", 4))
        task = AnnotationTask(sentence, 1, 3, "ctb", CANDIDATES, purpose=Purpose.GOLD, gold=NOT_A_WORD)
        assert store.add_tasks([task]) == 1
        assert store.task(1).task == task

    def test_a_task_is_put_in_once(self, store: Store) -> None:
        assert store.add_tasks(make_tasks(range(1200))) == 1200
        assert store.add_tasks(make_tasks(range(1100, 1300))) == 100
        assert store.add_tasks(make_tasks(range(10), Purpose.GOLD, NN)) == 10
        assert store.add_tasks([]) == 0
        assert store.task(99_999) is None

    def test_all_tasks_of_a_status_in_pages(self, store: Store) -> None:
        store.add_tasks(make_tasks(range(7)))
        store.add_tasks([make_task(9, purpose=Purpose.GOLD, gold=NN)])
        for size in (1, 2, 7):
            pages = [*store.task_pages(Status.OPEN, size)]
            assert [task for page in pages for task in page] == store.tasks(Status.OPEN)
            assert {len(page) for page in pages[:-1]} <= {size}
            assert [*store.task_pages(Status.DROPPED, size)] == []

    def test_another_model_ranks_what_is_open(self, store: Store) -> None:
        store.add_tasks([make_task(number, uncertainty=number) for number in range(3)])
        people = hire(store, 3)
        for person in people[:2]:
            say(store, person, NN)
        done = {each.id for each in store.outcomes(GUIDELINE)}
        version = store.add_model("m", store.last_judgement(), 1.5, 0.9)
        better = (Candidate("AD", 1.0),)
        assert store.rank(version, [Ranking(number, 10.0 - number, better) for number in (3, 1, 2)]) == 3 - len(done)
        assert store.rank(version, []) == 0
        for number in (1, 2, 3):
            found = store.task(number)
            assert (found.task.candidates == better) == (number not in done)
            assert (found.task.model == version) == (number not in done)

    def test_own_changes_of_labels_are_seen_at_once_those_of_others_later(
        self, open_store: OpenStore, new_url: NewUrl, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = new_url()
        store, other = open_store(url=url), open_store(url=url)
        store.add_labels("ctb", {"VV": "verb"})
        assert other.labels("ctb") == store.labels("ctb") == {"VV": "verb"}
        other.change_note("ctb", "VV", "what one does")
        other.add_labels("ctb", {"NN": ""})
        assert other.labels("ctb") == {"VV": "what one does", "NN": ""}
        assert store.labels("ctb") == {"VV": "verb"}
        monkeypatch.setattr("tagweave.annotate.store._FRESH", 0.0)
        assert store.labels("ctb") == other.labels("ctb")


class TestConcordance:
    @staticmethod
    def occurrence(number: int) -> AnnotationTask:
        return AnnotationTask(make_task(number).sentence, 0, 2, "segmentation", purpose=Purpose.CONCORDANCE)

    def test_all_that_is_visible_is_marked_at_once(self, store: Store) -> None:
        a, b = hire(store, 2)
        found = [self.occurrence(number) for number in (3, 1, 2)]
        assert store.mark(a, found[:2], WORD) == [True, True]
        assert store.mark(b, found, NOT_A_WORD) == [False, False, True]
        assert [str(each.outcome) for each in store.outcomes("segmentation")] == ["word", "not a word", "word"]
        assert store.mark(a, [], WORD) == []

    def test_who_marked_may_change_their_mind(self, store: Store) -> None:
        (a,) = hire(store, 1)
        one = [self.occurrence(0)]
        for answer in (WORD, WORD, NOT_A_WORD):
            assert store.mark(a, one, answer) == [True]
        assert [str(each.answer) for each in store.judgements()] == ["word", "not a word"]
        undo(store, a)
        assert store.outcomes("segmentation") == []
        assert store.claim(a) is None  # nothing of a concordance is ever handed out
        assert store.mark(a, one, WORD) == [True]
        assert [each.outcome for each in store.outcomes("segmentation")] == [WORD]

    def test_real_tasks_are_not_marked(self, store: Store) -> None:
        (a,) = hire(store, 1)
        with pytest.raises(RefusedError, match="none of a concordance"):
            store.mark(a, [make_task(0)], NN)
        assert store.counts() == {}


class TestAdjudication:
    def test_the_last_decision_of_a_curator_stands(self, store: Store) -> None:
        curator = store.add_annotator("curator", "curator").id
        store.add_tasks(make_tasks(range(2)))
        for answer in (NN, CANNOT_TELL, VV):
            store.adjudicate(curator, 1, answer)
        store.adjudicate(curator, 2, CANNOT_TELL)
        assert [(each.outcome, each.status) for each in store.outcomes(GUIDELINE)] == [(VV, Status.ADJUDICATED)]

    def test_an_adjudicated_task_is_asked_of_nobody_and_late_answers_change_nothing(self, store: Store) -> None:
        curator = store.add_annotator("curator", "curator").id
        a, b = staffed(store, 1, 2)
        assert store.claim(a) is not None
        store.adjudicate(curator, 1, JJ)
        assert store.claim(b) is None
        assert store.answer(a, 1, NN).status is Status.ADJUDICATED
        assert [each.outcome for each in store.outcomes(GUIDELINE)] == [JJ]
        assert len(store.judgements_of(1)) == 1

    def test_only_curators_decide_and_only_on_what_there_is(self, store: Store) -> None:
        (a,) = staffed(store, 1, 1)
        with pytest.raises(RefusedError, match="only a curator"):
            store.adjudicate(a, 1, NN)
        with pytest.raises(RefusedError, match="no such task"):
            store.adjudicate(store.add_annotator("curator", "curator").id, 2, NN)
        assert store.outcomes(GUIDELINE) == []


def test_votes_are_the_answers_that_stand(store: Store) -> None:
    a, b = staffed(store, 2, 2)
    for person, answer in ((a, NN), (a, VV), (b, NN)):
        say(store, person, answer)
    undo(store, a)
    votes = store.votes()
    assert sorted((each.annotator, each.slot is not None, str(each.answer)) for each in votes) == [
        ("annotator 0", True, "NN"),
        ("annotator 1", True, "NN"),
    ]
    assert store.votes(Purpose.GOLD) == []
    assert [judgement.id for judgement in store.judgements(after=3)] == [4]


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


def test_another_mark_of_a_concordance_takes_the_place_of_the_first(store: Store, clock: Clock) -> None:
    [who] = hire(store, 1)
    task = make_task(0, Purpose.CONCORDANCE)
    for answer in (WORD, NOT_A_WORD, NOT_A_WORD, WORD):
        clock.now += 5
        assert store.mark(who, [task], answer) == [True]
        assert store.progress(who).answers == 1
        assert store.progress(who)[:4] == pytest.approx(counted(store, "annotator 0"))
