"""Limits on the body of a request: one that is too long or too slow is refused before it is read to the end."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

PATIENCE = 30.0
"""Seconds."""


async def read_body(request: Request, longest: int, what: str = "request") -> bytes:
    """The body of a request.

    Args:
        request: the request.
        longest: bytes.
        what: the body is called in refusals.

    Raises:
        HTTPException: 413, it is too long, or declared to be; 408, it does not arrive in time; 400, it was cut off.
    """
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared[:20]) > longest:
        raise _too_long(longest, what)
    try:
        async with asyncio.timeout(PATIENCE):
            return await _read(request, longest, what)
    except TimeoutError:
        raise _refused(408, f"This {what} took too long.") from None
    except ClientDisconnect:
        raise _refused(400, f"This {what} was cut off.") from None


async def _read(request: Request, longest: int, what: str) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > longest:
            raise _too_long(longest, what)
    return bytes(body)


def _too_long(longest: int, what: str) -> HTTPException:
    return _refused(413, f"A {what} has at most {longest:,} bytes.")


def _refused(status: int, reason: str) -> HTTPException:
    return HTTPException(status, reason, {"Connection": "close"})
