"""Tables with a column of text, in Parquet or as JSON Lines: every row gets a further column.

A cell may hold several lines, which are sentences; its annotation is that of its lines, in the same order. All other
columns stay as they are. Tables pass through in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from tagweave.shards.cells import FileFunction, Notes, annotated
from tagweave.shards.errors import ShardError
from tagweave.shards.json_lines import through_json_lines
from tagweave.shards.table import Annotate, Cell

__all__ = ["Notes", "is_table", "through_rows"]

_PARQUET = ".parquet"
_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


def is_table(path: str) -> bool:
    """Whether a file is a table, by its name."""
    return path.lower().endswith((_PARQUET, *_JSON_LINES))


def through_rows(function: FileFunction, source: str, target: str, column: str) -> Notes:
    """Pass the text of a table through a function of files, and write the table with the results in `COLUMN`.

    Args:
        function: reads a file of lines, and writes one with as many lines, or blocks of lines that end with empty ones.
        source, target: the tables.
        column: the name of the column that holds text.

    Raises:
        ShardError: no such column, one that does not hold text, or one already of the name `COLUMN`; a damaged table;
            text that the function refuses, or of which it annotates other sentences.
    """
    notes: dict[str, None] = {}

    def annotate(cells: Sequence[Cell]) -> list[str | None]:
        annotations, own = annotated(function, cells, source)
        notes.update(dict.fromkeys(own))
        return annotations

    through = _through_parquet if source.lower().endswith(_PARQUET) else through_json_lines
    through(annotate, source, target, column)
    return list(notes)


def _through_parquet(annotate: Annotate, source: str, target: str, column: str) -> None:
    try:
        from tagweave.shards.parquet import through_parquet
    except ImportError as error:
        raise ShardError(
            f"{source}: found no pyarrow, expected it for Parquet: pip install '.[ray]' in a checkout of tagweave"
        ) from error
    through_parquet(annotate, source, target, column)
