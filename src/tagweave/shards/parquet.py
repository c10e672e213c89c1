"""Parquet: a table in row groups, which gets a further column. Needs pyarrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tagweave.shards.errors import ShardError
from tagweave.shards.table import BLOCK_ROWS, COLUMN, Annotate, Cell, check_columns


def through_parquet(annotate: Annotate, source: str, target: str, column: str) -> None:
    """Write a table with the annotation of its text.

    Raises:
        ShardError: no `column` of text, or a column `COLUMN`; a damaged file; what `annotate` raises.
        OSError: a file cannot be read or written.
    """
    row = 1
    try:
        with pq.ParquetFile(source) as table:
            schema = table.schema_arrow
            check_columns(schema.names, source, column)
            if not (
                pa.types.is_string(schema.field(column).type) or pa.types.is_large_string(schema.field(column).type)
            ):
                raise ShardError(f"{source}: found {schema.field(column).type} in {column!r}, expected text")
            wider = schema.append(pa.field(COLUMN, pa.string()))
            codec = _codec(table)
            with pq.ParquetWriter(target, wider, compression=codec) as writer:
                for group in range(table.num_row_groups):
                    batches = []
                    for batch in table.iter_batches(BLOCK_ROWS, row_groups=[group]):
                        cells = [Cell(number, text) for number, text in enumerate(batch[column].to_pylist(), row)]
                        batches.append(batch.append_column(COLUMN, pa.array(annotate(cells), pa.string())))
                        row += len(cells)
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
