"""Tables with a column of text, in Parquet or as JSON Lines: every row gets a further column.

A cell may hold several lines, which are sentences; its annotation is that of its lines, in the same order. All other
columns stay as they are. Tables pass through in blocks of rows.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tagweave.corpus.text_file import read_lines, written
from tagweave.shards.errors import ShardError

Notes = Sequence[str]
Cells = Sequence[str | None]

COLUMN = "annotated"
"""The column that tables get."""
_PARQUET = ".parquet"
_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_ROWS = 8192  # rows in memory at a time


def is_table(path: str) -> bool:
    """Whether a file is a table, by its name."""
    return path.lower().endswith((_PARQUET, *_JSON_LINES))


def through_rows(function: Callable[[str, str], Notes], source: str, target: str, column: str) -> Notes:
    """Pass the text of a table through a function of files, and write the table with the results in `COLUMN`.

    Args:
        function: reads a file of lines, and writes one with as many lines, or blocks of lines between empty ones.
        source, target: the tables.
        column: the name of the column that holds text.

    Raises:
        ShardError: no such column, one that does not hold text, or one already of the name `COLUMN`.
    """
    notes: dict[str, None] = {}

    def annotate(cells: Cells) -> list[str | None]:
        annotated, own = _annotated(function, cells, source)
        notes.update(dict.fromkeys(own))
        return annotated

    if source.lower().endswith(_PARQUET):
        _through_parquet(annotate, source, target, column)
    else:
        _through_json_lines(annotate, source, target, column)
    return list(notes)


def _annotated(function: Callable[[str, str], Notes], cells: Cells, source: str) -> tuple[list[str | None], Notes]:
    """The annotation of every cell, and the notes of the function."""
    lines = [[line for line in (cell or "").splitlines() if line.strip()] for cell in cells]
    total = sum(map(len, lines))
    if not total:
        return [cell and "" for cell in cells], []
    with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
        text, output = Path(folder) / "text.txt", Path(folder) / "annotated"
        text.write_text("".join(f"{line}\n" for own in lines for line in own), "utf-8")
        notes = function(str(text), str(output))
        blocks = _blocks(output.read_text("utf-8"), total, source)
    between = "\n" if "\n" not in "".join(blocks[:1]) else "\n\n"
    rest = iter(blocks)
    annotated = [
        None if cell is None else between.join(islice(rest, len(own))) for cell, own in zip(cells, lines, strict=True)
    ]
    return annotated, [note.replace(str(text), f"the text of {source}") for note in notes]


def _blocks(text: str, total: int, source: str) -> list[str]:
    """The annotation of every sentence: a line of its own, or lines up to an empty one."""
    for blocks in (text.removesuffix("\n").split("\n"), text.rstrip("\n").split("\n\n")):
        if len(blocks) == total:
            return blocks
    raise ShardError(f"{source}: found annotation of other sentences, expected {total}, one for each line of text")


def _through_parquet(annotate: Callable[[Cells], list[str | None]], source: str, target: str, column: str) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ShardError(f"{source}: found no pyarrow, expected it for Parquet: pip install 'tagweave[ray]'") from error
    try:
        with pq.ParquetFile(source) as table:
            schema = table.schema_arrow
            _check_columns(schema.names, source, column)
            if not (
                pa.types.is_string(schema.field(column).type) or pa.types.is_large_string(schema.field(column).type)
            ):
                raise ShardError(f"{source}: found {schema.field(column).type} in {column!r}, expected text")
            wider = schema.append(pa.field(COLUMN, pa.string()))
            codec = _codec(table)
            with pq.ParquetWriter(target, wider, compression=codec) as writer:
                for group in range(table.num_row_groups):
                    batches = [
                        batch.append_column(COLUMN, pa.array(annotate(batch[column].to_pylist()), pa.string()))
                        for batch in table.iter_batches(_ROWS, row_groups=[group])
                    ]
                    writer.write_table(pa.Table.from_batches(batches, wider))
    except pa.ArrowInvalid as error:
        raise ShardError(f"{source}: found a damaged file ({error}), expected Parquet") from error


def _codec(table: Any) -> str:
    """The compression of a table: that of its first column."""
    metadata = table.metadata
    if not metadata.num_row_groups or not metadata.num_columns:
        return "snappy"
    name = str(metadata.row_group(0).column(0).compression).lower()
    return "none" if name == "uncompressed" else name


def _check_columns(names: Sequence[str], source: str, column: str) -> None:
    if column not in names:
        raise ShardError(f"{source}: found the columns {', '.join(names)}, expected {column!r} (--text-column)")
    if COLUMN in names:
        raise ShardError(f"{source}: found a column {COLUMN!r}, expected none: the annotation gets this name")


def _through_json_lines(annotate: Callable[[Cells], list[str | None]], source: str, target: str, column: str) -> None:
    rows = _json_rows(source, column)
    with written(target) as stream:
        while block := list(islice(rows, _ROWS)):
            for row, annotation in zip(block, annotate([row[column] for row in block]), strict=True):
                stream.write(json.dumps({**row, COLUMN: annotation}, ensure_ascii=False) + "\n")


def _json_rows(source: str, column: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_lines(source), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ShardError(f"{source}:{number}: found broken JSON ({error}), expected an object") from error
        if not isinstance(row, dict):
            raise ShardError(f"{source}:{number}: found {type(row).__name__}, expected an object with {column!r}")
        _check_columns(list(row), f"{source}:{number}", column)
        if not isinstance(row[column], str | None):
            raise ShardError(f"{source}:{number}: found {type(row[column]).__name__} in {column!r}, expected text")
        yield row
