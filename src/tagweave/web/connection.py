"""A connection to the server, with limits on the size of request headers and the time they may take.

httptools, uvicorn's parser, accepts headers of any length and number, and uvicorn waits for them indefinitely.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LOG = logging.getLogger("tagweave.web")

LONGEST, MOST = 16_384, 100
"""Bytes of the request line and all headers, and number of headers; browsers send some 2,000 bytes in 20 headers."""
PATIENCE = 20.0
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
        self._deadline = self.loop.call_later(PATIENCE, self.transport.close)

    def _wait_no_longer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
