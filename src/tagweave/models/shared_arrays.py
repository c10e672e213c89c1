"""Unpacked arrays of models in files, so that the processes of a machine share one copy in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from tagweave.cluster.mapped_arrays import MappedArrays
from tagweave.corpus.whole_file import whole_file
from tagweave.models.parts import Arrays

_KEPT = 4  # models whose arrays stay in the folder


def shared_arrays(folder: Path, model: Path | str, arrays: Callable[[], Arrays]) -> Arrays:
    """The arrays of a model file, mapped into memory; a process that changes one gets its own copy of what it changes.

    Args:
        folder: where arrays are kept, a folder that nobody else can write.
        model: the file; its digest is the name of its arrays.
        arrays: makes the arrays if the folder does not have them.

    Raises:
        OSError: they cannot be written.
    """
    with Path(model).open("rb") as stream:
        key = hashlib.file_digest(stream, "sha256").hexdigest()
    file, entries = folder / f"{key}.arrays", folder / f"{key}.json"
    if not (file.exists() and entries.exists()):
        with whole_file(file) as part:
            mapped = MappedArrays.write(part, arrays())
        with whole_file(entries) as part:
            part.write_text(json.dumps(mapped.entries), "utf-8")
        _remove_old(folder)
    found = [(name, dtype, tuple(shape), at) for name, dtype, shape, at in json.loads(entries.read_text("utf-8"))]
    return MappedArrays(str(file), tuple(found)).read("c")


def _remove_old(folder: Path) -> None:
    """Remove all but the last models; processes that map them keep what they have."""
    files = sorted(folder.glob("*.arrays"), key=lambda path: path.stat().st_mtime, reverse=True)
    for file in files[_KEPT:]:
        file.with_suffix(".json").unlink(missing_ok=True)
        file.unlink(missing_ok=True)
