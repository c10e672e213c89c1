"""What people do at the pages: answer, take back, mark words, decide, look at all."""

from __future__ import annotations

import re
from html import unescape

import pytest
from browsing import HASH, PASSWORD, Browser, furnished, signed_in, visitor
from made_tasks import JJ, NN, VV, Clock, OpenStore

from tagweave.annotate.page_request import WordList
from tagweave.annotate.rules import Rule, Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import Answer, Purpose, Status

TASKS = 4


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return furnished(open_store(Settings()), TASKS)


def answer_all(store: Store, by_name: dict[str, Answer]) -> None:
    """Everybody, entered here, says always the same."""
    for name, answer in by_name.items():
        person = store.add_annotator(name).id
        while lease := store.claim(person):
            store.answer(person, lease.task_id, answer)


def standing(store: Store, purpose: Purpose = Purpose.REAL) -> list[str]:
    return [str(vote.answer) for vote in store.votes(purpose)]


def pressed(page: str) -> list[str]:
    """The buttons of a concordance that are on."""
    return [unescape(each) for each in re.findall(r'value="([^"]*)"[^>]*aria-pressed="true"', page)]


def hidden(page: str, name: str) -> str:
    """A field that all forms of a page have."""
    (found,) = {*re.findall(rf'name="{name}" value="([^"]*)"', page)}
    return str(found)


class TestStart:
    def test_who_signs_in_is_led_to_what_there_is_to_do(
        self, open_store: OpenStore, store: Store, words: WordList
    ) -> None:
        empty = open_store(Settings())
        assert "Guideline <b" in signed_in(store, "ada", words=words).look("/")
        browser = signed_in(empty, "ada", words=words)
        assert "Sorted by" in browser.look("/")
        browser.fill("/concordance", all=1)
        assert "Sorted by" in browser.look("/")
        assert "Nothing left for you" in signed_in(empty, "bob").look("/")

    def test_a_server_that_starts_anew_knows_who_has_signed_in(self, store: Store) -> None:
        browser = signed_in(store, "ada")
        number, again = browser.task(), visitor(store)
        again.cookies.update(dict(browser.cookies))
        again.token = browser.token  # of a page that was open all the time
        assert "Saved: VV." in again.fill("/task", task=number, answer="label VV")

    def test_a_task_that_went_to_somebody_else_is_told_and_another_one_shown(self, open_store: OpenStore) -> None:
        clock = Clock()
        store = furnished(open_store(Settings(rule=Rule(1, 0, 1), lease=60.0), clock), 2)
        ada, bob = signed_in(store, "ada"), signed_in(store, "bob")
        lost = ada.task()
        clock.now += 61
        while bob.task() != lost:
            bob.fill("/task", task=bob.task(), answer="label NN")
        bob.fill("/task", task=lost, answer="label NN")
        page = ada.fill("/task", 409, task=lost, answer="label VV")
        assert "Not taken: this task has gone to somebody else." in page
        assert standing(store).count("VV") == 0


class TestConcordance:
    def test_each_step_can_be_taken_back(self, store: Store, words: WordList) -> None:
        browser = signed_in(store, "ada", words=words)
        where = {"word": "研究", "order": "text", "first": 0}
        page = browser.look("/concordance?word=研究&order=text")
        assert "Undo" not in page
        page = browser.fill(
            "/concordance", answer="not a word", sentence=1, start=0, steps=hidden(page, "steps"), **where
        )
        assert hidden(page, "steps") == "1"
        page = browser.fill("/concordance", answer="can't tell", sentence=1, start=0, steps="1", **where)
        assert hidden(page, "steps") == "1"  # another mind about the same row is no other row
        page = browser.fill("/concordance", all=1, steps="1", **where)
        assert hidden(page, "steps") == "1,2"
        assert pressed(page) == ["word", "can't tell", "word"]
        page = browser.fill("/concordance/undo", steps="1,2", **where)
        assert "2 undone" in page
        assert pressed(page) == ["can't tell"]
        page = browser.fill("/concordance/undo", steps="1", **where)
        assert pressed(page) == []
        assert "Undo" not in page
        browser.fill("/concordance/undo", 409, steps="1", **where)
        page = browser.fill("/concordance", all=1, **where)
        assert pressed(page) == ["word"] * 3

    def test_what_no_page_sends_takes_nothing_back(self, store: Store, words: WordList) -> None:
        browser = signed_in(store, "ada", words=words)
        browser.fill("/task", task=browser.task(), answer="label VV")
        browser.look("/concordance")
        for fields in (
            *({"steps": text} for text in ("x", "-1", "0", "26", "1,,x", "999", ",".join(["1"] * 51), "١")),
            *({name: "none"} for name in ("word", "order", "first")),
        ):
            browser.fill("/concordance/undo", 400, **{"steps": "1", **fields})
            assert standing(store) == ["VV"], fields

    def test_of_a_long_list_the_neighbours_are_offered_and_any_other_is_found(
        self, store: Store, words: WordList
    ) -> None:
        many = words._replace(words=(*words.words, *(f"w{n}" for n in range(500))))
        browser = signed_in(store, "ada", words=many)
        page = browser.look("/concordance?word=w300")
        offered = re.findall(r'<option value="(w?\w+)"', page)
        assert offered[:-3] == [f"w{n}" for n in range(200, 401)]
        page = browser.look("/concordance?word=w300&find=研究")
        assert '<option value="研究" selected>研究 (3)</option>' in page
        assert "expected those that are listed" in browser.look("/concordance?word=w300&find=nowhere", 400)


class TestAdjudication:
    @pytest.fixture
    def curator(self, store: Store) -> Browser:
        answer_all(store, {"a": NN, "b": VV, "c": JJ, "d": NN})
        return signed_in(store, "cur", "curator")

    def test_what_annotators_said_is_offered_first_with_their_names(self, store: Store, curator: Browser) -> None:
        page = curator.look("/adjudication")
        choices = re.findall(
            r'data-key="(\d)".*\n.*<b dir="auto">(\w+)</b><span class="names" dir="auto">(.*?)</span>', page
        )
        assert sorted(choices) == [("1", "NN", choices[0][2]), *sorted(choices)[1:]]
        assert {key: {*names.split(", ")} for key, _, names in choices}["1"] == {"a", "d"}
        assert {(label, names) for _, label, names in choices[1:]} == {("VV", "b"), ("JJ", "c")}

    def test_a_decision_may_be_changed(self, store: Store, curator: Browser) -> None:
        first = store.tasks(Status.DROPPED)[0].id
        curator.look("/adjudication")
        page = curator.fill("/adjudication", task=first, answer="label AD", after=first)
        assert "Decided: saw is AD." in page
        assert f'href="/adjudication?again={first}"' in page
        assert "Decided: <b" in curator.look(f"/adjudication?again={first}")
        curator.fill("/adjudication", task=first, answer="label JJ")
        decided = store.task(first)
        assert (decided.status, decided.outcome) == (Status.ADJUDICATED, JJ)

    def test_only_what_annotators_could_not_settle_is_decided(self, store: Store, curator: Browser) -> None:
        open_ = furnished(store, TASKS + 1).tasks(Status.OPEN)[0].id
        curator.look("/adjudication")
        curator.fill("/adjudication", 409, task=open_, answer="label NN")
        for wrong in ("label unknown", "word"):
            curator.fill("/adjudication", 409, task=store.tasks(Status.DROPPED)[0].id, answer=wrong)
        assert len(store.tasks(Status.DROPPED)) == TASKS
        assert "no such task" in curator.look(f"/adjudication?again={open_}", 409)
        found = store.task(open_)
        assert found.status is Status.OPEN


class TestDashboard:
    def test_people_tasks_and_agreement(self, store: Store) -> None:
        answer_all(store, {"a": NN, "b": NN})
        page = signed_in(store, "cur", "curator").look("/dashboard")
        assert "Raw 1.000" in page
        assert re.search(
            r'<th scope="row" dir="auto">a</th><td>annotator</td>\s*<td>yes</td>\s*<td class="number">4<', page
        )
        row = re.search(r'<th scope="row">real</th>(.*)</tr>', page)
        assert row
        assert re.findall(r">(\d+)<", row[1]) == ["0", str(TASKS), "0", "0"]

    def test_who_forgot_the_password_gets_a_link(self, store: Store) -> None:
        ada = store.add_annotator("ada", password_hash=HASH)
        curator = signed_in(store, "cur", "curator")
        curator.look("/dashboard")
        page = curator.fill("/dashboard/people", again=ada.id)
        found = re.search(r'value="http://tagweave.example(/invited\?token=([^"]+))"', page)
        assert found
        browser = visitor(store)
        browser.look(unescape(found[1]))
        assert "what is <b" in browser.fill("/invited", token=unescape(found[2]), password="another horse")  # noqa: S106
        again = visitor(store)
        again.look("/sign-in")
        again.fill("/sign-in", 401, name="ada", password=PASSWORD)
        curator.fill("/dashboard/people", 400, again=10**8)

    def test_the_notes_of_a_guideline_stay_open_while_they_are_written(self, store: Store) -> None:
        curator = signed_in(store, "cur", "curator")
        assert "<details>" in curator.look("/dashboard")
        page = curator.fill("/dashboard/notes", guideline="ctb", label="JJ", note="only before nouns")
        assert "<details open>" in page
        assert 'value="only before nouns"' in page
