"""What nobody may do is refused and logged, and nothing has changed afterwards."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest
from browsing import PASSWORD, Browser, new_store, signed_in, visitor
from itsdangerous import URLSafeTimedSerializer
from sqlalchemy import create_engine, select

from tagweave.annotate import page_request
from tagweave.annotate.database import metadata
from tagweave.annotate.page_request import COOKIE, LONGEST, Attempts, WordList
from tagweave.annotate.store import Store
from tagweave.web import SECURITY

HOSTILE = (
    "' OR '1'='1",
    "1; DROP TABLE tasks; --",
    "label x' UNION SELECT password_hash FROM annotators --",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ request.site.sessions }}",
    "../../../../etc/passwd",
    "\u202e\u0000x",
    "9" * 400,
    "-1",
    "\ud7ff\uffff",
    "x" * 5_000,
)
FORMS = {
    "/task": {"answer": "label NN", "task": "99", "started": "0"},
    "/concordance": {"word": "研究", "order": "text", "first": "0", "sentence": "9", "start": "0", "answer": "word"},
    "/concordance/undo": {"word": "的", "order": "text", "first": "0", "steps": "1"},
    "/dashboard/people": {"again": "99"},
    "/adjudication": {"task": "99", "answer": "label NN", "after": "0"},
    "/dashboard/notes": {"guideline": "none", "label": "NN"},
    "/invited": {"token": "none", "password": PASSWORD},
    "/sign-in": {"name": "nobody", "password": PASSWORD},
}
"""Fields that are refused as well."""
MORE = {"/task": ["steps"], "/concordance": ["find", "steps"], "/adjudication": ["steps"]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path, 3)
    yield opened
    opened.close()


@pytest.fixture
def curator(store: Store, words: WordList) -> Browser:
    """May do most, and holds a task."""
    browser = signed_in(store, "cur", "curator", words)
    browser.look("/task")
    return browser


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    """Reads all that is in the store."""
    engine = create_engine(f"sqlite:///{tmp_path / 'answers.db'}")

    def read() -> dict[str, list[Any]]:
        with engine.connect() as connection:
            return {table.name: list(connection.execute(select(table))) for table in metadata.sorted_tables}

    yield read
    engine.dispose()


@pytest.fixture
def refusals(caplog: pytest.LogCaptureFixture) -> Any:
    """How many refusals are in the log."""
    caplog.set_level(logging.WARNING, "tagweave.annotate")
    return lambda: sum(each.getMessage().startswith("refused: ") for each in caplog.records)


class TestCookies:
    def forged(self, value: str) -> list[str]:
        """Cookies that somebody with this one could make."""
        body, *rest = value.split(".")
        other = base64.urlsafe_b64encode(b'[1,0,"t"]').decode().rstrip("=")
        guessed = URLSafeTimedSerializer("secret", salt="session").dumps([1, 0, "t"])
        return [".".join((other, *rest)), value[:-1], value + "x", body, guessed, "", "..", "[1, 0, 't']", "é" * 50]

    def test_a_forged_one_is_nobody(self, store: Store, curator: Browser, rows: Any, refusals: Any) -> None:
        before, token = rows(), curator.token
        for number, cookie in enumerate(self.forged(curator.cookies[COOKIE]), 1):
            browser = visitor(store)
            headers = {"cookie": f"{COOKIE}={cookie}".encode()}
            assert browser.get("/dashboard", headers=headers, follow_redirects=False).status_code == 303
            sent = browser.post("/task", data={"csrf": token, "task": "1", "answer": "label NN"}, headers=headers)
            assert sent.status_code == 401
            assert refusals() == number
        assert rows() == before

    def test_one_signed_for_another_purpose_or_of_another_shape_is_nobody(self, store: Store) -> None:
        key = store.keep("key of cookies", str)
        for salt, value in (("other", [1, 0, "t"]), ("session", [1]), ("session", {"annotator": 1}), ("session", 7)):
            cookie = URLSafeTimedSerializer(key, salt=salt).dumps(value)
            assert page_request.Sessions(store).read(cookie) is None

    def test_an_old_one_is_nobody(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        browser = signed_in(store, "ada")
        monkeypatch.setattr(page_request, "LONGEST_SESSION", -1)
        assert "<h1>Sign in</h1>" in browser.look("/task")

    def test_of_another_store_is_nobody(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        other = signed_in(new_store(tmp_path / "other"), "ada")
        store.add_annotator("ada")
        browser = visitor(store)
        browser.cookies.update(dict(other.cookies))
        assert "<h1>Sign in</h1>" in browser.look("/task")


class TestTokens:
    def test_without_that_of_the_session_nothing_is_done(
        self, store: Store, curator: Browser, rows: Any, refusals: Any
    ) -> None:
        paths = *FORMS, "/task/undo", "/sign-out"
        tokens = "", "x", "é", signed_in(store, "ada").token
        fields = {"answer": "label NN", "task": "1", "name": "new", "role": "curator"}
        before = rows()
        for number, (path, token) in enumerate(product(paths, tokens), 1):
            curator.fill(path, 403, **fields, csrf=token)
            assert (rows(), refusals()) == (before, number), (path, token)

    def test_without_a_cookie_a_token_is_worth_nothing(self, store: Store, curator: Browser) -> None:
        visitor(store).fill("/sign-in", 403, csrf=curator.token, name="cur", password=PASSWORD)

    def test_a_header_does_as_well(self, store: Store, curator: Browser) -> None:
        headers = {"x-csrf-token": curator.token}
        assert curator.post("/task", data={"task": curator.task(), "answer": "label NN"}, headers=headers).is_success
        assert len(store.votes()) == 1

    def test_a_question_changes_nothing(self, curator: Browser, rows: Any) -> None:
        before = rows()
        curator.look("/task?task=1&answer=label+NN")
        curator.look("/concordance?answer=word&sentence=1&start=0&all=1")
        curator.look("/task/undo")
        curator.look("/sign-out")
        assert {**rows(), "assignments": 0} == {**before, "assignments": 0}  # a look extends the lease


def test_another_ones_task(store: Store, rows: Any, refusals: Any) -> None:
    ada, bob = signed_in(store, "ada"), signed_in(store, "bob")
    held = {ada.task(), bob.task()}
    number = ada.task()
    bob.look("/task")
    before = rows()["judgements"]
    for wrong in {1, 2, 3, 4, 999_999_999} - {bob.task()}:
        reply = bob.ask("/task", 409, task=wrong, answer="label NN")
        assert "not given to you" in reply["message"]
    assert rows()["judgements"] == before
    assert refusals() == 4
    assert ada.task() == number in held


def test_sql_html_and_the_rest_in_every_field(curator: Browser, rows: Any, refusals: Any) -> None:
    before = rows()
    curator.app.state.site.attempts = Attempts(most_keys=0, clock=count().__next__, window=1)  # type: ignore[attr-defined]
    fields = [(path, name) for path in FORMS for name in (*FORMS[path], *MORE.get(path, []))]
    for number, ((path, name), hostile) in enumerate(product(fields, HOSTILE), 1):
        sent = curator.post(path, data={"csrf": curator.token, **FORMS[path], name: hostile})
        assert 400 <= sent.status_code < 500, (path, name, hostile, sent.text)
        assert "<script>alert" not in sent.text
        assert "<img" not in sent.text
        assert refusals() == number
    assert {**rows(), "assignments": 0} == {**before, "assignments": 0}


def test_what_is_kept_is_escaped(store: Store, curator: Browser) -> None:
    curator.fill("/dashboard/people", name="<script>alert(1)</script>", role="annotator")
    page = curator.fill("/dashboard/notes", guideline="ctb", label="NN", note='"><script>alert(1)</script>')
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2
    assert "<script>alert" not in curator.look("/task")


def test_bad_headers(curator: Browser, rows: Any) -> None:
    before = rows()
    names = "host", "accept", "content-type", "content-length", "x-csrf-token", "range", "cookie"
    addresses = "", "[", "[::1", "a:b:c", "\xff\xfe"
    values = *addresses, "tagweave=\xff; =;;", "tagweave=.eJ.a.b", "bytes=9-0,a", "1" * 3_000
    for name, value in product(names, values):
        for method, path in (("GET", "/sign-in"), ("POST", "/task"), ("GET", "/none"), ("GET", "/static/keys.js")):
            headers = {name: value.encode("latin-1")}
            assert curator.request(method, path, headers=headers, follow_redirects=False).status_code < 500, (
                name,
                value,
            )
    assert rows() == before


def test_ten_megabytes(curator: Browser, rows: Any, refusals: Any) -> None:
    before = rows()
    body, form = b"csrf=" + b"x" * 10_000_000, {"content-type": "application/x-www-form-urlencoded"}

    def parts() -> Iterator[bytes]:  # no length is said before
        yield from (body[at : at + 50_000] for at in range(0, len(body), 50_000))

    for path in FORMS:
        assert curator.post(path, content=body, headers=form).status_code == 413
        assert curator.post(path, content=parts(), headers=form).status_code == 413
    assert (rows(), refusals()) == (before, 2 * len(FORMS))


def test_the_longest_form_that_is_read(curator: Browser) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    for size, status in ((LONGEST, 403), (LONGEST + 1, 413)):
        assert curator.post("/task", content=b"x" * size, headers=form).status_code == status


def test_other_bodies(curator: Browser, rows: Any) -> None:
    before, form = rows(), "application/x-www-form-urlencoded"
    for kind, body, status in (
        ("multipart/form-data; boundary=x", b"--x--", 415),
        ("application/json", b"{}", 415),
        *((form, body, 400) for body in (b"name=%ff", b"name=\xff", b"name=%00", b"a=&" * 1_000)),
    ):
        assert curator.post("/task", content=body, headers={"content-type": kind}).status_code == status, body
    assert rows() == before


def test_paths_lead_nowhere_else(curator: Browser) -> None:
    names = [
        "../store.py",
        "..%2fstore.py",
        "%2e%2e/store.py",
        "%2e%2e%2f%2e%2e%2fweb.py",
        "..\\store.py",
        "....//web.py",
    ]
    outside = "/static//etc/passwd", "/../../etc/passwd", "/templates/base.html", "/static/", "/static/%00"
    for path in (*(f"/static/{name}" for name in names), *outside):
        found = curator.get(path, follow_redirects=False)
        assert found.status_code in (404, 405)
        assert "import" not in found.text


def test_every_answer_has_the_headers(curator: Browser) -> None:
    for path in ("/sign-in", "/task", "/nothing", "/static/keys.js", "/dashboard"):
        headers = curator.get(path).headers
        assert {name: headers[name] for name in SECURITY} == SECURITY, path
        assert headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store"), path


def test_pages_hold_no_script_and_no_style_of_their_own(curator: Browser) -> None:
    for path in ("/task", "/concordance", "/dashboard", "/adjudication"):
        page = curator.look(path)
        assert page.count("<script") == 1
        assert "<style" not in page
        assert " style=" not in page
        assert " on" + "click" not in page


def test_methods_that_a_page_has_not(curator: Browser) -> None:
    for method in ("PUT", "DELETE", "PATCH"):
        assert curator.request(method, "/task").status_code == 405
    assert curator.post("/dashboard", data={"csrf": curator.token}).status_code == 405


def test_a_defect_shows_nothing_of_the_inside(curator: Browser, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(store, "progress", fail)
    found = curator.get("/task")
    assert found.status_code == 500
    assert "secret" not in found.text
    assert found.headers["x-content-type-options"] == "nosniff"
