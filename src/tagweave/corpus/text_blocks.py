"""Reading text files in blocks of whole lines, by the rules of `text_file.read_lines` but with no object per line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from tagweave.corpus.text_file import LONGEST, decode_line, opened, too_long, whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CHARACTERS = 1 << 20


def read_blocks(path: str) -> Iterator[str]:
    """The text of a file (`-`: standard input) in blocks of whole lines, each of which ends in `\\n`.

    The lines are those of `read_lines`. A block is about a megabyte, what a pipe has ready, or one longer line.

    Raises:
        CorpusError, OSError: as `read_lines`, when the block is reached.
    """
    number = 1
    with opened(path, lambda: number) as file:
        for block in whole_lines(file):
            if len(block) > LONGEST and block.find(b"\n", 0, LONGEST) < 0:
                raise too_long(path, number)
            text = _text(block, path, number)
            number += text.count("\n")
            yield text


def _text(block: bytes, path: str, number: int) -> str:
    """The text of a block whose first line has this number; decoded line by line only if something needs repair."""
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        text = "\r"  # the line that is wrong is found below
    if "\r" in text or "\0" in text or (number == 1 and text.startswith("\ufeff")):
        lines = enumerate(io.BytesIO(block), number)
        text = "".join(decode_line(line, path, at) + "\n" for at, line in lines)
    return text if text.endswith("\n") else text + "\n"


def line_blocks(lines: Iterable[str], characters: int | None = None) -> Iterator[list[str]]:
    """The lines in blocks of about `characters` characters, a million by default, so that memory stays constant."""
    block: list[str] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line) + 1
        if size >= (characters or _CHARACTERS):
            yield block
            block, size = [], 0
    if block:
        yield block
