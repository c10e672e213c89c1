"""Marking spans in Chromium: by keyboard, by mouse, without scripts, in a sentence that is read from the right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import entering, press
from made_spans import ADA, BABBAGE, GUIDELINE, LONDON, LONDON_ORG, all_of, answered, some

from reproductions.screenshots.served import CHROMIUM
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Asks
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

COMPLAINTS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")


@pytest.fixture
def enter(browser: Any, span_store: Store) -> Iterator[Any]:
    with entering(browser, span_store) as enter_:
        yield enter_


def drawn(page: Any, state: str = "marked") -> list[str]:
    return [each.replace("\n", " ") for each in page.locator(f".words .{state}").all_inner_texts()]


def answers(span_store: Store) -> list[Answer]:
    return [vote.answer for vote in span_store.votes(asks=Asks.SPANS)]


class TestKeyboard:
    def test_proposals_words_and_types(self, enter: Any, span_store: Store) -> None:
        page = enter("ada")
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

    def test_a_selection_is_announced_and_grows(self, enter: Any, span_store: Store) -> None:
        page = enter("ada")
        press(page, "r")
        for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowRight", "Shift+ArrowRight"):
            page.keyboard.press(key)
        assert page.get_by_role("status").inner_text() == "Babbage in London"
        press(page, "4")
        press(page, "s")
        assert answers(span_store) == [some(Span(3, 6, "MISC"), rejected=[ADA])]


class TestPointer:
    def test_words_are_dragged_over(self, enter: Any, span_store: Store) -> None:
        page = enter("ada")
        page.locator("[data-token='2']").hover()
        page.mouse.down()
        page.locator("[data-token='3']").hover()
        page.mouse.up()
        with page.expect_response("**/task"):
            page.get_by_role("button", name="ORG").first.click()
        page.locator(".words .marked").wait_for()
        assert drawn(page) == ["met BabbageORG"]

    def test_a_marked_span_is_clicked_and_removed(self, enter: Any) -> None:
        page = enter("ada")
        page.locator("[data-token='3']").click()
        press(page, "1")
        assert drawn(page) == ["BabbagePER"]
        page.locator("[data-token='3']").click()
        assert "Babbage" in page.locator(".row.current").inner_text()
        press(page, "r")
        assert drawn(page) == []

    def test_words_are_tapped_on_a_phone(self, enter: Any) -> None:
        page = enter("ada", has_touch=True, viewport={"width": 390, "height": 844})
        page.locator("[data-token='2']").tap()
        page.locator("[data-token='4']").tap()
        assert page.locator(".selected").all_inner_texts() == ["met", "Babbage", "in"]


def test_without_scripts(enter: Any, span_store: Store) -> None:
    page = enter("ada", java_script_enabled=False)
    page.get_by_role("button", name="Accept Ada Lovelace, PER").click()
    page.get_by_label("First selected word").select_option("3")
    page.get_by_label("Last selected word").select_option("3")
    page.get_by_role("button", name="1 PER").click()
    assert drawn(page) == ["Ada LovelacePER", "BabbagePER"]
    page.get_by_role("button", name="Save").click()
    assert answers(span_store) == [some(ADA, BABBAGE)]


def test_a_sentence_from_the_right(enter: Any, span_store: Store) -> None:
    sentence = Sentence(("ילדים", "קראו", "ספר"), location=Location("x", 1))
    span_store.add_tasks([AnnotationTask(sentence, 0, 3, GUIDELINE, uncertainty=9.0, asks=Asks.SPANS)])
    page = enter("ada")
    for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator(".selected").all_inner_texts() == ["קראו", "ספר"]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_pages_fit_and_can_be_read(enter: Any, span_store: Store, width: int, scheme: str) -> None:
    span_store.add_labels(GUIDELINE, {f"a rather long type number {number}": "a note " * 9 for number in range(9)})
    answered(span_store, *[all_of(ADA, LONDON), all_of(ADA)] * 2)
    page = enter("edith", "curator", viewport={"width": width, "height": 844}, color_scheme=scheme)
    press(page, "a")
    for path in (None, "/adjudication"):
        if path:
            page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate(f"({COMPLAINTS})({40 if width < 1000 else 24})") == []
        tree = page.locator("body").aria_snapshot()
        assert not re.search(r"- (button|link|textbox|searchbox|combobox)(?! \")", tree)
