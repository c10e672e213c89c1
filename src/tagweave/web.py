"""HTTP with limits on bodies, headers and the time they take; applications with security headers; uvicorn's server."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

PATIENCE = 30.0
"""Seconds."""


async def read_body(request: Request, longest: int, what: str = "request") -> bytes:
    """Read the body of a request, of at most `longest` bytes; `what` names it in refusals.

    Raises:
        HTTPException: 413, it is too long, or declared to be; 408, it does not arrive in time; 400, it was cut off.
    """
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared[:20]) > longest:
        raise _too_long(longest, what)
    try:
        async with asyncio.timeout(PATIENCE):
            body = bytearray()
            async for chunk in request.stream():
                body += chunk
                if len(body) > longest:
                    raise _too_long(longest, what)
            return bytes(body)
    except TimeoutError:
        raise _refused(408, f"This {what} took too long.") from None
    except ClientDisconnect:
        raise _refused(400, f"This {what} was cut off.") from None


def _too_long(longest: int, what: str) -> HTTPException:
    return _refused(413, f"A {what} has at most {longest:,} bytes.")


def _refused(status: int, reason: str) -> HTTPException:
    return HTTPException(status, reason, {"Connection": "close"})


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class SecurityHeaders:
    """Middleware that adds the headers, and keeps browsers from storing anything but static files."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY)
                headers["Cache-Control"] = "no-cache" if scope["path"].startswith("/static/") else "no-store"
            await send(message)

        await self._app(scope, receive, send_with_headers)


LOG = logging.getLogger("tagweave.web")

LONGEST, MOST = 16_384, 100
"""Bytes of the request line and all headers, and number of headers; browsers send some 2,000 bytes in 20 headers."""
HEADER_PATIENCE = 20.0
"""Seconds within which all headers must arrive."""

_REFUSAL = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TooLongError(Exception):
    """The request line and headers exceed `LONGEST` bytes, or there are more than `MOST` headers."""


class Connection(HttpToolsProtocol):
    """The protocol that uvicorn runs on every connection.

    The trailers and the framing of a chunked body count like headers.
    """

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self._overhead = 0  # bytes outside of bodies
        self._header_bytes = self._headers_seen = 0
        self._waits = True  # for the end of the headers
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the headers."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the data, and refuse a request that is too long; at most one read of the socket goes beyond that."""
        self._overhead += len(data)
        super().data_received(data)
        if self._overhead > LONGEST and not self.transport.is_closing():
            self._refuse()
        elif self._waits and self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()

    def on_url(self, url: bytes) -> None:
        """Count a part of the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header or a trailer."""
        self._headers_seen += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Stop the timer: the request can be answered."""
        self._waits = False
        self._wait_no_longer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Do not count a part of the body, whose length `body_limit` checks."""
        self._overhead -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Reset the counts: another request may follow."""
        self._overhead = self._header_bytes = self._headers_seen = 0
        self._waits = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Restart the timer if a part of the next request has already arrived."""
        super().on_response_complete()
        if self._waits and self._header_bytes:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Uvicorn calls this whenever parsing fails, which includes `_count`."""
        if self._header_bytes > LONGEST or self._headers_seen > MOST:
            self._refuse()
        else:
            super().send_400_response(msg)

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > LONGEST or self._headers_seen > MOST:
            raise TooLongError

    def _refuse(self) -> None:
        LOG.warning("refused: headers of more than %d bytes, or more than %d of them", LONGEST, MOST)
        self.transport.write(_REFUSAL)
        self.transport.close()

    def _wait(self) -> None:
        self._wait_no_longer()
        self._deadline = self.loop.call_later(HEADER_PATIENCE, self.transport.close)

    def _wait_no_longer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def application(
    site: object,
    routes: Sequence[BaseRoute],
    folder: Path,
    refuse: Callable[[Request, Exception], Response],
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]],
    *more: Middleware,
) -> Starlette:
    """Return the application of a site, with the files of `folder`; `refuse` responds where no route does, or fails."""
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=folder))],
        middleware=[Middleware(SecurityHeaders), *more],
        exception_handlers={HTTPException: refuse, Exception: refuse},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    app.state.site = site
    return app


_KEEP_ALIVE = 75  # seconds, longer than people think about a task: a request sent just as a connection closes is lost
_ANSWER = 20  # seconds in which a process answers its parent, also while it starts; the parent waits for nothing else


def server(app: Starlette, proxies: Sequence[str] = (), patience: int | None = None) -> uvicorn.Server:
    """Return a server of an application, for sockets that are already open.

    `X-Forwarded-For` and `-Proto` of the addresses or networks of `proxies` are trusted. At the end, it waits for
    requests for so many seconds of `patience`; `None`: until all are answered.
    """
    return uvicorn.Server(_config(app, proxies, patience))


def processes(make: Callable[[], Starlette], workers: int, sockets: list[socket.socket], patience: int) -> Multiprocess:
    """Return several processes that serve an application, and are replaced if they die.

    `make` makes the application in each process; it is pickled.
    """
    config = _config(make, (), patience)
    config.factory, config.workers, config.timeout_worker_healthcheck = True, workers, _ANSWER
    return Multiprocess(config, sockets)


@contextmanager
def listening(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Listen on an address; yield the socket, and its address as a URL without a path. Port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as opened:
        name = f"[{host}]" if ":" in host else host
        yield opened, f"http://{name}:{opened.getsockname()[1]}"


def _config(app: Starlette | Callable[[], Starlette], proxies: Sequence[str], patience: int | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="warning",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=patience,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=[*proxies],
    )
