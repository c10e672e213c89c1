"""The annotation server in a thread, and Debian's Chromium to look at it with."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tagweave.annotate.page_request import WordList
from tagweave.annotate.serving import application
from tagweave.annotate.store import Store
from tagweave.web import server

CHROMIUM = shutil.which("chromium")
"""The browser; `None` where it is not installed."""


@contextmanager
def served(store: Store, words: WordList | None = None, **named: Any) -> Iterator[str]:
    """The address of a server of the store, on loopback, while the block runs; `named` as for `server`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        running = server(application(store, address, words), **named)
        thread = threading.Thread(target=running.run, args=([listening],))
        thread.start()
        try:
            yield address
        finally:
            running.should_exit = True
            thread.join()


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def sign_in(page: Any, address: str, name: str, password: str) -> None:
    """As somebody does, by keyboard; ends on the page of tasks."""
    page.goto(f"{address}/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url("**/task")
