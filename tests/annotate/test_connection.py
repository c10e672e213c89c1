"""What nobody who has not signed in may do to the server: send without end, or hold it up."""

from __future__ import annotations

import logging
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

import pytest
from browsing import PASSWORD
from httpx2 import Client

from reproductions.screenshots.served import served
from tagweave import web
from tagweave.annotate import sign_in
from tagweave.annotate.page_request import LONGEST
from tagweave.annotate.store import Store

resource = pytest.importorskip("resource", reason="not on Windows")

GET = b"GET /sign-in HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"
ENOUGH = 40_000_000


@pytest.fixture
def store(label_store: Store) -> Store:
    return label_store


@pytest.fixture
def address(store: Store) -> Iterator[tuple[str, int]]:
    with served(store) as url:
        yield "127.0.0.1", int(url.rpartition(":")[2])


@contextmanager
def connected(address: tuple[str, int]) -> Iterator[socket.socket]:
    with socket.create_connection(address, 60) as opened:
        yield opened


def answer(opened: socket.socket) -> bytes:
    """All that the server says until it closes the connection; what it had not read may end it sooner."""
    found = b""
    try:
        while part := opened.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    return found


def pour(opened: socket.socket, begin: bytes, piece: bytes) -> int:
    """Send for as long as somebody listens; how many bytes that were."""
    sent = 0
    try:
        opened.sendall(begin)
        while sent < ENOUGH:
            opened.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    return sent


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        pytest.param(GET + b"A: ", b"a" * 50_000, id="one header"),
        pytest.param(GET, b"A: a\r\n" * 10_000, id="many headers"),
        pytest.param(b"GET /sign-in?", b"a" * 50_000, id="the query"),
        pytest.param(GET + b"A", b"a" * 50_000, id="the name of a header"),
        pytest.param(CHUNKED + b"0\r\nA: ", b"a" * 50_000, id="a trailer"),
        pytest.param(CHUNKED + b"0\r\n", b"A: a\r\n" * 10_000, id="many trailers"),
        pytest.param(CHUNKED + b"1;", b"a" * 50_000, id="an extension of a piece"),
        pytest.param(b"", b"\r\n" * 20_000, id="nothing"),
    ],
)
def test_what_has_no_end_is_not_read(address: tuple[str, int], begin: bytes, piece: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with connected(address) as opened:
        assert pour(opened, begin, piece) < ENOUGH / 2  # the system keeps some of it for the server
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB
    with urlopen("http://{}:{}/sign-in".format(*address)) as found:  # noqa: S310
        assert found.status == 200


@pytest.mark.parametrize(
    "headers", [b"A: " + b"a" * web.LONGEST, b"\r\n".join([b"A: a"] * web.MOST)], ids=["size", "number"]
)
def test_too_long_headers_are_told(address: tuple[str, int], headers: bytes) -> None:
    with connected(address) as opened:
        opened.sendall(GET + headers + b"\r\n\r\n")
        assert answer(opened).startswith(b"HTTP/1.1 431 ")


def test_headers_as_browsers_have_them(address: tuple[str, int]) -> None:
    cookie = b"Cookie: tagweave=" + b"x" * 4_000 + b"\r\n"
    with connected(address) as opened:
        for _ in range(5):  # each has its own bound
            opened.sendall(GET + cookie + b"A: a\r\n" * 90 + b"\r\n")
            assert opened.recv(65_536).startswith(b"HTTP/1.1 200 ")
        body = b"name=" + b"x" * (LONGEST - 5)
        opened.sendall(POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        assert answer(opened).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("begin", [b"", b"GE", GET, GET + b"\r\n" + GET, b"\r\n"], ids=["no", "G", "h", "two", "blank"])
def test_headers_that_do_not_come(address: tuple[str, int], begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "HEADER_PATIENCE", 0.3)
    with connected(address) as opened:
        opened.sendall(begin)
        found = answer(opened)  # ends, or the test does
    assert found.count(b"HTTP/1.1 200") == begin.count(b"\r\n\r\n")


def test_headers_that_come_drop_by_drop(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "HEADER_PATIENCE", 0.5)
    with connected(address) as opened, pytest.raises(OSError):  # a pipe is broken, or reset
        for byte in (GET + b"A: " + b"a" * 1_000).split(b"\n")[0] * 50:
            opened.sendall(bytes([byte]))
            time.sleep(0.05)


def test_a_form_that_does_not_come(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PATIENCE", 0.3)
    with connected(address) as opened:
        opened.sendall(POST + b"Content-Length: 10\r\n\r\nname=")
        assert answer(opened).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("sent", [b"Content-Length: 100\r\n\r\nname=a", b"Transfer-Encoding: chunked\r\n\r\n5\r\nna"])
def test_a_form_that_is_cut_off_is_one_line_of_the_log(
    address: tuple[str, int], sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with connected(address) as opened:
        opened.sendall(POST + sent)
    for _ in range(3_000):
        if caplog.records:
            break
        time.sleep(0.02)
    time.sleep(0.1)
    assert [each.getMessage() for each in caplog.records] == ["refused: POST '/sign-in': 400"]
    assert not caplog.records[0].exc_info


def test_whoever_is_refused_a_long_form_is_not_listened_to(address: tuple[str, int]) -> None:
    with connected(address) as opened:
        opened.sendall(POST + b"Content-Length: 99999999\r\n\r\n")
        found = answer(opened)
    assert found.startswith(b"HTTP/1.1 413 ")
    assert re.search(rb"(?i)\r\nconnection: close\r\n", found)


@pytest.mark.parametrize(("proxies", "last"), [((), 429), (("127.0.0.1",), 400)])
def test_who_says_that_it_forwards_is_not_believed_unless_known(
    store: Store, proxies: tuple[str, ...], last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "BY_ADDRESS", 3)
    with served(store, proxies=proxies) as url, Client(base_url=url) as browser:
        found = browser.get("/invited?token=none", headers={"x-forwarded-proto": "https"})
        assert ("Secure" in found.headers["set-cookie"]) == bool(proxies)
        browser.cookies = {"tagweave": found.cookies["tagweave"]}
        csrf = found.text.partition('name="csrf" value="')[2].partition('"')[0]
        form = {"csrf": csrf, "password": PASSWORD}
        replies = [
            browser.post("/invited", data={**form, "token": str(n)}, headers={"x-forwarded-for": f"192.0.2.{n}"})
            for n in range(4)
        ]
    assert [each.status_code for each in replies] == [400, 400, 400, last]


def test_no_socket_of_the_web_is_opened(address: tuple[str, int], caplog: pytest.LogCaptureFixture) -> None:
    upgrade = (
        b"Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
    )
    with connected(address) as opened:
        opened.sendall(GET + upgrade + b"\r\n")
        opened.shutdown(socket.SHUT_WR)
        assert b"101 Switching" not in answer(opened)
