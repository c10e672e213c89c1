"""Results of long computations, each kept in a file so that it is never computed twice.

A file is named by what its result depends on, the code of the package included. It is written whole or not at all, so a
command that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproductions.lab.code import package_digest
from tagweave.corpus.files import written
from tagweave.errors import CorpusError

Result = dict[str, Any]


@dataclass(frozen=True)
class Cache:
    """A folder of results."""

    folder: Path

    def result(self, name: str, description: Result, compute: Callable[[], Result]) -> Result:
        """The result from the folder or, where it is not there, computed now.

        Args:
            name: what the file is called, for people.
            description: all that the result depends on besides the code of the package, as JSON can hold it.
            compute: gives the result, as JSON can hold it.

        Raises:
            CorpusError: the file is damaged, or not of this description.
            OSError: the folder cannot be read or written.
        """
        description = json.loads(json.dumps(description))  # as it will come back from the file
        path = self.path(name, description)
        if path.exists():
            return _read(path, description)
        self.folder.mkdir(parents=True, exist_ok=True)
        found = compute()
        with written(str(path)) as stream:
            json.dump({"cell": description, "result": found}, stream, ensure_ascii=False)
        return found

    def path(self, name: str, description: Result) -> Path:
        """The file of a result."""
        key = hashlib.sha256(json.dumps([package_digest(), description], sort_keys=True).encode()).hexdigest()[:12]
        return self.folder / f"{slug(name)}-{key}.json"


def slug(name: str) -> str:
    """A name as part of a file name."""
    return re.sub(r"[^\w.]+", "-", name).strip("-").lower()


def _read(path: Path, description: Result) -> Result:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("cell") != description:
        content = {}
    found = content.get("result")
    if not isinstance(found, dict):
        raise CorpusError("something else than the result of this run", "it, or no such file", str(path))
    return found
