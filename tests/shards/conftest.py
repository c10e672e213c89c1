"""Work on shards without models, and an executor in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tagweave.corpus.files import read_lines, written
from tagweave.errors import ShardError


@dataclass(frozen=True)
class UpperCase:
    """Writes every line in upper case; a line `bad` is refused, and a line `note` gives a note."""

    options: str = ""

    def describe(self) -> Mapping[str, Any]:
        return {"command": "upper case", "options": self.options}

    def shared(self, executor: Any) -> UpperCase:
        return self

    def carry_out(self, source: str, target: str) -> list[str]:
        notes = []
        with written(target) as stream:
            for number, line in enumerate(read_lines(source), 1):
                if line == "bad":
                    raise ShardError(f"{source}:{number}: found bad, expected good")
                if line == "bug":
                    line[len(line)]
                if line == "note":
                    notes.append(f"{source} is taken for text")
                stream.write(line.upper() + "\n")
        return notes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three shards, one of them compressed and one deeper."""
    for name, text in {"a.txt": "one\n", "deep/b.txt": "two\nthree\n", "c.txt.gz": "four\n"}.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with written(str(path)) as stream:
            stream.write(text)
    return tmp_path / "in"
