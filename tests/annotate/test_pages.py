"""The pages, by plain forms and as the script asks for them."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from browsing import HASH, LINES, PASSWORD, Browser, new_store, signed_in, visitor, word_list
from made_tasks import VV, make_tasks

from tagweave.annotate.rules import Admission
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, Purpose


@pytest.fixture
def store(label_store: Store) -> Store:
    return label_store


def answers_in(store: Store) -> list[str]:
    return [str(each.answer) for each in store.judgements()]


class TestSignIn:
    def test_a_wrong_password_is_told_like_a_wrong_name(self, store: Store) -> None:
        store.add_annotator("ada", password_hash=HASH)
        browser = visitor(store)
        browser.look("/sign-in")
        pages = [browser.fill("/sign-in", 401, name=name, password="wrong") for name in ("ada", "bob")]  # noqa: S106
        assert pages[0].replace("ada", "bob") == pages[1]

    def test_after_ten_of_them_a_name_waits(self, store: Store) -> None:
        store.add_annotator("ada", password_hash=HASH)
        store.add_annotator("bob", password_hash=HASH)
        browser = visitor(store)
        browser.look("/sign-in")
        for _ in range(10):
            browser.fill("/sign-in", 401, name="ada", password="")
        browser.fill("/sign-in", 429, name="ada", password=PASSWORD)
        browser.fill("/sign-in", 200, name="bob", password=PASSWORD)

    def test_many_may_be_invited_behind_one_address(self, store: Store) -> None:
        app = visitor(store).app
        for number in range(12):
            store.invite(store.add_annotator(f"ada {number}").id, f"link {number}", 60.0)
            browser = Browser(app, raise_server_exceptions=False)
            browser.look(f"/invited?token=link+{number}")
            browser.fill("/invited", 400, token=f"link {number}", password="short")  # noqa: S106
            browser.fill("/invited", token=f"link {number}", password=PASSWORD)
            assert "ada" in browser.look("/task")

    def test_a_link_that_is_none_waits_whatever_name_is_sent(self, store: Store) -> None:
        browser = visitor(store)
        browser.look("/invited?token=none")
        pages = [
            browser.fill("/invited", 400 if number < 10 else 429, token="none", name=str(number), password=PASSWORD)  # noqa: S106
            for number in range(12)
        ]
        assert "this link is invalid, too old, or has been used" in pages[9]
        assert "Too many attempts. Please wait five minutes." in pages[10]
        store.invite(store.add_annotator("ada").id, "link", 60.0)
        browser.fill("/invited", token="link", password=PASSWORD)  # noqa: S106

    def test_what_a_request_says_of_the_host_leads_nowhere(self, store: Store) -> None:
        browser = signed_in(store, "cur", "curator")
        browser.headers["host"] = "evil.example"
        browser.look("/dashboard")
        assert "evil.example" not in browser.fill("/dashboard/people", name="ada", role="annotator")
        assert browser.get("/task/", follow_redirects=False).status_code == 404

    def test_signing_out_ends_copies_of_the_cookie(self, store: Store) -> None:
        browser = signed_in(store, "ada")
        browser.look("/task")
        copy = dict(browser.cookies)
        browser.fill("/sign-out")
        browser.cookies.update(copy)
        assert "<h1>Sign in</h1>" in browser.look("/task")

    def test_a_cookie_is_closed_to_scripts_and_other_sites(self, store: Store) -> None:
        plain = visitor(store).get("/sign-in").headers["set-cookie"]
        assert "HttpOnly" in plain
        assert "SameSite=lax" in plain
        assert "Secure" not in plain
        assert "Secure" in visitor(store).get("https://testserver/sign-in").headers["set-cookie"]


class TestTask:
    def test_it_shows_the_sentence_candidates_notes_and_all_labels(self, store: Store) -> None:
        page = signed_in(store, "ada").look("/task")
        assert "a <mark>saw</mark> cuts" in page
        assert re.findall(r'value="([^"]+)" data-key="([^"]*)"', page) == [
            ("label NN", "1"),
            ("label VV", "2"),
            ("label JJ", "3"),
            ("not a word", "x"),
            ("can&#39;t tell", "?"),
            *((f"label {name}", "") for name in ("NN", "VV", "JJ", "AD")),
        ]
        assert page.count("what one does") == 2

    def test_the_script_gets_what_to_show(self, store: Store) -> None:
        browser = signed_in(store, "ada")
        first = browser.task()
        reply = browser.ask("/task", task=first, answer="label VV", started="1.5")
        assert f'name="task" value="{first}"' not in reply["main"]
        assert reply["message"] == "Saved: VV."
        assert reply["main"].count("<form") == 2
        assert "<html" not in reply["main"]

    @pytest.mark.parametrize("asks", [True, False])
    def test_undo(self, store: Store, asks: bool) -> None:
        browser = signed_in(store, "ada")
        first = browser.task()
        browser.fill("/task", task=first, answer="label VV")
        if asks:
            assert f'name="task" value="{first}"' in browser.ask("/task/undo")["main"]
            assert "nothing to undo" in browser.ask("/task/undo", 409)["message"]
        else:
            browser.fill("/task/undo")
        browser.fill("/task/undo", 400, seen="")
        assert browser.task() == first
        assert store.votes() == []

    def test_an_undo_that_is_sent_twice_is_one(self, store: Store) -> None:
        browser = signed_in(store, "ada")
        for _ in range(3):
            browser.fill("/task", task=browser.task(), answer="label VV")
        seen = browser.seen
        browser.fill("/task/undo", seen=seen)
        assert "it is undone already" in browser.fill("/task/undo", 409, seen=seen)
        assert answers_in(store) == ["VV"] * 4
        assert len(store.votes()) == 2


class TestTraining:
    def test_gold_is_shown_only_afterwards_until_one_is_admitted(self, tmp_path: Path) -> None:
        store = new_store(tmp_path, 1, admission=Admission(2, 1.0))
        store.add_tasks(make_tasks(range(5), Purpose.TRAINING, VV))
        browser = signed_in(store, "ada")
        assert "Training: 0 of your last 0" in browser.look("/task")
        responses = [browser.ask("/task", task=browser.task(), answer=f"label {name}") for name in ("NN", "VV")]
        assert [each["message"] for each in responses] == ["You answered NN; the right answer is VV.", "Right: VV."]
        assert "Training: 1 of your last 2" in responses[1]["main"]
        last = browser.ask("/task", task=browser.task(), answer="label VV")
        assert "Training" not in last["main"]

    def test_planted_gold_looks_like_any_other_task(self, tmp_path: Path) -> None:
        store = new_store(tmp_path, 0, gold_share=1.0)
        store.add_tasks(make_tasks(range(2), Purpose.GOLD, VV))
        browser = signed_in(store, "ada")
        page = browser.look("/task")
        assert "gold" not in page
        assert browser.ask("/task", task=browser.task(), answer="label NN")["message"] == "Saved: NN."


class TestConcordance:
    @pytest.fixture
    def browser(self, store: Store, tmp_path: Path) -> Browser:
        return signed_in(store, "ada", words=word_list(tmp_path))

    @pytest.mark.parametrize("answer", [WORD, NOT_A_WORD, CANNOT_TELL])
    def test_one_mark(self, browser: Browser, store: Store, answer: object) -> None:
        browser.look("/concordance")
        where = {"word": "研究", "order": "text", "first": 0, "sentence": 1, "start": 0}
        page = browser.fill("/concordance", answer=answer, **where)
        pressed = re.findall(r'name="answer" value="([^"]*)"[^>]*aria-pressed="true"', page)
        assert [unescape(each) for each in pressed] == [str(answer)]
        (found,) = store.judgements()
        assert found.answer == answer
        assert (found.task.task.sentence.location.line, found.task.task.focus) == (2, "研究")
        assert (found.task.task.guideline, "".join(found.task.task.sentence.forms)) == ("seg", LINES[1])

    def test_nothing_else_can_be_marked(self, browser: Browser, store: Store) -> None:
        browser.look("/concordance")
        places: list[dict[str, object]] = [
            {"word": "研究", "sentence": 0, "start": 0},
            {"word": "研究", "sentence": 3, "start": 0},
            {"word": "研究", "sentence": 999999999, "start": 0},
            {"word": "的", "sentence": 0, "start": 6},
            {"word": "研究", "sentence": -1, "start": 0},
            {"word": "研究", "sentence": 1, "start": 0, "order": "backwards"},
            {"word": "研究", "sentence": 1},
        ]
        for where in places:
            browser.fill("/concordance", 400, answer="word", **where)
        assert answers_in(store) == []

    def test_without_words_there_is_none(self, store: Store) -> None:
        signed_in(store, "bob").look("/concordance", 404)


class TestCurator:
    def test_annotators_are_none(self, store: Store) -> None:
        browser = signed_in(store, "ada")
        browser.look("/task")
        for path in ("/adjudication", "/dashboard", "/dashboard/people", "/dashboard/notes"):
            assert "for curators" in browser.look(path, 403)
