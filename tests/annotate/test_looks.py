"""How the pages look in Chromium: every page on a phone and on a wide screen, light and dark, and in other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import HASH, PASSWORD, entering, new_store, press, word_list
from made_spans import ADA, LONDON, all_of, answered
from made_spans import GUIDELINE as SPANS
from made_tasks import JJ, NN, VV

from reproductions.screenshots.served import CHROMIUM, served, sign_in
from tagweave.annotate.kwic import build
from tagweave.annotate.page_request import WordList
from tagweave.annotate.rules import Admission
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Purpose
from tagweave.corpus.sentence import Location, Sentence

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]

COMPLAINTS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
PAGES = (
    "/task",
    "/concordance?order=text",
    "/adjudication",
    "/adjudication?after=1000",
    "/dashboard",
    "/nowhere",
)
OUTSIDE = ("/sign-in", "/invited?token=any")
_UNNAMED = re.compile(r"- (button|link|textbox|searchbox|combobox|checkbox)(?! \")")
_SCREENS = [(390, "dark"), (1280, "light")]  # widths lay pages out, schemes colour them


def furnish(folder: Path) -> Store:
    """Something on every page, and words that are long."""
    store = new_store(folder, 0)
    store.add_labels("ctb", {LONG: f"a note about {LONG}"})
    words = (LONG, *"abcdefghijklmnopqrstuvwxyz")
    store.add_tasks(AnnotationTask(Sentence(words, location=Location("toy.txt", n)), 0, 1, "ctb") for n in range(1, 4))
    for name, reply in {"a": NN, "b": VV, f"c {LONG}": JJ, "d": NN}.items():
        person = store.add_annotator(name).id
        while lease := store.claim(person):
            store.answer(person, lease.task_id, reply)
    store.add_tasks([AnnotationTask(Sentence(words, location=Location("toy.txt", 9)), 0, 1, "ctb")])
    marks = AnnotationTask(Sentence(tuple("研究生来了")), 0, 2, "seg", uncertainty=0.5, purpose=Purpose.CONCORDANCE)
    store.add_tasks([marks])
    for minutes, accuracy in ((0, 0.8), (60, 0.9)):
        store.add_model("m", 0, minutes, accuracy)
    store.add_annotator("edith", "curator", HASH)
    return store


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("looks")
    store = furnish(folder)
    with served(store, word_list(folder)) as at:
        yield at
    store.close()


@pytest.fixture(scope="module")
def curator(browser: Any, address: str) -> Iterator[Any]:
    """A curator, who may see every page."""
    context = browser.new_context(base_url=address)
    page = context.new_page()
    sign_in(page, address, "edith", PASSWORD)
    yield page
    context.close()


def complaints(page: Any, width: int, scheme: str) -> list[str]:
    """What is wrong with a page of this width, with all that can be opened open; and controls without a name."""
    page.wait_for_load_state()  # a form that was just sent may have its answer, and not yet the style sheet
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    found = [str(each) for each in page.evaluate(f"({COMPLAINTS})({40 if width < 1000 else 24})")]
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
    tree = page.locator("body").aria_snapshot()
    assert len(re.findall(r"- (?:button|link|textbox) \"", tree)) > 1
    return [*found, *(line.strip() for line in tree.splitlines() if _UNNAMED.search(line))]


@pytest.mark.parametrize(("width", "scheme"), _SCREENS)
def test_every_page_fits_and_can_be_read(curator: Any, width: int, scheme: str) -> None:
    curator.set_viewport_size({"width": width, "height": 844})
    curator.emulate_media(color_scheme=scheme)
    found = {}
    for path in PAGES:
        curator.goto(path)
        found[path] = complaints(curator, width, scheme)
        if path == "/dashboard":
            curator.get_by_label("Invite").fill(f"{scheme} {width}")
            curator.keyboard.press("Enter")
            curator.get_by_label("One-time link").wait_for()
            found["a link"] = complaints(curator, width, scheme)
    assert found == {path: [] for path in (*PAGES, "a link")}


@pytest.mark.parametrize(("width", "scheme"), _SCREENS)
def test_so_do_those_for_everybody(browser: Any, address: str, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    found = {}
    for path in OUTSIDE:
        page.goto(address + path)
        found[path] = complaints(page, width, scheme)
    page.goto(f"{address}/sign-in")
    page.get_by_label("Name").fill(LONG)
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    page.locator(".message.wrong").wait_for()
    found["wrong"] = complaints(page, width, scheme)
    page.close()
    assert found == {path: [] for path in (*OUTSIDE, "wrong")}


def test_complaints_are_made(browser: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_content(
        "<p style='color: #999; background: white'>pale</p><button style='height: 30px'>low</button>"
        "<p style='width: 500px'>wide</p>"
    )
    found = page.evaluate(f"({COMPLAINTS})(40)")
    page.close()
    assert [each.partition(" ")[0] for each in found] == ["scrolls", "button", "p"]
    assert "contrast 2.8" in found[2]


@pytest.fixture(scope="module")
def hebrew(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An annotator in training on Hebrew, with a concordance."""
    folder = tmp_path_factory.mktemp("hebrew")
    store = new_store(folder, 0, admission=Admission(2, 1.0))
    sentence = Sentence(("3", "ילדים", "קראו", "ספר", "."), location=Location("toy.txt", 1))
    store.add_tasks([AnnotationTask(sentence, 2, 3, "ctb", purpose=Purpose.TRAINING, gold=VV)])
    store.add_annotator("ada", password_hash=HASH)
    lines = ("הילד קרא ספר", "3 ילדים קרא לו", "קרא")
    words = WordList(build(lines, folder / "kwic"), ("קרא",), "seg", "raw.txt")
    with served(store, words) as address:
        context = browser.new_context(base_url=address)
        page = context.new_page()
        sign_in(page, address, "ada", PASSWORD)
        yield page
        context.close()
    store.close()


class TestRightToLeft:
    @staticmethod
    def left(hebrew: Any, selector: str, text: str) -> float:
        """Where a text begins on the screen, from the left."""
        found = hebrew.evaluate(
            """([selector, text]) => {
              const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
              while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf(text);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + text.length);
                return range.getBoundingClientRect().left;
              }
            }""",
            [selector, text],
        )
        assert found is not None, f"{text} is not shown"
        return float(found)

    def test_a_sentence_is_read_from_the_right_even_if_it_begins_with_a_number(self, hebrew: Any) -> None:
        hebrew.goto("/task")
        places = [self.left(hebrew, ".sentence", text) for text in ("3", "ילדים", "קראו", "ספר", ".")]
        assert places == sorted(places, reverse=True)

    def test_a_concordance_is_aligned_and_read_from_the_right(self, hebrew: Any) -> None:
        hebrew.goto("/concordance?order=text")
        marks = hebrew.locator(".context mark")
        assert len({round(marks.nth(n).bounding_box()["x"]) for n in range(3)}) == 1
        for row in ("li:nth-child(1)", "li:nth-child(2)"):
            before = hebrew.locator(f"{row} .before bdi").bounding_box()
            mark, after = (
                hebrew.locator(f"{row} mark").bounding_box(),
                hebrew.locator(f"{row} .after bdi").bounding_box(),
            )
            assert before["x"] >= mark["x"] + mark["width"] - 1
            assert after["x"] + after["width"] <= mark["x"] + 1


@pytest.mark.parametrize(("width", "scheme"), _SCREENS)
def test_so_do_pages_of_spans(browser: Any, span_store: Store, width: int, scheme: str) -> None:
    span_store.add_labels(SPANS, {f"a rather long type number {number}": "a note " * 9 for number in range(9)})
    answered(span_store, *[all_of(ADA, LONDON), all_of(ADA)] * 2)
    with entering(browser, span_store, viewport={"width": width, "height": 844}, color_scheme=scheme) as enter:
        page = enter("edith", "curator")
        press(page, "a")
        found = complaints(page, width, scheme)
        page.goto("/adjudication")
        assert [*found, *complaints(page, width, scheme)] == []
