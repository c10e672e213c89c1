"""What is said on standard error while kernels are compiled, which takes seconds, and happens once on a machine."""

from __future__ import annotations

import sys
import time

COMPILING = "compiling, once on this machine"

_CLEARED = "\r\x1b[K"

_said: set[str] = set()
_begun: list[str] = []
_kernels: set[str] = set()


def say(line: str) -> None:
    """A line on standard error, once in a process."""
    if line not in _said:
        _said.add(line)
        _write(f"{_CLEARED if _is_terminal() else ''}tagweave: {line}\n")


def begin(name: str) -> None:
    """A kernel is being compiled: a line, or on a terminal one that shows how far that has come, and goes."""
    _begun.append(name)
    _kernels.add(name)
    if _is_terminal():
        _write(f"{_CLEARED}tagweave: {COMPILING}: {name} ({len(_kernels)}, {time.process_time():.0f} s)")
    else:
        say(COMPILING)


def end() -> None:
    """The last kernel that was begun has been compiled."""
    if _begun:
        _begun.pop()
    if _is_terminal() and not _begun:
        _write(_CLEARED)


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
