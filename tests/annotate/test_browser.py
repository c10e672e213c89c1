"""The pages in Chromium: by keyboard, by mouse, without scripts, in a sentence that is read from the right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import PASSWORD, entering, new_store, press
from made_spans import ADA, BABBAGE, GUIDELINE, LONDON_ORG, all_of, some

from reproductions.screenshots.served import CHROMIUM
from tagweave.annotate.page_request import WordList
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, Status
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def store(label_store: Store) -> Store:
    return label_store


@pytest.fixture
def enter(browser: Any, store: Store, words: WordList) -> Iterator[Any]:
    with entering(browser, store, words, viewport=PHONE) as enter_:
        yield enter_


def task_number(page: Any) -> int:
    return int(page.locator("[name=task]").get_attribute("value"))


def test_signing_in_by_keyboard(enter: Any) -> None:
    page = enter("ada")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    page.locator("[name=name]:focus").wait_for()
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    page.locator(".message.wrong").wait_for()
    page.locator("[name=password]:focus").wait_for()  # the name is there already
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/task")


def test_ten_tasks_by_keyboard(enter: Any, store: Store) -> None:
    page = enter("ada")
    for key in "1231x?2u":
        press(page, key)
    press(page, " ", "A", "Enter")
    press(page, " ", "Escape", "3")
    press(page, "1")
    press(page, "2")
    votes = sorted((each.ended, str(each.answer)) for each in store.judgements() if not each.withdrawn)
    assert ", ".join(answer for _, answer in votes) == "NN, VV, JJ, NN, not a word, can't tell, VV, AD, JJ, NN, VV"
    assert len(store.votes()) == 10
    assert "10 answers by you" in page.inner_text("footer")


def test_focus_stays_where_one_works(enter: Any) -> None:
    page = enter("ada")
    page.locator("[data-key='1']").focus()
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.goto("/concordance?word=研究&order=text")
    page.keyboard.press("ArrowDown")
    press(page, "w")
    assert page.evaluate("document.activeElement === document.querySelectorAll('[data-row]')[2]")


def test_a_concordance_by_keyboard(enter: Any, store: Store) -> None:
    page = enter("ada")
    page.goto("/concordance?word=研究&order=text")
    pressed = page.locator("[aria-pressed=true]")
    press(page, "x")  # and the next row is current
    press(page, "w")
    assert pressed.all_inner_texts() == ["not a word", "word"]
    page.keyboard.press("ArrowUp")
    press(page, "s")
    assert pressed.all_inner_texts() == ["not a word", "skip"]
    press(page, "a")
    assert pressed.all_inner_texts() == ["not a word", "skip", "word"]
    press(page, "u")
    assert pressed.all_inner_texts() == ["not a word", "skip"]
    press(page, "u")
    assert pressed.all_inner_texts() == ["not a word"]
    press(page, "a")
    assert pressed.all_inner_texts() == ["not a word", "word", "word"]
    assert page.get_by_role("status").inner_text() == "2 marked: word."
    page.keyboard.press("n")
    page.wait_for_url("**/concordance?word=*E7%94%9F*")
    assert page.locator("mark").all_inner_texts() == ["研究生"] * 3


@pytest.mark.slow
class TestDisagreement:
    """Three tasks: on the first, three of four agree; on the second, they do not; the third is easy."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        opened = new_store(tmp_path, 3)
        yield opened
        opened.close()

    def work(self, page: Any, keys: str) -> set[int]:
        """Answer until nothing is left; the tasks that were offered."""
        offered = set()
        while page.locator("[name=task]").count():
            offered.add(number := task_number(page))
            press(page, keys[number - 1])
        return offered

    def test_two_more_are_asked_and_the_curator_decides_the_rest(self, enter: Any, store: Store) -> None:
        keys = {"ada": "111", "bob": "221", "cid": "13", "dan": "11"}  # of each task by its number
        offered = {name: self.work(enter(name), keys[name]) for name in keys}
        assert offered == {"ada": {1, 2, 3}, "bob": {1, 2, 3}, "cid": {1, 2}, "dan": {1, 2}}
        found = [store.task(number) for number in (1, 2, 3)]
        outcomes = [(each.status, each.outcome and str(each.outcome)) for each in found if each]
        assert outcomes == [(Status.AGREED, "NN"), (Status.DROPPED, None), (Status.AGREED, "NN")]

        page = enter("edith", "curator")
        page.goto("/adjudication")
        rows = {tuple(each.split()[:2]) for each in page.locator("tbody tr").all_inner_texts()}
        assert rows == {("ada", "NN"), ("bob", "VV"), ("cid", "JJ"), ("dan", "NN")}
        assert page.locator(".names").all_inner_texts() == ["ada, dan", "bob", "cid"]
        press(page, " ", "A", "Enter")  # not one of those
        assert page.get_by_role("status").inner_text() == "Decided: saw is AD."
        assert "No more tasks to decide" in page.inner_text("main")
        page.keyboard.press("u")
        page.wait_for_url("**/adjudication?again=2")
        press(page, "2")
        decided = store.task(2)
        assert (decided.status, str(decided.outcome)) == (Status.ADJUDICATED, "VV")


class TestTrouble:
    def test_a_server_that_is_away_loses_nothing(self, enter: Any, store: Store) -> None:
        page = enter("ada")
        number = task_number(page)
        page.context.set_offline(True)
        page.keyboard.press("1")
        page.locator(".message.wrong", has_text="was not saved; please try again").wait_for()
        assert task_number(page) == number
        page.context.set_offline(False)
        press(page, "1")
        assert page.locator(".message.wrong").count() == 0
        assert [str(vote.answer) for vote in store.votes()] == ["NN"]

    def test_who_was_signed_out_elsewhere_is_asked_to_sign_in(self, enter: Any, store: Store) -> None:
        page = enter("ada")
        person = store.annotator("ada")
        store.end_sessions(person.id)
        page.keyboard.press("1")
        page.wait_for_url("**/sign-in")
        assert store.votes() == []


@pytest.fixture
def enter_spans(browser: Any, span_store: Store) -> Iterator[Any]:
    with entering(browser, span_store) as enter_:
        yield enter_


def drawn(page: Any, state: str = "marked") -> list[str]:
    return [each.replace("\n", " ") for each in page.locator(f".words .{state}").all_inner_texts()]


def answers(span_store: Store) -> list[Answer]:
    return [vote.answer for vote in span_store.votes(asks=Asks.SPANS)]


class TestKeyboard:
    def test_proposals_words_and_types(self, enter_spans: Any, span_store: Store) -> None:
        page = enter_spans("ada")
        assert drawn(page, "proposed") == ["Ada LovelacePER?", "LondonLOC?"]
        press(page, "a")  # and the next row is current
        press(page, "r")
        press(page, "a")
        assert drawn(page) == ["Ada LovelacePER", "LondonORG"]
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        press(page, "1")
        assert drawn(page) == ["Ada LovelacePER", "BabbagePER", "LondonORG"]
        assert page.get_by_role("status").inner_text() == "Marked: Babbage, PER."
        press(page, "u")
        assert drawn(page) == ["Ada LovelacePER", "LondonORG"]
        press(page, "d")
        assert answers(span_store) == [all_of(ADA, LONDON_ORG)]
        assert drawn(page) == []
        press(page, "u")  # the answer, which comes back with its marks
        assert drawn(page) == ["Ada LovelacePER", "LondonORG"]
        press(page, "u")
        press(page, "s")
        assert answers(span_store) == [some(ADA, LONDON_ORG)]

    def test_a_selection_is_announced_and_grows(self, enter_spans: Any, span_store: Store) -> None:
        page = enter_spans("ada")
        press(page, "r")
        for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowRight", "Shift+ArrowRight"):
            page.keyboard.press(key)
        assert page.get_by_role("status").inner_text() == "Babbage in London"
        press(page, "4")
        press(page, "s")
        assert answers(span_store) == [some(Span(3, 6, "MISC"), rejected=[ADA])]


class TestPointer:
    def test_words_are_dragged_over(self, enter_spans: Any, span_store: Store) -> None:
        page = enter_spans("ada")
        page.locator("[data-token='2']").hover()
        page.mouse.down()
        page.locator("[data-token='3']").hover()
        page.mouse.up()
        with page.expect_response("**/task"):
            page.get_by_role("button", name="ORG").first.click()
        page.locator(".words .marked").wait_for()
        assert drawn(page) == ["met BabbageORG"]

    def test_a_marked_span_is_clicked_and_removed(self, enter_spans: Any) -> None:
        page = enter_spans("ada")
        page.locator("[data-token='3']").click()
        press(page, "1")
        assert drawn(page) == ["BabbagePER"]
        page.locator("[data-token='3']").click()
        assert "Babbage" in page.locator(".row.current").inner_text()
        press(page, "r")
        assert drawn(page) == []

    def test_the_innermost_span_is_clicked(self, enter_spans: Any, span_store: Store) -> None:
        proposed = (Candidate("ORG", 0.9, 0, 3), Candidate("PER", 0.8, 1, 2))
        sentence = Sentence(("The", "Lovelace", "Fund"), location=Location("x", 1))
        span_store.add_tasks([AnnotationTask(sentence, 0, 3, GUIDELINE, proposed, 9.0, asks=Asks.LAYERS)])
        page = enter_spans("ada")
        while page.locator("[data-token='6']").count():
            press(page, "?")
        for token, words in (("1", "Lovelace"), ("2", "The Lovelace Fund")):
            page.locator(f"[data-token='{token}']").click()
            assert page.locator(".row.current b").inner_text() == words

    def test_words_are_tapped_on_a_phone(self, enter_spans: Any) -> None:
        page = enter_spans("ada", has_touch=True, viewport={"width": 390, "height": 844})
        page.locator("[data-token='2']").tap()
        page.locator("[data-token='4']").tap()
        assert page.locator(".selected").all_inner_texts() == ["met", "Babbage", "in"]


def test_without_scripts(enter_spans: Any, span_store: Store) -> None:
    page = enter_spans("ada", java_script_enabled=False)
    page.get_by_role("button", name="Accept Ada Lovelace, PER").click()
    page.get_by_label("First selected word").select_option("3")
    page.get_by_label("Last selected word").select_option("3")
    page.get_by_role("button", name="1 PER").click()
    assert drawn(page) == ["Ada LovelacePER", "BabbagePER"]
    page.get_by_role("button", name="Save").click()
    assert answers(span_store) == [some(ADA, BABBAGE)]


def test_a_sentence_from_the_right(enter_spans: Any, span_store: Store) -> None:
    sentence = Sentence(("ילדים", "קראו", "ספר"), location=Location("x", 1))
    span_store.add_tasks([AnnotationTask(sentence, 0, 3, GUIDELINE, uncertainty=9.0, asks=Asks.SPANS)])
    page = enter_spans("ada")
    for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator(".selected").all_inner_texts() == ["קראו", "ספר"]
