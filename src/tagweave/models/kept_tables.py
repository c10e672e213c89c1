"""Tables of pairs in a file, which processes map into memory: a segmenter starts without making them."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tagweave import __version__
from tagweave.kernels import raw_text as kernels
from tagweave.kernels.compiled_code import EDITION
from tagweave.models.chain import ChainModel
from tagweave.models.pair_tables import PairTables
from tagweave.models.parts import Arrays
from tagweave.models.shared_arrays import shared_arrays


def kept_tables(model: ChainModel, folder: Path | None) -> kernels.Tables:
    """The tables of a model, from a folder that nobody else can write, or made and kept there.

    Args:
        model: a model of the task `segment`.
        folder: where tables are kept; `None`, or a folder that cannot be written: they are made.

    Raises:
        UnfitModelError: as `PairTables`.
    """
    if folder is not None:
        with suppress(OSError):
            return _tables(shared_arrays(folder, _key(model), lambda: _arrays(PairTables(model).tables)))
    return PairTables(model).tables


def _key(model: ChainModel) -> str:
    """A digest of all that the tables depend on: the model, this program, and the characters that Python knows."""
    edition = [__version__, EDITION, unicodedata.unidata_version]
    found = hashlib.sha256(json.dumps([edition, model.to_json()], sort_keys=True).encode())
    for name, array in sorted(model.arrays().items()):
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _arrays(tables: kernels.Tables) -> Arrays:
    parts = {"entries": tables.entries, "labels": tables.labels, **_numbered(tables.slots)}
    return {f"{name}.{field}": np.asarray(value) for name, part in parts.items() for field, value in _fields(part)}


def _numbered(slots: tuple[kernels.Slot, ...]) -> dict[str, kernels.Slot]:
    return {f"slot.{number}": slot for number, slot in enumerate(slots)}


def _fields(part: Any) -> Any:
    return part._asdict().items()


def _tables(arrays: Arrays) -> kernels.Tables:
    def part(kind: Any, name: str) -> Any:
        return kind(*(_value(arrays[f"{name}.{field}"]) for field in kind._fields))

    slots = (part(kernels.Slot, "slot.0"), part(kernels.Slot, "slot.1"), part(kernels.Slot, "slot.2"))
    return kernels.Tables(part(kernels.Entries, "entries"), slots, part(kernels.Labels, "labels"))


def _value(array: Any) -> Any:
    """An array, or the number of one without axes."""
    return array if array.shape else array[()]
