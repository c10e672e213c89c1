"""Requests to a chat model behind OpenAI's interface: bounded, sent again where that may help, refused in plain words.

The key comes from an environment variable, goes to one address, and stands in no message. Redirects are not followed.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

import msgspec

from tagweave.errors import shortened
from tagweave.sources.functions import FunctionError

Item = TypeVar("Item")
_TRIES = 8
_PAUSES = (1.0, 60.0)  # seconds before the second try, doubled before each further one, and at most
_LONGEST_PAUSE = 600.0  # that a server may ask for
_PATIENCE, _CONNECTING = 300.0, 10.0  # seconds for a whole response, and for a connection
_LEAVING = 1.0  # seconds in which threads may end
_LARGEST = 1 << 22  # bytes of a response
_MODELS = 5  # of a server, that are named
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_REFUSED, _UNANSWERABLE, _LATER = (401, 403), (400, 413, 422), (408, 409, 425, 429)


class NoAnswerError(FunctionError):
    """A request that the server does not answer, now or later; it may answer others."""


class Completion(NamedTuple):
    """What the model says, and how many tokens the server counts."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Response(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


class ChatClient:
    """A server that is asked in several threads, until the `with` block ends.

    Args:
        url: the address before `/chat/completions`.
        key_variable: the environment variable with the key; if it is not set, no key is sent.
        retrying: hears, in the thread that asks, why a request is sent again.

    Raises:
        FunctionError: no such address or key, or the extra `chat` is not installed.
    """

    def __init__(self, url: str, key_variable: str, retrying: Callable[[str], None] = lambda problem: None) -> None:
        try:
            import httpx2
        except ImportError:
            expected = "the extra chat: pip install '.[chat]' in a checkout of tagweave"
            raise FunctionError(f"found no httpx2, expected {expected}") from None
        try:
            address = httpx2.URL(url)
        except httpx2.InvalidURL:
            address = httpx2.URL("")
        if address.scheme not in ("http", "https") or not address.host or {*"@?#"} & {*url}:
            # which is not shown, since it may hold a key
            raise FunctionError('found another "url" than http:// or https://, a host and a path, expected these alone')
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", key_variable):
            raise FunctionError('found no name of an environment variable as "key_variable", expected one, never a key')
        self._key = os.environ.get(key_variable, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise FunctionError(f"found a line break or another sign in {key_variable}, expected a key")
        self._url, self._key_variable, self._retrying = url.rstrip("/"), key_variable, retrying
        self._failure = httpx2.RequestError
        self._ended, self._threads = Event(), list[Thread]()
        authorization = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._connected = partial(
            httpx2.Client,
            headers={"Content-Type": "application/json", **authorization},
            timeout=httpx2.Timeout(_PATIENCE, connect=_CONNECTING),
            limits=httpx2.Limits(max_connections=None),
            follow_redirects=False,
        )

    def __enter__(self) -> ChatClient:
        self._client = self._connected()
        return self

    def __exit__(self, *_: object) -> None:
        """End all pauses; the threads are daemons, since nobody who gives up waits for a server."""
        self._ended.set()
        deadline = time.monotonic() + _LEAVING
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._client.close()

    def only_model(self) -> str:
        """Return the model of a server that has one. Raises FunctionError if there are others, or as `completions`."""
        content = self._asked("models")
        try:
            names = [model.id for model in msgspec.json.decode(content, type=_Models).data]
        except _UNREADABLE:
            names = []
        if len(names) != 1:
            listed = ", ".join(names[:_MODELS]) + (" ..." if len(names) > _MODELS else "")
            raise FunctionError(f'{self._url}: found the models {listed or "(none)"}, expected one of them as "model"')
        return names[0]

    def completions(
        self, items: Mapping[str, Item], request: Callable[[Item], Mapping[str, Any]], parallel: int
    ) -> Iterator[tuple[str, Completion | Exception]]:
        """Yield the answers to the requests for items, with the items' names, as they come; so many at the same time.

        In place of an answer there may be an exception, NoAnswerError: this request is refused, or the response is too
        large, or is no chat completion; FunctionError: no request will be answered: no such address, model or key, or
        failures at all tries.
        """
        waiting, answered = SimpleQueue[str](), SimpleQueue[tuple[str, Completion | Exception]]()

        def work() -> None:
            with suppress(Empty):
                while not self._ended.is_set():
                    name = waiting.get_nowait()
                    try:
                        answered.put((name, self._completion(request(items[name]))))
                    except Exception as error:
                        answered.put((name, error))

        for name in items:
            waiting.put(name)
        self._threads = [Thread(target=work, daemon=True) for _ in range(parallel)]
        for thread in self._threads:
            thread.start()
        for _ in items:
            yield answered.get()

    def _completion(self, body: Mapping[str, Any]) -> Completion:
        content = self._asked("chat/completions", json.dumps(body))
        try:
            response = msgspec.json.decode(content, type=_Response)
            text = response.choices[0].message.content or ""
        except (*_UNREADABLE, IndexError):
            raise NoAnswerError(f"{self._url}: found {_shown(content)!r}, expected a chat completion") from None
        usage = response.usage or _Usage()
        return Completion(text, usage.prompt_tokens or 0, usage.completion_tokens or 0)

    def _asked(self, path: str, body: str | None = None) -> bytes:
        """Return what the server responds, at one of several tries."""
        address = f"{self._url}/{path}"
        for number in range(1, _TRIES + 1):
            pause = min(_PAUSES[0] * 2 ** (number - 1), _PAUSES[1]) * random.uniform(0.5, 1)
            try:
                status, headers, content = self._sent(address, body)
            except self._failure as error:
                problem = str(error) or type(error).__name__
            else:
                if status // 100 == 2:
                    return content
                problem = f"HTTP {status}" + (f" ({shown})" if (shown := _shown(content)) else "")
                self._check_again(address, status, problem)
                pause = max(pause, _seconds(headers.get("Retry-After", "")))
            if pause > _LONGEST_PAUSE:
                raise FunctionError(
                    f"{address}: found {problem}, to be asked in {pause:,.0f} seconds, expected an answer"
                )
            if number == _TRIES or self._ended.is_set():
                break
            self._retrying(f"{address}: found {problem}, trying again")
            if self._ended.wait(pause):
                break
        raise FunctionError(f"{address}: found {problem} after {number} tries, expected an answer")

    def _sent(self, address: str, body: str | None) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request once; return the status, headers and body of the response, without the key."""
        deadline, content = time.monotonic() + _PATIENCE, bytearray()
        with self._client.stream("GET" if body is None else "POST", address, content=body) as response:
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > _LARGEST:
                    raise NoAnswerError(f"{address}: found a response above {_LARGEST:,} bytes, expected a shorter one")
                if time.monotonic() > deadline:
                    raise self._failure(f"a response that takes more than {_PATIENCE:.0f} seconds")
        hidden = bytes(content).replace(self._key.encode(), b"***") if self._key else bytes(content)
        return response.status_code, response.headers, hidden

    def _check_again(self, address: str, status: int, problem: str) -> None:
        """Raise unless another try may help."""
        if status in _LATER or status >= 500:
            return
        expected = "an answer"
        if status in _REFUSED:
            unset = "" if self._key else ", which is not set"
            expected = f"a key that the server takes, in the environment variable {self._key_variable}{unset}"
        elif status == 404:
            expected = 'an address before /chat/completions as "url", and a "model" of the server'
        elif status // 100 == 3:
            expected = "the address itself, and no redirect"
        raise (NoAnswerError if status in _UNANSWERABLE else FunctionError)(
            f"{address}: found {problem}, expected {expected}"
        )


def _shown(content: bytes) -> str:
    return shortened(" ".join(content.decode("utf-8", "replace").split()))


def _seconds(header: str) -> float:
    """Return the seconds that `Retry-After` asks for, as a number or as a date; 0 without it."""
    if header.isdecimal():
        return float(header)
    try:
        return parsedate_to_datetime(header).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0
