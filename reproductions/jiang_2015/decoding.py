"""How long models take to decode raw sentences, measured side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

REPEATS = 7


def seconds(decoders: Mapping[str, Callable[[], None]], repeats: int = REPEATS) -> dict[str, list[float]]:
    """Of every decoder the seconds of every repeat.

    They take turns, so that whatever else the machine does slows all of them alike.
    """
    for decode in decoders.values():
        decode()  # kernels are compiled, or read from their cache
    found: dict[str, list[float]] = {name: [] for name in decoders}
    for _ in range(repeats):
        for name, decode in decoders.items():
            begin = time.perf_counter()
            decode()
            found[name].append(time.perf_counter() - begin)
    return found
