"""Schemas for the values and arrays of a file, and the digest that detects damage to them.

Kernels do not check their indices, so files are checked when read: every array must have the type, size and range that
kernels assume, and every value of a description its type. A file may be malicious. Descriptions are msgspec structs,
whose `__post_init__` checks what no type says; what they refuse is a `ValueError` with its place.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NoReturn, TypeVar

import numpy as np
from msgspec import Meta, Struct, ValidationError, convert
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
Description = dict[str, Any]
"""The description of a model in its file, or of a part of it."""

BOOLEANS, FLOATS, BYTES, CODES = ("bool",), ("float32", "float64"), ("uint8",), ("uint64",)
POINTERS, CELLS = ("int32", "int64"), ("uint16", "uint32", "uint64")
LARGEST = 1e18
"""Larger weights could add up to infinity, and infinities to nan."""
_SHOWN = 60

Whole = Annotated[int, Meta(ge=0, le=1 << 53)]
Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
NotNegative = Annotated[float, Meta(ge=0, le=LARGEST)]
Share = Annotated[float, Meta(ge=0, le=1)]
Name = Annotated[str, Meta(min_length=1)]
T = TypeVar("T")


class Schema(Struct, forbid_unknown_fields=True):
    """A part of a description: its fields, and no others."""


def checked(value: Any, schema: type[T], where: str = "") -> T:
    """Return a value of a file as its schema. Raises ValueError with the place of what does not fit."""
    try:
        return convert(value, schema)
    except ValidationError as error:
        raise ValueError(f"{error} of {where}" if where else str(error)) from None


def refuse(value: Any, where: str, expected: str) -> NoReturn:
    """Raise an error that names the value."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]} ..."
    raise ValueError(f"found {shown} at {where or 'the top'}, expected {expected}")


def check_distinct(values: Sequence[str], where: str) -> None:
    """Raise ValueError if a value stands twice."""
    if len(set(values)) < len(values):
        refuse(values, where, "each once")


def check_unicode(value: Any) -> None:
    """Raise unless all text in a value can be encoded as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("found half of a surrogate pair, expected Unicode text") from None


def read_texts(array: NDArray[np.uint8], where: str) -> list[str]:
    """Return the texts of a JSON list in an array of bytes."""
    texts: list[str] = json.loads(array.tobytes())
    if not isinstance(texts, list) or {type(text) for text in texts} - {str}:  # there may be millions
        refuse(type(texts), where, "a list of texts")
    check_unicode("".join(texts))
    return texts


def text_array(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return the bytes of a JSON list of texts."""
    return np.frombuffer(json.dumps(texts).encode(), np.uint8)


# Arrays


@dataclass(frozen=True)
class ArrayRule:
    """Requirements on an array."""

    types: Collection[str]  # the types allowed
    shape: tuple[int | None, ...]  # the size of every axis; `None` for any
    least: float | None = None  # with `most`, bounds of its entries, which must then be finite
    most: float | None = None
    is_pointer: bool = False  # whether it must be a running sum of sizes: 0 first, then never falling

    def check(self, array: NDArray[Any], where: str) -> None:
        sizes = "".join(f"[{'any' if size is None else size}]" for size in self.shape)
        fits = array.ndim == len(self.shape) and all(
            expected in (None, size) for expected, size in zip(self.shape, array.shape, strict=True)
        )
        if not fits or array.dtype.name not in self.types:
            refuse(f"{array.dtype}{list(array.shape)}", where, f"{' or '.join(self.types)} of {sizes}")
        if array.dtype == bool and array.size and int(array.view(np.uint8).max()) > 1:
            refuse("bytes above 1", where, "truth values")
        if self.is_pointer and (not len(array) or int(array[0]) != 0 or bool((array[1:] < array[:-1]).any())):
            refuse("pointers", where, "0 first, and no fall")
        if self.least is not None and self.most is not None and array.size:
            low, high = float(array.min()), float(array.max())
            if not (self.least <= low and high <= self.most):  # false for nan, too
                refuse(f"{low:g} to {high:g}", where, f"{self.least:g} to {self.most:g}")


weights_of = partial(ArrayRule, FLOATS, least=-LARGEST, most=LARGEST)
"""The rule for weights of a given shape."""


def check_arrays(arrays: Arrays, rules: Mapping[str, ArrayRule]) -> None:
    """Raise unless there is exactly one array for every rule, and each meets its rule."""
    if missing := rules.keys() - arrays.keys():
        refuse(sorted(arrays), "the names of arrays", f"one {min(missing)}")
    if more := arrays.keys() - rules.keys():
        refuse(min(more), "the names of arrays", "none of that name")
    for name_of, rule in rules.items():
        rule.check(arrays[name_of], name_of)


def digest_of(description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the CRC-32 of a description and of arrays, in hex. It detects accidental damage, not tampering."""
    shapes = {name: [array.dtype.str, *array.shape] for name, array in arrays.items()}
    crc = zlib.crc32(json.dumps([description, shapes], sort_keys=True).encode())
    for name in sorted(arrays):
        crc = zlib.crc32(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data, crc)
    return f"{crc:08x}"
