"""Somebody at the page of tasks, who does what its script does: each answer comes back with the next task."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from random import Random
from typing import Any

import aiohttp

from benchmarks.annotation_load_store import PASSWORD

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
_PAUSE = 0.05  # seconds until a server that cannot be reached is tried again
_MISTAKES = 0.1


class Annotator:
    """One annotator with one connection, as a browser has it.

    Args:
        name: to sign in with.
        base: of the server's addresses.
        think: mean seconds between a task and its answer, by an exponential distribution; 0: none at all.
        seed: of pauses and answers.

    Attributes:
        acknowledged: number of the task, name, and answer.
        trips: when an answer was sent, by a monotonic clock, and the seconds until its reply was read.
        errors: what else was replied, or happened.
    """

    def __init__(self, name: str, base: str, think: float, seed: int) -> None:
        self.name, self._think, self._random = name, think, Random(seed)
        self._headers = {"Accept": "application/json"}
        self._session = aiohttp.ClientSession(base, cookie_jar=aiohttp.DummyCookieJar())
        self.acknowledged: list[tuple[int, str, str]] = []
        self.trips: list[tuple[float, float]] = []
        self.errors: list[str] = []
        self._reply: dict[str, Any] = {}

    async def close(self) -> None:
        await self._session.close()

    async def sign_in(self) -> None:
        """Sign in, and look at the first task."""
        async with self._session.get("/sign-in") as reply:
            token, cookie = _hidden(await reply.text())["csrf"], _cookie(reply)
        fields = {"csrf": token, "name": self.name, "password": PASSWORD}
        async with self._session.post("/sign-in", data=fields, headers=cookie, allow_redirects=False) as reply:
            if reply.status != 303:
                raise SystemExit(f"{self.name} may not sign in: {reply.status}")
            self._headers |= _cookie(reply)
        async with self._session.get("/task", headers=self._headers) as reply:
            self._reply = await reply.json()

    async def work(self, is_over: Callable[[], bool], retries: bool = False) -> None:
        """Answer one task after the other until it is over, or nothing is left.

        With `retries` an answer that got no reply is sent again; it counts once it is acknowledged.
        """
        if self._think:  # all have just signed in: nobody begins together
            await asyncio.sleep(self._random.uniform(0, self._think))
        while not is_over() and self._reply["task"]:
            if self._think:
                await asyncio.sleep(self._random.expovariate(1 / self._think))
            await self._answer(retries)

    async def _answer(self, retries: bool) -> None:
        task = self._reply["task"]
        first, *others = task["candidates"]
        said = f"label {self._random.choice(others) if self._random.random() < _MISTAKES else first}"
        fields = {**_hidden(self._reply["main"]), "answer": said}
        sent = time.monotonic()
        while (reply := await self._post(fields)) is None and retries:
            await asyncio.sleep(_PAUSE)
        self.trips.append((sent, time.monotonic() - sent))
        if reply is None:
            self.errors.append("no reply")
        elif reply.get("receipt"):
            self.acknowledged.append((task["id"], self.name, said))
        else:
            self.errors.append(str(reply.get("message")))
        self._reply = reply or self._reply

    async def _post(self, fields: dict[str, str]) -> dict[str, Any] | None:
        try:
            async with self._session.post("/task", data=fields, headers=self._headers) as reply:
                found: dict[str, Any] = await reply.json()
                return found
        except (aiohttp.ClientError, ConnectionError):
            return None


def _hidden(page: str) -> dict[str, str]:
    """The hidden fields of forms; those of the first one and the others are the same."""
    return dict(_HIDDEN.findall(page))


def _cookie(reply: aiohttp.ClientResponse) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={morsel.value}" for name, morsel in reply.cookies.items())}
