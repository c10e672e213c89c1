"""The memory that models need, estimated before anything is allocated.

Labels take memory by the square, and a packed zero takes none on disk, so a small file could ask for any amount.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from math import isqrt
from pathlib import Path
from typing import Any

from tagweave.errors import CorpusError

_OF_PAIR = 20  # bytes for each pair of labels: weights, potentials, their exponentials, and what codings allow
_OF_ARRAYS = 2  # times the arrays of a file: an index of their codes, and other copies
_LEAST, _RATIO = 1 << 29, 64  # most bytes for a model: this many times those of its file, but at least _LEAST
_SHARE = 16  # of the memory of the machine, what tables of labels may take in training
_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")


def machine_memory() -> int:
    """Return how many bytes of memory this process may use: all, or what its control group or its limits leave it."""
    limits = [1 << 62]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    if _CONTROL_GROUP.is_file() and (group := _CONTROL_GROUP.read_text("ascii").strip()).isdigit():
        limits.append(int(group))
    try:
        import resource
    except ImportError:  # Windows
        return min(limits)
    address_space = resource.getrlimit(resource.RLIMIT_AS)[0]
    return min([*limits, address_space] if address_space >= 0 else limits)  # without a limit it is -1


def check_model(description: dict[str, Any], arrays: int, file: int) -> None:
    """Refuse a model that needs far more memory than a file of this size warrants, or more than there is."""
    labels = max(_labels(description), default=0)
    _check_memory(needed_bytes(description, arrays), file, f"{labels:,} labels and {_size(arrays)} of arrays")


def check_labels_of_file(labels: int, file: int) -> None:
    """Refuse so many labels if they need far more memory than a file of this size warrants."""
    _check_memory(2 * _OF_PAIR * labels**2, file, f"{labels:,} labels")  # in double precision


def _check_memory(needed: int, file: int, what: str) -> None:
    if needed > (most := most_bytes(file)):
        of_file = f"what a file of {_size(file)} may ask for"
        why = "the memory of this machine" if most == machine_memory() else of_file
        raise ValueError(f"{what}, which need {_size(needed)}, expected at most {_size(most)}, {why}")


def needed_bytes(description: dict[str, Any], arrays: int) -> int:
    """Estimate the memory of a model in use, from its checked description and the bytes of its arrays."""
    return _OF_ARRAYS * arrays + sum(_OF_PAIR * labels**2 for labels in _labels(description))


def most_bytes(file: int) -> int:
    """Return the most memory that a model in a file of so many bytes may need."""
    return min(machine_memory(), max(_LEAST, _RATIO * file))


def check_labels(names: Sequence[str], path: str, bytes_of_each: int = 0) -> None:
    """Refuse to train with so many labels that their tables take too much memory: pairs, or `bytes_of_each`."""
    most = max(_LEAST, machine_memory() // _SHARE)
    count = len(names)
    needed = bytes_of_each * count if bytes_of_each else _OF_PAIR * count**2
    if needed > most:
        fewer = most // bytes_of_each if bytes_of_each else isqrt(most // _OF_PAIR)
        shown = ", ".join(repr(name) for name in names[:3])
        expected = f"at most {fewer:,} on this machine: these would need {_size(needed)}. Are words taken for labels?"
        hint = "Name the layer of the labels, FILE#LAYER; for pairs of labels, give a `mapping`"
        raise CorpusError(f"{count:,} labels ({shown} ...)", f"{expected} {hint}", path)


def _labels(description: dict[str, Any]) -> Iterator[int]:
    """Yield the number of labels of a chain model, and of all models inside it."""
    if "space" in description:
        yield len(description["space"]["names"])
    for value in (value for key, value in description.items() if key != "about"):
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _labels(inner)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB" if count >= 1e6 else f"{count:,} bytes"
