"""Signals that end a process in order: SIGTERM as Ctrl-C, and neither can be lost.

Both raise KeyboardInterrupt in the main thread. That alone is not enough: Python drops an exception that is raised
while an object is being deleted, other threads do not get it, and a caller that trains several models may go on with
the next one. So a process that was asked to end also says so (`is_ending`), every training asks before each batch, and
a dropped interrupt is raised once more. A second SIGTERM ends the process at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_received: list[int] = []
_PAUSE = 0.05  # seconds until a dropped interrupt is raised again


def is_ending() -> bool:
    """Return whether a signal asked this process to end."""
    return bool(_received)


@contextmanager
def ending_in_order() -> Iterator[list[int]]:
    """Handle SIGTERM and Ctrl-C in the block; yields the signals that arrive."""
    handlers = {signal.SIGTERM: signal.signal(signal.SIGTERM, _interrupt)}
    if (usual := signal.getsignal(signal.SIGINT)) in (signal.default_int_handler, signal.SIG_IGN):
        ctrl_c = _interrupt_again if usual is signal.SIG_IGN else _interrupt
        handlers[signal.SIGINT] = signal.signal(signal.SIGINT, ctrl_c)
    before, sys.unraisablehook = sys.unraisablehook, _raise_again
    _received.clear()
    try:
        yield _received
    finally:
        sys.unraisablehook = before
        for number, handler in handlers.items():
            signal.signal(number, handler)
        _received.clear()


def _interrupt(number: int, _frame: object) -> None:
    _received.append(number)
    if number == signal.SIGTERM:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise KeyboardInterrupt


def _interrupt_again(_number: int, _frame: object) -> None:
    """Ignore Ctrl-C, as shells have it for commands in the background, but not what `_raise_again` sends."""
    if _received:
        raise KeyboardInterrupt


def _raise_again(dropped: Any) -> None:
    """Raise an interrupt once more that was raised where Python drops exceptions; report any other exception."""
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        timer = threading.Timer(_PAUSE, interrupt_main)
        timer.daemon = True
        timer.start()
    else:
        sys.__unraisablehook__(dropped)


def leave_with_parent() -> None:
    """End this process when the one that started it is gone, even if that was killed; Ctrl-C is for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent decides what it means
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
