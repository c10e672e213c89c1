"""Forms are small: a longer body is refused before it is read to the end."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

LONGEST = 65_536
"""Bytes."""


async def read_body(request: Request) -> bytes:
    """The body of a request.

    Raises:
        HTTPException: 413, it is longer, or says that it is.
    """
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said[:20]) > LONGEST:
        raise _too_long()
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST:
            raise _too_long()
    return bytes(body)


def _too_long() -> HTTPException:
    return HTTPException(413, f"A form has at most {LONGEST:,} bytes.", {"Connection": "close"})
