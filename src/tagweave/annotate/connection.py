"""One connection of the server: what a request says beside its body is bounded, in bytes and in seconds.

httptools, which parses for uvicorn, keeps headers of any length and number, and uvicorn waits for them without end.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LOG = logging.getLogger("tagweave.annotate")

LONGEST, MOST = 16_384, 100
"""Bytes of the request line with all headers, and headers; browsers send 2,000 bytes in 20."""
PATIENCE = 20.0
"""Seconds within which all headers must be there."""

_REFUSAL = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TooLongError(Exception):
    """The request line and headers have more than `LONGEST` bytes, or are more than `MOST`."""


class Connection(HttpToolsProtocol):
    """What uvicorn makes of every connection.

    What follows a body in pieces (trailers), and what is beside the pieces, counts as the headers do.
    """

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self._beside = self._said = self._number = 0  # bytes that are no body, those of headers, headers
        self._waits = True  # for the end of headers
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse it, and refuse what is too long; one reading of the socket is looked at at most."""
        self._beside += len(data)
        super().data_received(data)
        if self._beside > LONGEST and not self.transport.is_closing():
            self._refuse()
        elif self._waits and self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()

    def on_url(self, url: bytes) -> None:
        """A part of the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer."""
        self._number += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The request can be answered."""
        self._waits = False
        self._wait_no_longer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body: pages know how long that may be."""
        self._beside -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Another request may follow."""
        self._beside = self._said = self._number = 0
        self._waits = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer is out; of another request, a part may be there already."""
        super().on_response_complete()
        if self._waits and self._said:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Uvicorn calls it wherever parsing failed, so also where counting did."""
        if self._said > LONGEST or self._number > MOST:
            self._refuse()
        else:
            super().send_400_response(msg)

    def _count(self, size: int) -> None:
        self._said += size
        if self._said > LONGEST or self._number > MOST:
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
