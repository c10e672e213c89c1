"""The arrays of a stored model, by name; the names of a nested model's arrays begin with the name of the part."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def nested(arrays: Arrays, part: str) -> Arrays:
    """The arrays of a part, under their names in the whole model: `PART.NAME`."""
    return {f"{part}.{name}": array for name, array in arrays.items()}


def unnested(arrays: Arrays, part: str) -> Arrays:
    """The arrays of a part, under their own names."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
