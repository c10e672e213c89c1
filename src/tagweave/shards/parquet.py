"""Parquet: tables in row groups, which get a further column, and sizes of pages before pyarrow unpacks them.

The description of a column at the end of the file has sizes too, but pyarrow trusts the headers of the pages. A header
is a struct of Thrift's compact protocol: fields with a number and a type, numbers of variable length.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tagweave.corpus.files import whole_file
from tagweave.errors import ShardError
from tagweave.shards.rows import BLOCK_ROWS, BLOCK_SIZE, COLUMN, Annotate, Cell, check_columns

_HEADER, _LONGEST = 1 << 12, 1 << 20  # bytes that are read of a header at first, and at most
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_NUMBERS = (4, 5, 6)
_UNPACKED, _PACKED = 2, 3  # fields of the header of a page: its bytes
_OF_VALUES = (5, 7, 8)  # those with the header of its kind, in which field 1 is the number of values
_DEPTH = 10


class ParquetPage(NamedTuple):
    """A page: its bytes when it is unpacked, and the number of its values."""

    unpacked: int
    values: int


def pages(file: IO[bytes], start: int, length: int) -> Iterator[ParquetPage]:
    """Return the pages of a column of a row group, which has `length` bytes from `start`."""
    stop = start + length
    while start < stop:
        file.seek(start)
        data = file.read(_HEADER)
        try:
            header, size = _struct(data, 0, _DEPTH)
        except IndexError:
            try:
                header, size = _struct(data + file.read(_LONGEST), 0, _DEPTH)
            except IndexError:
                raise ValueError("a page whose header does not end") from None
        packed, unpacked = header.get(_PACKED), header.get(_UNPACKED)
        if not isinstance(packed, int) or not isinstance(unpacked, int) or packed < 0 or unpacked < 0:
            raise ValueError("a page without sizes")
        kinds = [header[each] for each in _OF_VALUES if isinstance(header.get(each), dict)]
        yield ParquetPage(unpacked, max((each[1] for each in kinds if isinstance(each.get(1), int)), default=0))
        start += size + packed


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by their numbers, and where it ends."""
    found: dict[int, Any] = {}
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _number(data, at)
        found[number], at = _value(data, at, kind, depth)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind in _NUMBERS:
        return _number(data, at)
    if kind == _BINARY:
        size, at = _varint(data, at)
        return None, at + size
    if kind == _STRUCT and depth:
        return _struct(data, at, depth - 1)
    if kind in (_BYTE, _DOUBLE):
        return None, at + (1 if kind == _BYTE else 8)
    raise ValueError("a page with a header of another kind")


def _number(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7
    raise ValueError("a page with a number that does not end")


GROUP_ROWS = 1 << 17
"""A row group is written as soon as it has this many rows, after a whole block."""
GROUP_BYTES = 1 << 26
"""A row group is written as soon as its data take this many bytes of memory, after a whole block."""
_BUFFER = 1 << 20  # bytes of a column that are read at a time


def through_parquet(annotate: Annotate, source: str, target: str, column: str) -> None:
    """Write a table with the annotation of its text, in the row groups of the source; large ones are cut.

    All columns keep their types and their compression; the annotation is compressed like the text.
    """
    with _errors_of(source):  # by default, a row group would be read as a whole
        opened = pq.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False)
    with opened as table, whole_file(target) as part:
        _check_schema(table.schema_arrow, source, column)
        schema = table.schema_arrow.append(pa.field(COLUMN, pa.string()))
        with pq.ParquetWriter(part, schema, compression=_compression(table, schema, column)) as writer:
            for batches in _row_groups(table, annotate, source, column):
                writer.write_table(pa.Table.from_batches(batches, schema))


@contextmanager
def _errors_of(source: str) -> Iterator[None]:
    """Raise the errors of pyarrow on the content of a file as `ShardError`; errors of the system have a number."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, MemoryError) or getattr(error, "errno", None):
            raise
        reason = " ".join(str(error).split())
        raise ShardError(f"{source}: found a damaged file ({reason}), expected Parquet") from error


def _check_schema(schema: pa.Schema, source: str, column: str) -> None:
    names = schema.names
    check_columns(names, source, column)
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ShardError(f"{source}: found several columns named {repeated[0]!r}, expected a name for each column")
    found = schema.field(column).type
    values = found.value_type if pa.types.is_dictionary(found) else found
    if values not in {pa.string(), pa.large_string(), pa.string_view(), pa.null()}:
        raise ShardError(f"{source}: found {found} in {column!r}, expected text")


def _compression(table: pq.ParquetFile, schema: pa.Schema, column: str) -> dict[str, str]:
    """Return the codec of every leaf column of the new table, as in the first row group.

    Leaf columns are matched by their order, since writers differ in how they name leaves of lists.
    """
    if not table.num_row_groups:
        return {}
    group = table.metadata.row_group(0)
    chunks = [group.column(number) for number in range(group.num_columns)]
    # Hadoop's own framing of LZ4 can be read, but has no name, and is not written
    names = {"UNCOMPRESSED": "none", "UNKNOWN": "lz4"}
    codecs = [names.get(chunk.compression, chunk.compression.lower()) for chunk in chunks]
    text = next(codec for chunk, codec in zip(chunks, codecs, strict=True) if chunk.path_in_schema == column)
    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    leaves = pq.ParquetFile(pa.BufferReader(sink.getvalue())).schema
    paths = [leaves.column(number).path for number in range(len(leaves))]
    return dict(zip(paths, [*codecs, text], strict=True))


def _row_groups(table: pq.ParquetFile, annotate: Annotate, source: str, column: str) -> Iterator[list[pa.RecordBatch]]:
    row = 1
    for group in range(table.num_row_groups):
        batches: list[pa.RecordBatch] = []
        for batch in _batches(table, group, source):
            annotations = annotate(_cells(batch.column(column), row, source))
            batches.append(batch.append_column(COLUMN, pa.array(annotations, pa.string())))
            row += batch.num_rows
            rows, size = sum(each.num_rows for each in batches), sum(each.nbytes for each in batches)
            if rows >= GROUP_ROWS or size >= GROUP_BYTES:
                yield batches
                batches = []
        if batches:
            yield batches


def _batches(table: pq.ParquetFile, group: int, source: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a row group in blocks, of fewer rows if they are long."""
    metadata = table.metadata.row_group(group)
    rows = BLOCK_SIZE * metadata.num_rows // max(1, metadata.total_byte_size)
    with _errors_of(source):
        yield from table.iter_batches(max(1, min(rows, BLOCK_ROWS)), row_groups=[group])


def _cells(column: pa.Array, first: int, source: str) -> list[Cell]:
    cells = []
    for row, text in enumerate(column, first):
        try:
            cells.append(Cell(row, text.as_py()))
        except UnicodeDecodeError as error:
            raise ShardError(
                f"{source}:{row}: found text that is not UTF-8 ({error.reason}), expected UTF-8"
            ) from error
    return cells
