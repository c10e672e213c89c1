"""Sizes of the pages of a Parquet file, before pyarrow unpacks them.

The description of a column at the end of the file has sizes too, but pyarrow trusts the headers of the pages. A header
is a struct of Thrift's compact protocol: fields with a number and a type, numbers of variable length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, NamedTuple

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
