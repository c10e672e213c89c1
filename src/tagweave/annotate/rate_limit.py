"""Rate limits on attempts to sign in: a sliding window per name or link and per address, in memory of one process."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

BY_NAME, BY_ADDRESS = 10, 100
"""Failed attempts per name or link, and per address, within `WINDOW`. Many annotators may share an address."""
WINDOW = 300.0
"""Seconds."""


def network(address: str) -> str:
    """The part of an address that a client cannot choose: in IPv6 the network of 64 bits."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed), 64), strict=False))


class Attempts:
    """Counts attempts by key. An attempt counts before its success is known, so simultaneous ones gain nothing.

    Args:
        window: seconds for which an attempt counts.
        clock: the time, in seconds.
        most_keys: number of keys above which those past the window are forgotten.
    """

    def __init__(
        self, window: float = WINDOW, clock: Callable[[], float] = time.monotonic, most_keys: int = 10_000
    ) -> None:
        self._window, self._clock, self._most_keys = window, clock, most_keys
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take(self, limits: Mapping[str, int]) -> bool:
        """Count an attempt and return True, or return False if a key has reached its number in `limits`."""
        with self._lock:
            now = self._clock()
            if len(self._times) > self._most_keys:
                self._times = {key: times for key, times in self._times.items() if times[-1] > now - self._window}
            if any(self._count(key, now) >= limit for key, limit in limits.items()):
                return False
            for key in limits:
                self._times.setdefault(key, deque()).append(now)
            return True

    def give_back(self, limits: Mapping[str, int]) -> None:
        """Do not count the last attempt after all: the password was right."""
        with self._lock:
            for key in limits:
                if times := self._times.get(key):
                    times.pop()
                    if not times:
                        del self._times[key]

    def _count(self, key: str, now: float) -> int:
        times = self._times.get(key)
        while times and times[0] <= now - self._window:
            times.popleft()
        if times is not None and not times:
            del self._times[key]
        return len(times or ())
