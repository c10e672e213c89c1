"""Tables with a column of text, in Parquet or as JSON Lines: every row gets a further column.

A cell may hold several lines, which are sentences; its annotation has the annotation of each line, in the same order.
All other columns stay as they are. Tables pass through in blocks of rows, whose text a function of files annotates.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tagweave.corpus.files import read_lines, written
from tagweave.errors import ShardError

COLUMN = "annotated"
"""The column that tables get."""
BLOCK_ROWS = 8192
"""Rows that are annotated at a time, at most."""
BLOCK_SIZE = 1 << 24
"""Characters or bytes of the rows that are annotated at a time, unless one row has more."""


class Cell(NamedTuple):
    """The text of a row; rows count from 1, and rows of JSON Lines are lines of the file."""

    row: int
    text: str | None


Annotate = Callable[[Sequence[Cell]], list[str | None]]
"""From a block of cells to their annotation."""


def check_columns(names: Sequence[str], place: str, column: str) -> None:
    """Raise unless there is a column of text, and none that has the name of the annotation."""
    if column not in names:
        columns = f"the columns {', '.join(names)}" if names else "no columns"
        raise ShardError(f"{place}: found {columns}, expected {column!r} (`text_column`)")
    if COLUMN in names:
        raise ShardError(f"{place}: found a column {COLUMN!r}, expected none: the annotation gets this name")


Notes = Sequence[str]
FileFunction = Callable[[str, str], Notes]
"""Reads a file of lines, and writes one with as many lines, or as many blocks of lines that end with an empty one."""

_RANKED = '{"sentence": 1, "rank": 1, '  # how the k best sequences begin (`streams/conversion.py`)
_EXPECTED = (
    "expected one annotation for every sentence: a harvest leaves sentences out, and `best` gives several sequences; "
    "both take files of text, a sentence a line, but no tables"
)


def annotated(function: FileFunction, cells: Sequence[Cell], source: str) -> tuple[list[str | None], Notes]:
    """Return the annotation of every cell, and the notes of the function.

    A cell is cut into sentences as a text file is: at `\\n` and `\\r\\n`, without a byte order mark at its beginning.
    Empty lines are left out.

    Raises:
        ShardError: the text does not fit a file, the function refuses it, or annotates another number of sentences.
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
    """Return the output for some lines, and the notes; both notes and errors name the rows of the lines."""
    with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
        text, output = Path(folder) / "text.txt", Path(folder) / "annotated"
        # a byte order mark of the text needs another one before it, or the reader would drop it
        mark = "\ufeff" if lines[0].startswith("\ufeff") else ""
        text.write_text(mark + "".join(f"{line}\n" for line in lines), "utf-8")
        try:
            notes = function(str(text), str(output))
        except ValueError as error:
            raise ShardError(_with_rows(str(error), str(text), rows, source)) from error
        return output.read_text("utf-8"), [_with_rows(note, str(text), rows, source) for note in notes]


def _with_rows(message: str, text: str, rows: Sequence[int], source: str) -> str:
    """Return a message with rows of the table in place of lines of the text."""

    def place(match: re.Match[str]) -> str:
        line = int(match[1] or 0)
        return f"{source}:{rows[line - 1]}" if 0 < line <= len(rows) else f"the text of {source}"

    return re.sub(re.escape(text) + r"(?::(\d+))?", place, message)


def _blocks(output: str) -> tuple[list[str], str]:
    """Return the annotation of every sentence, and what separates it from the next one.

    An annotation is a line of its own, or if there are empty lines, all lines up to one.
    """
    lines, separator = output.removesuffix("\n"), "\n\n"
    if lines.endswith("\n") or separator in lines:
        return lines.rstrip("\n").split(separator), separator
    return lines.split("\n"), "\n"


def through_json_lines(annotate: Annotate, source: str, target: str, column: str) -> None:
    """Write the objects of a file as they are, each with the annotation of its text at the end, without empty lines."""
    with written(target) as stream:

        def write(lines: Sequence[str], cells: Sequence[Cell]) -> None:
            for line, annotation in zip(lines, annotate(cells), strict=True):
                # one more member: numbers, escapes and repeated names of the others would not survive a parser
                end, value = line.rindex("}"), json.dumps(annotation, ensure_ascii=False)
                stream.write(f'{line[:end]}, "{COLUMN}": {value}{line[end:]}\n')

        lines: list[str] = []
        cells: list[Cell] = []
        size = 0
        for number, line in enumerate(read_lines(source), 1):
            if not line.strip():
                continue
            lines.append(line)
            cells.append(Cell(number, _text(line, f"{source}:{number}", column)))
            size += len(line)
            if len(lines) == BLOCK_ROWS or size >= BLOCK_SIZE:
                write(lines, cells)
                lines, cells, size = [], [], 0
        if lines:
            write(lines, cells)


def _text(line: str, place: str, column: str) -> str | None:
    try:
        row = json.loads(line, parse_int=float)  # an int of thousands of digits would be refused
    except (ValueError, RecursionError) as error:
        raise ShardError(f"{place}: found broken JSON ({error}), expected an object") from error
    if not isinstance(row, dict):
        raise ShardError(f"{place}: found {type(row).__name__}, expected an object with {column!r}")
    check_columns(list(row), place, column)
    text = row[column]
    if not isinstance(text, str | None):
        raise ShardError(f"{place}: found {type(text).__name__} in {column!r}, expected text")
    return text


_PARQUET = ".parquet"
_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


def is_table(path: str) -> bool:
    """Return whether a file is a table, by its name."""
    return path.lower().endswith((_PARQUET, *_JSON_LINES))


def through_rows(function: FileFunction, source: str, target: str, column: str) -> Notes:
    """Pass the text of a table through a function of files, and write the table with the results in `COLUMN`."""
    notes: dict[str, None] = {}

    def annotate(cells: Sequence[Cell]) -> list[str | None]:
        annotations, own = annotated(function, cells, source)
        notes.update(dict.fromkeys(own))
        return annotations

    through = through_json_lines
    if source.lower().endswith(_PARQUET):
        try:
            from tagweave.shards.parquet import through_parquet as through
        except ImportError as error:
            expected = "it for Parquet: pip install '.[ray]' in a checkout of tagweave"
            raise ShardError(f"{source}: found no pyarrow, expected {expected}") from error
    through(annotate, source, target, column)
    return list(notes)
