"""JSON Lines: an object in each line, which stays as it stands and gets the annotation of its text at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from tagweave.corpus.text_file import read_lines, written
from tagweave.shards.errors import ShardError
from tagweave.shards.table import BLOCK_ROWS, BLOCK_SIZE, COLUMN, Annotate, Cell, check_columns


class _Line(NamedTuple):
    json: str
    cell: Cell


def through_json_lines(annotate: Annotate, source: str, target: str, column: str) -> None:
    """Write a table with the annotation of its text; empty lines are left out.

    Raises:
        ShardError: a line that is no object with text in `column`, or has a column `COLUMN`; what `annotate` raises.
        CorpusError, OSError: as `read_lines` and `written`.
    """
    with written(target) as stream:
        for block in _blocks(source, column):
            for line, annotation in zip(block, annotate([line.cell for line in block]), strict=True):
                stream.write(_extended(line.json, annotation) + "\n")


def _extended(line: str, annotation: str | None) -> str:
    """The object with one more member; numbers, escapes and repeated names of the others would not survive a parser."""
    end = line.rindex("}")
    return f'{line[:end]}, "{COLUMN}": {json.dumps(annotation, ensure_ascii=False)}{line[end:]}'


def _blocks(source: str, column: str) -> Iterator[list[_Line]]:
    block: list[_Line] = []
    size = 0
    for line in _lines(source, column):
        block.append(line)
        size += len(line.json)
        if len(block) == BLOCK_ROWS or size >= BLOCK_SIZE:
            yield block
            block, size = [], 0
    if block:
        yield block


def _lines(source: str, column: str) -> Iterator[_Line]:
    for number, line in enumerate(read_lines(source), 1):
        if line.strip():
            yield _Line(line, Cell(number, _text(line, f"{source}:{number}", column)))


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
