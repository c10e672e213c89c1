"""The digest that detects damage to the numbers in a file of arrays, which the format itself would not notice."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def digest_of(description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """The CRC-32 of a plain description and of named arrays with their types and shapes, as eight hex digits.

    It detects accidental damage, not tampering.
    """
    shapes = {name: [array.dtype.str, *array.shape] for name, array in arrays.items()}
    crc = zlib.crc32(json.dumps([description, shapes], sort_keys=True).encode())
    for name in sorted(arrays):
        crc = zlib.crc32(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data, crc)
    return f"{crc:08x}"
