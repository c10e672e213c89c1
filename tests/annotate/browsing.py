"""Somebody at the pages of a store, without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from made_tasks import CANDIDATES, GUIDELINE
from starlette.testclient import TestClient

from reproductions.screenshots.served import served
from tagweave.annotate.kwic import build
from tagweave.annotate.page_request import Progress, WordList
from tagweave.annotate.rules import Settings
from tagweave.annotate.serving import application
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask
from tagweave.corpus.sentence import Location, Sentence

PASSWORD = "correct horse"  # noqa: S105
HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
"""Says itself how it was made, so checking it is quick, too."""
LINES = ("他在研究生命的起源", "研究生命的人", "研究生来了")
ADDRESS = "http://tagweave.example"
WORDS = ("研究", "研究生", "生命")
JSON = {"accept": "application/json"}


class Browser(TestClient):
    """Remembers cookies, and puts into every form what its last page had in all of them."""

    token, seen = "", ""

    def look(self, path: str, status: int = 200) -> str:
        """The page of a path."""
        return self._read(self.get(path), status)

    def fill(self, path: str, status: int = 200, **fields: Any) -> str:
        """Send a form; the page that comes of it."""
        return self._read(self.post(path, data=self._with(fields)), status)

    def ask(self, path: str, status: int = 200, **fields: Any) -> Any:
        """Send a form as the script does; the data that come of it."""
        answer = self.post(path, data=self._with(fields), headers=JSON)
        self._read(answer, status)
        return answer.json()

    def _with(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"csrf": self.token, "seen": self.seen, **fields}

    def _read(self, answer: Any, status: int) -> str:
        assert answer.status_code == status, answer.text
        if found := re.search(r'name=\\?"seen\\?" value=\\?"(\d+)', answer.text):
            self.seen = found[1]
        if found := re.search(r'<meta name="csrf" content="([^"]+)">', answer.text):
            self.token = found[1]
        return str(answer.text)

    def task(self) -> int:
        """The number of the task that is shown."""
        found = re.search(r'name="task" value="(\d+)"', self.look("/task"))
        assert found, "no task is shown"
        return int(found[1])


def new_store(folder: Path, tasks: int = 12, **settings: Any) -> Store:
    """A store in a folder, furnished."""
    return furnished(Store.open(f"sqlite:///{folder / 'answers.db'}", Settings(**settings), seed=1), tasks)


def furnished(store: Store, tasks: int) -> Store:
    """The store with tasks, and labels of which one is rarely a candidate."""
    store.add_labels(GUIDELINE, {"NN": "a thing", "VV": "what one does", "JJ": "", "AD": "rare"})
    store.add_tasks(
        [
            AnnotationTask(
                Sentence(("a", "saw", "cuts"), location=Location("toy.txt", n + 1)), 1, 2, GUIDELINE, CANDIDATES
            )
            for n in range(tasks)
        ]
    )
    return store


def visitor(store: Store, words: WordList | None = None, progress: Progress | None = None) -> Browser:
    """Somebody who has not signed in, and follows where pages lead."""
    return Browser(application(store, ADDRESS, words, progress), raise_server_exceptions=False)


def signed_in(
    store: Store,
    name: str,
    role: str = "annotator",
    words: WordList | None = None,
    progress: Progress | None = None,
) -> Browser:
    """Somebody new, who has signed in."""
    store.add_annotator(name, role, HASH)
    browser = visitor(store, words, progress)
    browser.look("/sign-in")
    browser.fill("/sign-in", name=name, password=PASSWORD)
    return browser


def word_list(folder: Path) -> WordList:
    """A concordance of `LINES`."""
    return WordList(build(LINES, folder / "kwic"), WORDS, "seg", "raw.txt")


@contextmanager
def entering(browser: Any, store: Store, words: WordList | None = None, **usual: Any) -> Iterator[Any]:
    """Serves a store; what signs somebody new in with Chromium, whose page must not fail."""
    failures: list[str] = []
    with ExitStack() as opened:
        address = opened.enter_context(served(store, words))

        def enter(name: str, role: str = "annotator", **options: Any) -> Any:
            store.add_annotator(name, role, HASH)
            context = browser.new_context(base_url=address, **usual, **options)
            opened.callback(context.close)
            form = context.request.get("/sign-in").text()
            token = form.partition('name="csrf" content="')[2].partition('"')[0]
            context.request.post("/sign-in", form={"csrf": token, "name": name, "password": PASSWORD})
            page = context.new_page()
            page.on("pageerror", lambda error: failures.append(str(error)))
            page.goto("/task")
            return page

        yield enter
    assert failures == []


def press(page: Any, *keys: str) -> None:
    """Press keys, and wait for what the server says to the last one."""
    with page.expect_response(lambda response: response.request.method == "POST"):
        for key in keys:
            page.keyboard.press(key)
    page.locator("main:not(.busy)").wait_for()
