"""The pages in Chromium, by keyboard."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from browsing import HASH, PASSWORD, new_store, word_list

from tagweave.annotate.app import application
from tagweave.annotate.store import Store

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path, 11)
    opened.add_annotator("ada", password_hash=HASH)
    yield opened
    opened.close()


@pytest.fixture
def address(store: Store, tmp_path: Path) -> Iterator[str]:
    """A server of the store."""
    config = uvicorn.Config(application(store, word_list(tmp_path)), log_level="warning")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture
def page(address: str) -> Iterator[Any]:
    """Somebody with a phone, who has signed in; a page of theirs must not fail."""
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 844})
        failures: list[str] = []
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.goto(address)
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/task")
        yield page
        browser.close()
        assert failures == []


def test_ten_tasks_by_keyboard(page: Any, store: Store) -> None:
    def press(*keys: str) -> None:
        """Press keys, and wait until there is another task."""
        before = page.locator("[name=started]").get_attribute("value")
        for key in keys:
            page.keyboard.press(key)
        page.locator(f"[name=started]:not([value='{before}'])").wait_for(state="attached")

    for key in "1231x?":
        press(key)
    press("2")
    press("u")
    press(" ", "A", "Enter")
    press(" ", "Escape", "3")
    press("1")
    press("2")
    votes = sorted((each.ended, str(each.answer)) for each in store.judgements() if not each.withdrawn)
    assert [said for _, said in votes] == [
        "NN",
        "VV",
        "JJ",
        "NN",
        "not a word",
        "can't tell",
        "VV",
        "AD",
        "JJ",
        "NN",
        "VV",
    ]
    assert len(store.votes()) == 10
    assert "10 answers by you" in page.inner_text("footer")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390


def test_a_concordance_by_keyboard(page: Any, store: Store, address: str) -> None:
    page.goto(f"{address}/concordance?word=研究&order=text")
    for number, key in enumerate("xw", 1):
        page.keyboard.press(key)
        page.locator("[aria-pressed=true]").nth(number - 1).wait_for()
    page.keyboard.press("a")
    page.locator("[aria-pressed=true]").nth(2).wait_for()
    assert [str(each.answer) for each in store.judgements()] == ["not a word", "word", "word"]
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
