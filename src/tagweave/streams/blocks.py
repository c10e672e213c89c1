"""Groups sentences into blocks: as many as memory should hold, or as a pipe has ready."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TypeVar

from tagweave.corpus.text_file import is_awaited, written

Item = TypeVar("Item")

_BLOCK = 2000  # items at a time


def ready_blocks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The items in blocks of a fixed size, or smaller ones when a pipe has no more ready."""
    block: list[Item] = []
    for item in items:
        block.append(item)
        if len(block) == _BLOCK or is_awaited():
            yield block
            block = []
    if block:
        yield block


def flushing(items: Iterable[Item], stream: IO[str]) -> Iterator[Item]:
    """Pass the items to a writer, and flush its stream whenever the input has nothing more for now.

    The reader of the output may be the one who writes the next line of the input.
    """
    for item in items:
        yield item
        if is_awaited():
            stream.flush()


def write_lines(output: str, lines: Iterable[str]) -> None:
    """Write lines, as a whole file or not at all; `-` is standard output."""
    with written(output) as stream:
        stream.writelines(flushing((line + "\n" for line in lines), stream))
