"""Streams in blocks, so that a stream of any length needs the memory of one block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def in_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in their order, `size` at a time; fewer in the last block, which is never empty.

    Raises:
        ValueError: a size below 1.
    """
    if size < 1:
        raise ValueError(f"found blocks of {size}, expected at least 1")
    iterator = iter(items)
    while block := list(islice(iterator, size)):
        yield block
