"""Cells of text through a function of files: their lines are sentences, and get the annotation of these."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from tagweave.shards.errors import ShardError
from tagweave.shards.table import Cell

Notes = Sequence[str]
FileFunction = Callable[[str, str], Notes]
"""Reads a file of lines, and writes one with as many lines, or as many blocks of lines that end with an empty one."""

_RANKED = '{"sentence": 1, "rank": 1, '  # how the k best sequences begin (`streams/rows.py`)
_EXPECTED = (
    "expected one annotation for every sentence: a harvest leaves sentences out, and `best` gives several sequences; "
    "both take files of text, a sentence a line, but no tables"
)


def annotated(function: FileFunction, cells: Sequence[Cell], source: str) -> tuple[list[str | None], Notes]:
    """The annotation of every cell, and the notes of the function.

    A cell is cut into sentences as a text file is: at `\\n` and `\\r\\n`, without a byte order mark at its beginning.
    Empty lines are left out.

    Raises:
        ShardError: text that cannot be stored in a file, that the function refuses, or of which it annotates other
            sentences.
    """
    lines = [_sentences(cell, source) for cell in cells]
    rows = [cell.row for cell, own in zip(cells, lines, strict=True) for _ in own]
    if not rows:
        return [cell.text and "" for cell in cells], []
    output, notes = _through_files(function, [line for own in lines for line in own], rows, source)
    blocks, separator = _blocks(output)
    if output.startswith(_RANKED):
        raise ShardError(f"{source}: found ranked sequences (`best`), {_EXPECTED}")
    if len(blocks) != len(rows):
        where = f"than rows {rows[0]} to {rows[-1]} have ({len(rows)})"
        raise ShardError(f"{source}: found another number of annotated sentences ({len(blocks)}) {where}, {_EXPECTED}")
    rest = iter(blocks)
    return [
        None if cell.text is None else separator.join(islice(rest, len(own)))
        for cell, own in zip(cells, lines, strict=True)
    ], notes


def _sentences(cell: Cell, source: str) -> list[str]:
    text = cell.text or ""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = f"half of a surrogate pair at character {error.start + 1}"
        raise ShardError(f"{source}:{cell.row}: found {found} of the text, expected Unicode") from error
    return [line for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n") if line.strip()]


def _through_files(function: FileFunction, lines: Sequence[str], rows: Sequence[int], source: str) -> tuple[str, Notes]:
    """The output for some lines, and the notes; both notes and errors name the rows of the lines."""
    with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
        text, output = Path(folder) / "text.txt", Path(folder) / "annotated"
        mark = (
            "\ufeff" if lines[0].startswith("\ufeff") else ""
        )  # or the reader would take that of the text for its own
        text.write_text(mark + "".join(f"{line}\n" for line in lines), "utf-8")
        try:
            notes = function(str(text), str(output))
        except ValueError as error:
            raise ShardError(_with_rows(str(error), str(text), rows, source)) from error
        return output.read_text("utf-8"), [_with_rows(note, str(text), rows, source) for note in notes]


def _with_rows(message: str, text: str, rows: Sequence[int], source: str) -> str:
    """A message with rows of the table in place of lines of the text."""

    def place(match: re.Match[str]) -> str:
        line = int(match[1] or 0)
        return f"{source}:{rows[line - 1]}" if 0 < line <= len(rows) else f"the text of {source}"

    return re.sub(re.escape(text) + r"(?::(\d+))?", place, message)


def _blocks(output: str) -> tuple[list[str], str]:
    """The annotation of every sentence, and what separates it from the next one.

    An annotation is a line of its own, or if there are empty lines, all lines up to one.
    """
    lines, separator = output.removesuffix("\n"), "\n\n"
    if lines.endswith("\n") or separator in lines:
        return lines.rstrip("\n").split(separator), separator
    return lines.split("\n"), "\n"
