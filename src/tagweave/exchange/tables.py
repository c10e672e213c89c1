"""Rows of Parquet and Arrow files that somebody sent, of lists of texts and numbers.

A few bytes of Parquet can stand for gigabytes: pages are compressed, equal values are counted, and a text is stored
once. So what pages unpack to, values, and characters are counted before there are Python objects, and columns of other
types, of which some take no bytes at all, are left out. A text that occurs again is the same object.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tagweave.corpus.errors import CorpusError
from tagweave.exchange.errors import ExchangeError
from tagweave.exchange.limits import Unpacked, size_on_disk

_KEY = b"huggingface"
_ROWS = 1000  # that are in memory at a time
_VALUES = 4_000_000  # of a file, however small it is
_VALUES_A_BYTE = 8  # of larger files: ten columns of tokens have four
_PAGES = 100_000
_BATCH, _DICTIONARY = 3, 2  # kinds of messages


def rows(path: Path, leave_out: Callable[[str], None]) -> Iterator[tuple[object, dict[str, Any]]]:
    """Return the rows of a file, each with the description by `datasets` of what is in them.

    Raises:
        CorpusError: no such file, or one that would take too much.
        ExchangeError: pyarrow is not installed.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file, _refused(path):
        is_parquet = file.read(4) == b"PAR1"
        schema, batches = (_parquet if is_parquet else _arrow)(file, path)
        metadata = _metadata(schema, path)
        unread = [each.name for each in schema if not _is_read(each.type)]
        values, characters = _Values(path), Unpacked(path)
        for batch in batches:
            batch.validate(full=True)  # offsets that somebody wrote are not believed
            found = zip(batch.schema.names, batch.columns, strict=True)
            read = {name: column for name, column in found if _is_read(column.type)}
            for name in unread * len(batch):
                leave_out(f"values of {name}")
            for column in read.values():
                values.take(column)
                characters.take(_characters(_flat(column)[0]))
            lists = [_python(column) for column in read.values()]
            for row in zip(*lists, strict=True):
                yield metadata, dict(zip(read, row, strict=True))


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Raise as `CorpusError` whatever pyarrow raises: it says that the file is damaged."""
    try:
        import pyarrow
    except ImportError:
        raise ExchangeError(
            "found no pyarrow, expected the extra arrow: pip install '.[arrow]' in a checkout of tagweave"
        ) from None
    broken = (OSError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, struct.error)
    try:
        yield
    except (pyarrow.ArrowException, *broken) as error:
        if isinstance(error, CorpusError):
            raise
        found = f"no table ({type(error).__name__}: {error})"
        raise CorpusError(found, "Parquet or Arrow, by its extension", str(path)) from None


class _Values:
    """Counts the values of a file, and refuses too many."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = self._most = max(_VALUES, _VALUES_A_BYTE * size_on_disk(path))

    def take(self, column: Any) -> None:
        """Count the values and rows of a column. Raises CorpusError if they are too many."""
        self.take_number(len(column) + len(_flat(column)[0]))

    def take_number(self, number: int) -> None:
        """Count values. Raises CorpusError if they are too many."""
        self._left -= number
        if self._left < 0:
            found = f"more than {self._most:,} values in {size_on_disk(self._path):,} bytes"
            raise CorpusError(found, f"at most {_VALUES_A_BYTE} values a byte: write the table anew", str(self._path))


def _parquet(file: IO[bytes], path: Path) -> tuple[Any, Iterator[Any]]:
    from pyarrow import parquet

    table = parquet.ParquetFile(file, pre_buffer=False)
    leaves = [table.schema.column(number) for number in range(len(table.schema))]
    texts = [each.path for each in leaves if each.physical_type == "BYTE_ARRAY"]
    schema = table.schema_arrow
    _check_pages(table.metadata, file, path)
    table = parquet.ParquetFile(file, pre_buffer=False, read_dictionary=texts)
    names = [each.name for each in table.schema_arrow if _is_read(each.type)]
    return schema, table.iter_batches(_ROWS, columns=names)


def _check_pages(metadata: Any, file: IO[bytes], path: Path) -> None:
    """Raise CorpusError if the pages of a file unpack to too much."""
    from tagweave.shards.parquet_pages import pages

    unpacked, values, left = Unpacked(path), _Values(path), _PAGES
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            values.take_number(column.num_values)
            starts = (column.dictionary_page_offset, column.data_page_offset)
            start = min(each for each in starts if each is not None)
            for page in pages(file, start, column.total_compressed_size):
                unpacked.take(page.unpacked)
                left -= 1
                if left < 0:
                    raise CorpusError(f"more than {_PAGES:,} pages", "fewer: write the table anew", str(path))


def _arrow(file: IO[bytes], path: Path) -> tuple[Any, Iterator[Any]]:
    """Return the schema and batches of a stream, or of a file, which is a stream with something around it."""
    from pyarrow import ipc

    file.seek(0)
    start = 8 if file.read(6) == b"ARROW1" else 0
    file.seek(start)
    if any(_is_compressed(bytes(each.metadata)) for each in ipc.MessageReader.open_stream(file)):
        raise CorpusError("compressed Arrow", "Arrow as datasets writes it, or Parquet", str(path))
    file.seek(start)
    reader = ipc.open_stream(file)
    return reader.schema, iter(reader)


def _is_compressed(message: bytes) -> bool:
    """Return whether the buffers of a message are compressed, by its FlatBuffers: tables with offsets of fields."""

    def field(table: int, number: int) -> int:
        offsets = table - struct.unpack_from("<i", message, table)[0]
        size, slot = struct.unpack_from("<H", message, offsets)[0], 4 + 2 * number
        found = struct.unpack_from("<H", message, offsets + slot)[0] if slot < size else 0
        return table + found if found else 0

    def inner(place: int) -> int:
        return int(place + struct.unpack_from("<I", message, place)[0])

    table = inner(0)
    kind, header = field(table, 1), field(table, 2)
    if not kind or not header or message[kind] not in (_BATCH, _DICTIONARY):
        return False
    batch = inner(header)
    if message[kind] == _DICTIONARY:
        batch = inner(field(batch, 1))
    return bool(field(batch, 3))


def _metadata(schema: Any, path: Path) -> object:
    data = (schema.metadata or {}).get(_KEY)
    if data is None:
        return {}
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"no JSON in its metadata ({error})", "what datasets writes", str(path)) from None


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_read(kind: Any) -> bool:
    """Return whether values are texts, numbers, or lists of them."""
    from pyarrow import types

    inner = kind.value_type if _is_list(kind) else kind
    if types.is_dictionary(inner):
        return bool(types.is_string(inner.value_type) or types.is_large_string(inner.value_type))
    plain = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    return any(each(inner) for each in plain)


def _flat(column: Any) -> tuple[Any, Sequence[int]]:
    """Return the values of a column, and for one of lists where each list begins, and the last one ends."""
    from pyarrow import types

    if not _is_list(column.type):
        return column, ()
    if types.is_fixed_size_list(column.type):
        size = column.type.list_size
        starts: Sequence[int] = range(0, (len(column) + 1) * size, size) if size else [0] * (len(column) + 1)
        return column.values.slice(column.offset * size, len(column) * size), starts
    offsets = column.offsets.to_pylist()
    return column.values.slice(offsets[0], offsets[-1] - offsets[0]), [each - offsets[0] for each in offsets]


def _characters(values: Any) -> int:
    """Return the bytes of the texts that a dictionary stands for."""
    from pyarrow import compute, types

    if not types.is_dictionary(values.type):
        return 0
    lengths = compute.binary_length(values.dictionary).cast("int64")
    return int(compute.sum(lengths.take(values.indices)).as_py() or 0)


def _python(column: Any) -> list[Any]:
    """Return the values of a column."""
    from pyarrow import types

    values, starts = _flat(column)
    if types.is_dictionary(values.type):
        texts = [*values.dictionary.to_pylist(), None]
        found = [texts[-1 if each is None else each] for each in values.indices.to_pylist()]
    else:
        found = values.to_pylist()
    if not starts:
        return found
    missing = column.is_null().to_pylist()
    return [None if none else found[a:b] for none, a, b in zip(missing, starts[:-1], starts[1:], strict=True)]
