"""How often somebody may try: a sliding window by what is tried and by address, in the memory of one process."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

BY_NAME, BY_ADDRESS = 10, 100
"""What fails for one name or one link, and from one address, in `WINDOW`. Many annotators may share an address."""
WINDOW = 300.0
"""Seconds."""


def network(address: str) -> str:
    """What somebody shares with all addresses that they can choose from: in IPv6 a network of 64 bits."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found), 64), strict=False))


class Attempts:
    """Counts attempts by key; an attempt counts before it is known whether it succeeds, so many at once gain nothing.

    Args:
        window: seconds for which an attempt counts.
        clock: seconds.
        most_keys: with more of them, those are forgotten that are past.
    """

    def __init__(
        self, window: float = WINDOW, clock: Callable[[], float] = time.monotonic, most_keys: int = 10_000
    ) -> None:
        self._window, self._clock, self._most_keys = window, clock, most_keys
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take(self, limits: Mapping[str, int]) -> bool:
        """Whether an attempt is allowed, which then counts; `limits` says how many each of its keys may have."""
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
        """The last attempt was none: the password was right."""
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
