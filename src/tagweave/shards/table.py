"""What tables of all kinds share: the columns of text and of annotation, and how a block of cells is annotated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tagweave.shards.errors import ShardError

COLUMN = "annotated"
"""The column that tables get."""
BLOCK_ROWS = 8192
"""Rows that are annotated at a time, at most."""
BLOCK_SIZE = 1 << 24
"""Characters or bytes of the rows that are annotated at a time, unless one row has more."""


class Cell(NamedTuple):
    """The text of a row; rows count from 1, and those of JSON Lines are the lines of the file."""

    row: int
    text: str | None


Annotate = Callable[[Sequence[Cell]], list[str | None]]
"""From a block of cells to their annotation."""


def check_columns(names: Sequence[str], place: str, column: str) -> None:
    """Raise unless there is a column of text, and none that has the name of the annotation.

    Args:
        names: of all columns.
        place: the table, or the table and the row, for the error.
        column: the name of the column of text.

    Raises:
        ShardError: there is no such column, or there is a column `COLUMN`.
    """
    if column not in names:
        columns = f"the columns {', '.join(names)}" if names else "no columns"
        raise ShardError(f"{place}: found {columns}, expected {column!r} (`text_column`)")
    if COLUMN in names:
        raise ShardError(f"{place}: found a column {COLUMN!r}, expected none: the annotation gets this name")
