"""Arrays of models in files, so that the processes of a machine share one copy in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tagweave.cluster.mapped_arrays import MappedArrays
from tagweave.cluster.shared_file import mark_used, remove_old
from tagweave.corpus.whole_file import whole_file
from tagweave.models.parts import Arrays

_KEPT = 4  # models whose arrays stay in the folder, those used last


def shared_arrays(folder: Path, key: str, arrays: Callable[[], Arrays]) -> Arrays:
    """Arrays from a folder, mapped into memory; a process that changes one gets its own copy of what it changes.

    Args:
        folder: where arrays are kept, a folder that nobody else can write.
        key: their name there, a digest of all that they depend on.
        arrays: makes the arrays if the folder does not have them.

    Raises:
        OSError: they cannot be written.
    """
    file, entries = folder / f"{key}.arrays", folder / f"{key}.json"
    while True:
        with suppress(FileNotFoundError):  # not there yet, or another process has just removed them as old
            return _read(file, entries)
        for pattern in ("*.arrays", "*.json"):  # processes that map a file keep what they have
            remove_old(folder.glob(pattern), _KEPT - 1)
        with whole_file(file) as part:
            mapped = MappedArrays.write(part, arrays())
        with whole_file(entries) as part:
            part.write_text(json.dumps(mapped.entries), "utf-8")


def _read(file: Path, entries: Path) -> Arrays:
    for each in (file, entries):
        mark_used(each)
    found = [(name, dtype, tuple(shape), at) for name, dtype, shape, at in json.loads(entries.read_text("utf-8"))]
    return MappedArrays(str(file), tuple(found)).read("c")
