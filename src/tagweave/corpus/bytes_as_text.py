"""Bytes where text is expected: they are text in UTF-8."""

from __future__ import annotations

from typing import Any


def decoded(value: Any) -> Any:
    """Bytes as text; any other value as it is.

    Raises:
        ValueError: bytes that are not UTF-8.
    """
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(f"found the bytes {value!r:.60}, expected UTF-8") from None
