"""Notices on standard error while kernels are compiled, which takes seconds; each is compiled once on a machine."""

from __future__ import annotations

import sys
import time

COMPILING = "compiling what this command needs; the next run finds it compiled"

_CLEARED = "\r\x1b[K"

_written: set[str] = set()
_compiling: list[str] = []
_kernels: set[str] = set()


def say(line: str) -> None:
    """Write a line to standard error, once per process."""
    if line not in _written:
        _written.add(line)
        _write(f"{_CLEARED if _is_terminal() else ''}tagweave: {line}\n")


def begin(name: str) -> None:
    """Announce that a kernel is being compiled: by a line, or on a terminal by a progress line that disappears."""
    _compiling.append(name)
    _kernels.add(name)
    if _is_terminal():
        _write(f"{_CLEARED}tagweave: {COMPILING}: {name} ({len(_kernels)}, {time.process_time():.0f} s)")
    else:
        say(COMPILING)


def end() -> None:
    """Note that the innermost kernel has been compiled."""
    if _compiling:
        _compiling.pop()
    if _is_terminal() and not _compiling:
        _write(_CLEARED)


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
