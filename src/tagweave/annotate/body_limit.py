"""Limits on the body of a request: a form that is too long or too slow is refused before it is read to the end."""

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
        HTTPException: 413, it is too long, or declared to be; 408, it does not arrive in time; 400, it was cut off.
    """
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared[:20]) > LONGEST:
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
