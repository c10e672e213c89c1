"""Forms are small and come at once: a longer body is refused before it is read to the end, and so is a slow one."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

LONGEST = 65_536
"""Bytes."""
PATIENCE = 30.0
"""Seconds."""


async def read_body(request: Request) -> bytes:
    """The body of a request.

    Raises:
        HTTPException: 413, it is longer, or says that it is; 408, it is not there in time; 400, it was cut off.
    """
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said[:20]) > LONGEST:
        raise _refused(413, f"A form has at most {LONGEST:,} bytes.")
    try:
        async with asyncio.timeout(PATIENCE):
            return await _read(request)
    except TimeoutError:
        raise _refused(408, "This form took too long.") from None
    except ClientDisconnect:
        raise _refused(400, "This form was cut off.") from None


async def _read(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST:
            raise _refused(413, f"A form has at most {LONGEST:,} bytes.")
    return bytes(body)


def _refused(status: int, reason: str) -> HTTPException:
    return HTTPException(status, reason, {"Connection": "close"})
