"""Requests of many connections: computed together, none at the cost of another, and none without end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tagweave.errors import CorpusError, RequestError
from tagweave.serve.batches import Batches, Metrics
from tagweave.serve.requests import NO_LEVEL, Item, TextResult
from tagweave.serve.settings import Limits

KEY = ("tag", "m", False, NO_LEVEL)


class Stub:
    """Models whose operation notes its calls, and waits for `go`."""

    def __init__(self) -> None:
        self.calls: list[list[Item]] = []
        self.probabilities: list[object] = []
        self.go = threading.Event()
        self.operations = {"tag": self, "parse": self}
        self.name = self.version = "m"
        self.model = SimpleNamespace(guidelines=("g",))

    def that_can(self, _operation: str, _name: str) -> Stub:
        return self

    def refresh(self) -> None:
        self.go.wait(10)

    def results(self, items: Sequence[Item], probabilities: object, _level: object) -> list[TextResult]:
        self.calls.append([*items])
        self.probabilities.append(probabilities)
        for each in items:
            if each == "wrong":
                raise CorpusError("something wrong", "something right")
            if each == "bug":
                raise IndexError(each)
        return [TextResult([str(each)], []) for each in items]


def run(work: Callable[[Batches, Stub], Awaitable[Any]], limits: Limits | None = None) -> Any:
    async def in_loop() -> Any:
        stub = Stub()
        batches = Batches(stub, limits or Limits(), Metrics())  # type: ignore[arg-type]
        try:
            return await work(batches, stub)
        finally:
            stub.go.set()
            batches.close()

    return asyncio.run(in_loop())


async def _several(batches: Batches, stub: Stub, *asked: tuple[Any, list[str]], characters: int = 1) -> list[Any]:
    """Answers to requests of which the first is being computed when the others come."""
    tasks = [asyncio.create_task(batches.response(key, items, characters)) for key, items in asked]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    stub.go.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def tokens(answer: Any) -> list[str]:
    return [form for each in answer.results for form in each.tokens]


def test_what_waits_for_the_same_is_computed_together() -> None:
    parse, probable = ("parse", "m", False, NO_LEVEL), ("tag", "m", True, NO_LEVEL)

    async def work(batches: Batches, stub: Stub) -> Any:
        first = asyncio.create_task(batches.response(KEY, ["a"], 1))
        while batches._waiting or batches._computing is None:
            await asyncio.sleep(0)
        asked = (KEY, ["b", "c"]), (parse, ["d"]), (KEY, []), (probable, ["e"]), (KEY, ["f"])
        answers = await _several(batches, stub, *asked)
        return [await first, *answers], stub

    answers, stub = run(work)
    assert list(map(tokens, answers)) == [["a"], ["b", "c"], ["d"], [], ["e"], ["f"]]
    assert stub.calls == [["a"], ["b", "c", "f"], ["d"], ["e"]]
    assert stub.probabilities == [False, False, False, True]


def test_an_error_is_that_of_its_request(caplog: pytest.LogCaptureFixture) -> None:
    async def work(batches: Batches, stub: Stub) -> Any:
        return await _several(batches, stub, (KEY, ["a"]), (KEY, ["wrong"]), (KEY, ["bug"]), (KEY, ["b"]))

    first, wrong, bug, last = run(work)
    assert (tokens(first), tokens(last)) == (["a"], ["b"])
    assert isinstance(wrong, RequestError) and str(wrong) == "found something wrong, expected something right"
    assert isinstance(bug, IndexError)


def test_nobody_waits_without_end() -> None:
    async def work(batches: Batches, _stub: Stub) -> Any:
        with pytest.raises(RequestError, match="found no time for this request in 0") as error:
            await batches.response(KEY, ["a"], 1)
        return error.value.status, batches._waiting

    assert run(work, Limits(seconds=0)) == (503, [])


def test_the_end_does_not_wait_for_what_is_computed() -> None:
    async def work(batches: Batches, stub: Stub) -> Any:
        asked = asyncio.create_task(batches.response(KEY, ["a"], 1))
        while batches._waiting or batches._computing is None:
            await asyncio.sleep(0)
        before = time.monotonic()
        batches.close()
        return asked.done(), time.monotonic() - before < 5  # the stub takes ten

    assert run(work) == (False, True)


def test_small_requests_are_not_computed_with_more_than_one_may_ask_for() -> None:
    async def work(batches: Batches, stub: Stub) -> Any:
        sizes = (("a", 1), ("b", 2), ("c", 9), ("d", 8))
        tasks = []
        for name, size in sizes:
            tasks.append(asyncio.create_task(batches.response(KEY, [name], size)))
            await asyncio.sleep(0)
        stub.go.set()
        await asyncio.gather(*tasks)
        return stub.calls

    assert run(work, Limits(characters=10)) == [["a"], ["b", "d"], ["c"]]


@pytest.mark.parametrize(("characters", "refused"), [(1, set()), (30, {503})])
def test_no_more_waits_than_fits(characters: int, refused: set[int]) -> None:
    async def work(batches: Batches, stub: Stub) -> Any:
        return await _several(batches, stub, *[(KEY, ["a"])] * 12, characters=characters)

    found = run(work, Limits(characters=10))
    assert {each.status for each in found if isinstance(each, Exception)} == refused  # type: ignore[attr-defined]


def test_a_version_that_cannot_be_read_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def work(batches: Batches, stub: Stub) -> Any:
        def fail() -> None:
            raise OSError("gone")

        stub.refresh = fail  # type: ignore[method-assign]
        return tokens(await batches.response(KEY, ["a"], 1))

    assert run(work) == ["a"]
    assert "cannot be read" in caplog.text
