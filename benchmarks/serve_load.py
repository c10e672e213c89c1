"""Load on a server: requests over connections that stay open, each as soon as the one before is answered.

The client shares the processors with the server, so it does as little as it can: bytes that are made beforehand, and of
an answer only its status and its length.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


class Found(NamedTuple):
    """Requests a second, and milliseconds of their round trips."""

    a_second: float
    median: float
    p95: float


def requests(path: str, texts: Sequence[str], size: int) -> list[bytes]:
    """Requests of `size` texts each, until all texts are used."""
    found = []
    for at in range(0, max(1, len(texts) - size + 1), size):
        body = json.dumps({"text": texts[at]} if size == 1 else {"texts": texts[at : at + size]}).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        )
        found.append(head.encode() + b"\r\n\r\n" + body)
    return found


def load(port: int, sent: Sequence[bytes], connections: int, seconds: float, warm_up: float) -> Found:
    """Send requests for some time; those of the warm-up are not counted."""
    return asyncio.run(_load(port, sent, connections, seconds, warm_up))


async def _load(port: int, sent: Sequence[bytes], connections: int, seconds: float, warm_up: float) -> Found:
    begin = time.perf_counter() + warm_up
    shares = [cycle([*sent[at:], *sent[:at]]) for at in range(0, len(sent), max(1, len(sent) // connections))]
    trips = await asyncio.gather(*(_connection(port, own, begin + seconds) for own in shares[:connections]))
    counted = [stop - start for own in trips for start, stop in own if start >= begin and stop <= begin + seconds]
    median, p95 = (1000 * np.quantile(counted, [0.5, 0.95])).tolist() if counted else (np.nan, np.nan)
    return Found(len(counted) / seconds if seconds else 0.0, median, p95)


async def _connection(port: int, sent: cycle[bytes], end: float) -> list[tuple[float, float]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    trips = []
    try:
        while (start := time.perf_counter()) < end:
            writer.write(next(sent))
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            if not head.startswith(b"HTTP/1.1 200 ") or length is None:
                raise ValueError(f"found {head!r}, expected an answer")
            await reader.readexactly(int(length[1]))
            trips.append((start, time.perf_counter()))
    finally:
        writer.close()
        await writer.wait_closed()
    return trips
