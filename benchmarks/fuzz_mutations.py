"""Mutations of a file of arrays and a description: one or a few of them changed, the digest right again."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from tagweave.features.rules import digest_of
from tagweave.models.packing import FORMS, pack, unpack

Rng = np.random.Generator
Array = NDArray[Any]
Arrays = dict[str, Array]
_KEY = "tagweave"
_TYPES = ("bool", "uint8", "int8", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
_TEXTS = ("", "x", "A", "\ud800", "a\nb", "a\tb", "\0", "\x1b[31m", "form[-2000000]", "form[0]" * 40, "B-*", "🦀")
_NUMBERS = (0, -1, 1, 2, 7, 255, 2**31, 2**32, -(2**31), 2**63, 10**30, 0.5, -0.5, 1e300, float("nan"), float("inf"))
_OTHERS = (None, True, False, [], {}, [[]], "0")


def read(path: Path, packed: bool = False) -> tuple[dict[str, Any], Arrays]:
    """The description and the arrays of a file; those of a model as they stand there, packed, or as they are used."""
    with safe_open(path, "numpy") as file:
        description = json.loads(file.metadata()[_KEY])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    if packed or FORMS not in description:
        return description, arrays
    return description, unpack(description.pop(FORMS), arrays)


def write(path: Path, description: dict[str, Any], arrays: Arrays) -> None:
    """A file of them whose digest is right; where the description does not say how arrays are packed, they are."""
    own = {key: value for key, value in description.items() if key != "digest"}
    if FORMS not in own and not _is_checkpoint(arrays):
        own[FORMS], arrays = pack(arrays)
    own["digest"] = digest_of(json.loads(json.dumps(own)), arrays)
    save_file({name: np.ascontiguousarray(each) for name, each in arrays.items()}, path, {_KEY: json.dumps(own)})


def _is_checkpoint(arrays: Arrays) -> bool:
    return any(name.startswith("state.") for name in arrays)


def mutated(description: dict[str, Any], arrays: Arrays, rng: Rng) -> tuple[dict[str, Any], Arrays, str]:
    """A copy with one to three mutations, and what they are."""
    description, arrays, told = copy.deepcopy(description), dict(arrays), []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        mutate = _mutate_array if arrays and rng.random() < 0.5 else _mutate_description
        growing = rng.permutation(len(_OF_SIZES)) if rng.random() < _GROWING else ()
        grown = (what for number in growing if (what := _OF_SIZES[number](description, arrays, rng)))
        told.append(next(grown, "") or mutate(description, arrays, rng))
    return description, arrays, "; ".join(told)


# Sizes: a small file that asks for much. Each returns "" where the file has nothing of the kind.


def _more_labels(description: dict[str, Any], arrays: Arrays, rng: Rng) -> str:
    """As many labels as a corpus has words, with whatever else has to fit them."""
    space = description.get("space", {})
    if len(space.get("views", ())) != 1 or FORMS in description or "scheme.start" not in arrays:
        return ""
    labels, more = len(space["names"]), int(rng.choice([1000, 3000, 8000]))
    names = [f"{space['names'][0]}{i}" for i in range(more)]
    space["names"] = space["views"][0]["names"] = names
    space["views"][0]["projection"] = list(range(more))
    ptr, cell = arrays["layout.0.ptr"], arrays["layout.0.cell"]
    arrays["layout.0.ptr"] = ptr if cell.size else (ptr.astype(np.int64) // labels * more)
    size = int(arrays["layout.0.ptr"][-1]) + more * more + 2 * more
    arrays["weights"] = np.zeros(size, arrays["weights"].dtype)
    arrays["scheme.transition"] = np.ones((more, more), np.bool_)
    arrays["scheme.start"] = arrays["scheme.end"] = np.ones(more, np.bool_)
    if "observed.0" in arrays:
        arrays["observed.0"] = np.ones((more, more), np.bool_)
    return f"{more} labels"


def _more_relations(description: dict[str, Any], arrays: Arrays, rng: Rng) -> str:
    if not description.get("relations") or FORMS in description:
        return ""
    more, rows = int(rng.choice([1000, 20_000])), int(rng.choice([1 << 10, 1 << 17]))
    if more * rows > 1 << 28:
        rows = 1 << 10
    description["relations"] = [f"r{i}" for i in range(more)]
    description["relation_rows"] = rows
    arrays["relation_weights"] = np.zeros((rows, more), np.float32)
    return f"{more} relations of {rows} rows"


def _longer_by_zeros(description: dict[str, Any], arrays: Arrays, rng: Rng) -> str:
    """An array whose packing states a larger shape, and as many more pieces of zeros, which take no bytes."""
    if not description.get(FORMS):
        return ""
    name = str(rng.choice(sorted(description[FORMS])))
    form = description[FORMS][name]
    times = int(rng.choice([10, 10_000, 10**7, 10**9]))
    form["shape"] = [each * times if at == 0 else each for at, each in enumerate(form["shape"])]
    planes = 1 if "step" in form else np.dtype(form["dtype"]).itemsize
    pieces = -(-int(np.prod(form["shape"], dtype=object)) // (1 << 18)) * planes
    form["lengths"] = [0] * min(pieces, 1 << 20)
    arrays[name] = np.zeros(0, np.uint8)
    return f"{name} with {times} times the entries"


def _stated_size(description: dict[str, Any], arrays: Arrays, rng: Rng) -> str:
    """The head of a Zstandard frame, which states the size of its content and of its window."""
    named = sorted(name for name, array in arrays.items() if bytes(array[:4].tobytes()) == _FRAME)
    if not description.get(FORMS) or not named:
        return ""
    name = str(rng.choice(named))
    changed = arrays[name].copy()
    head = slice(4, min(len(changed), int(rng.integers(5, 14))))
    changed[head] = rng.choice([0, 0x7F, 0xE0, 0xFF], head.stop - head.start)
    arrays[name] = changed
    return f"{name} with another frame"


def _repeated_list(description: dict[str, Any], _arrays: Arrays, rng: Rng) -> str:
    lists = [place for place in _places(description) if place and isinstance(_held(description, place), list)]
    place = lists[int(rng.integers(len(lists)))] if lists else ()
    if not place or not _held(description, place):
        return ""
    holder, values = _held(description, place[:-1]), _held(description, place)
    count = int(rng.choice([1000, 100_000])) // len(values) + 1
    distinct = rng.random() < 0.5 and isinstance(values[0], str)
    holder[place[-1]] = [f"{values[0]}{i}" for i in range(count)] if distinct else values * count
    return f"{place} repeated {count} times"


_GROWING, _FRAME = 0.3, b"\x28\xb5\x2f\xfd"
_OF_SIZES = (_more_labels, _more_relations, _longer_by_zeros, _stated_size, _repeated_list)


def mutated_bytes(data: bytes, rng: Rng) -> tuple[bytes, str]:
    """A copy of a file of another program: some of its numbers, of four bytes, changed."""
    changed, told = bytearray(data), []
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        at = int(rng.choice([4 * rng.integers(1, 12), rng.integers(len(data) - 4)]))
        value = int(rng.choice([0, 1, 5000, 1 << 20, (1 << 31) - 1, (1 << 32) - 1, len(data), rng.integers(len(data))]))
        changed[at : at + 4] = value.to_bytes(4, "little")
        told.append(f"{value} at byte {at}")
    return bytes(changed), "; ".join(told)


# Arrays


def _shorter(array: Array, rng: Rng) -> Array:
    return array[: int(rng.integers(len(array)))] if len(array) else array


def _longer(array: Array, rng: Rng) -> Array:
    return np.concatenate([array, array[: int(rng.integers(1, len(array) + 1))]]) if len(array) else array


def _retyped(array: Array, rng: Rng) -> Array:
    return array.astype(str(rng.choice(_TYPES)))


def _permuted(array: Array, rng: Rng) -> Array:
    return rng.permutation(array.reshape(-1)).reshape(array.shape)


def _reshaped(array: Array, rng: Rng) -> Array:
    shapes = [(-1,), (1, -1), (-1, 1)] + ([(2, -1)] if array.size and array.size % 2 == 0 else [])
    return array.reshape(shapes[int(rng.integers(len(shapes)))]) if array.size else array.reshape(0, 3)


def _strange(array: Array, rng: Rng) -> list[Any]:
    """Values that an array of this type may hold, but seldom should."""
    if array.dtype.kind == "f":
        return [np.nan, np.inf, -np.inf, np.finfo(array.dtype).max, -1.0, 0.0, 1e-40, 1e20]
    if array.dtype.kind == "b":
        return [True, False]
    limits = np.iinfo(array.dtype)
    some = array.reshape(-1)[int(rng.integers(array.size))]
    near = [int(some) + step for step in (-1, 1, 1000, 10**6)]
    return [each for each in (limits.min, limits.max, 0, 1, *near) if limits.min <= each <= limits.max]


def _with_strange(array: Array, rng: Rng) -> Array:
    if not array.size:
        return array
    changed, values = array.copy(), _strange(array, rng)
    at = rng.integers(array.size, size=int(rng.choice([1, 1, 3, array.size])))
    changed.reshape(-1)[at] = values[int(rng.integers(len(values)))]
    return changed


def _swapped(array: Array, rng: Rng) -> Array:
    changed = array.copy()
    if array.size:
        a, b = rng.integers(array.size, size=2)
        flat = changed.reshape(-1)
        flat[a], flat[b] = flat[b], flat[a]
    return changed


def _scaled(array: Array, rng: Rng) -> Array:
    if array.dtype.kind == "b":
        return ~array
    return (array * array.dtype.type(rng.choice([2, 3, 5, 100]))).astype(array.dtype)


def _colliding(array: Array, _rng: Rng) -> Array:
    """All entries alike in their lowest bits, as if they were to meet in a table."""
    if array.dtype.kind not in "iu":
        return array
    return (np.arange(array.size).astype(array.dtype).reshape(array.shape) << 20) | array.dtype.type(1)


def _repeated(array: Array, rng: Rng) -> Array:
    return np.repeat(array, int(rng.integers(2, 9)), axis=0)


_OF_ARRAYS: list[Callable[[Array, Rng], Array]] = [
    _shorter,
    _longer,
    _retyped,
    _permuted,
    _reshaped,
    _with_strange,
    _with_strange,
    _with_strange,
    _swapped,
    _scaled,
    _colliding,
    _repeated,
]


def _mutate_array(_description: dict[str, Any], arrays: Arrays, rng: Rng) -> str:
    names = sorted(arrays)
    name, other = (names[int(rng.integers(len(names)))] for _ in range(2))
    chance = rng.random()
    if chance < 0.04:
        del arrays[name]
        return f"without {name}"
    if chance < 0.08:
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return f"{name} and {other} exchanged"
    if chance < 0.1:
        arrays[f"{name}.{int(rng.integers(3))}"] = arrays[name]
        return f"{name} under one more name"
    change = _OF_ARRAYS[int(rng.integers(len(_OF_ARRAYS)))]
    with np.errstate(all="ignore"):
        arrays[name] = change(np.atleast_1d(arrays[name]), rng)
    return f"{name}{change.__name__}"


# Descriptions


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where all values stand, of long lists a few."""
    if isinstance(value, dict):
        return [at, *(place for key, each in value.items() for place in _places(each, (*at, key)))]
    if isinstance(value, list):
        few = {0, 1, len(value) // 2, len(value) - 1} & set(range(len(value)))
        return [at, *(place for i in sorted(few) for place in _places(value[i], (*at, i)))]
    return [at]


def _held(description: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        description = description[step]
    return description


def _mutate_description(description: dict[str, Any], _arrays: Arrays, rng: Rng) -> str:
    places = [place for place in _places(description) if place and place[0] != "digest"]
    place, other = (places[int(rng.integers(len(places)))] for _ in range(2))
    holder, key = _held(description, place[:-1]), place[-1]
    chance = rng.random()
    if chance < 0.1:
        del holder[key]
        return f"without {place}"
    if chance < 0.15:
        holder[key] = copy.deepcopy(_held(description, other))
        return f"{other} at {place}"
    if chance < 0.2 and isinstance(holder, dict):
        holder[f"{key}s"] = holder[key]
        return f"{place} under one more name"
    holder[key] = _changed(holder[key], rng)
    return f"{str(holder[key])[:40]!r} at {place}"


def _changed(value: Any, rng: Rng) -> Any:
    if isinstance(value, list) and value and rng.random() < 0.7:
        i = int(rng.integers(len(value)))
        return [value[:i], value + value[: i + 1], value[::-1], value * 40, [*value, value[i]]][int(rng.integers(5))]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return [value + 1, value - 1, -value, 2 * value, float(value), str(value)][int(rng.integers(6))]
    if isinstance(value, str) and rng.random() < 0.4:
        return [value + "x", value[:-1], value * 3, f"{value} {value}", value.swapcase()][int(rng.integers(5))]
    values = [*_TEXTS, *_NUMBERS, *_OTHERS]
    return values[int(rng.integers(len(values)))]
