"""The benchmark of serving: its requests, its client on a real server, and the page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.serve import load, requests
from tagweave.web import listening, server

pytestmark = pytest.mark.slow

SEEN: list[object] = []


async def tag(request: Request) -> JSONResponse:
    SEEN.append(await request.json())
    return JSONResponse({"results": []})


@pytest.fixture
def port() -> Iterator[int]:
    SEEN.clear()
    with listening("127.0.0.1", 0) as (opened, address):
        running = server(Starlette(routes=[Route("/tag", tag, methods=["POST"])]))
        thread = threading.Thread(target=running.run, args=([opened],))
        thread.start()
        yield int(address.rpartition(":")[2])
        running.should_exit = True
        thread.join()


def test_requests_hold_all_texts() -> None:
    texts = ["a", "é", "c", "d", "e"]
    bodies = [
        [json.loads(each.partition(b"\r\n\r\n")[2]) for each in requests("/tag", texts, size)] for size in (1, 2, 9)
    ]
    assert bodies == [
        [{"text": each} for each in texts],
        [{"texts": ["a", "é"]}, {"texts": ["c", "d"]}],
        [{"texts": texts}],
    ]
    [whole] = requests("/x", ["é"], 1)
    head, _, body = whole.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /x HTTP/1.1\r\n") and head.endswith(b"Content-Length: %d" % len(body))


def test_the_load_is_answered_and_counted(port: int) -> None:
    found = load(port, requests("/tag", ["a", "b", "c"], 1), 2, 0.2, 0.05)
    assert found.a_second > 10 and 0 < found.median <= found.p95 < 200
    assert {each["text"] for each in SEEN} == {"a", "b", "c"}  # type: ignore[index]
    assert len(SEEN) >= found.a_second * 0.2
