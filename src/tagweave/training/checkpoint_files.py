"""The checkpoints of a training that makes a file: where they are, and their removal."""

from __future__ import annotations

from dataclasses import dataclass
from glob import escape
from pathlib import Path


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoint of a run, and those of its parts.

    Attributes:
        whole: the file of the last part.
    """

    whole: Path

    def found(self) -> list[Path]:
        """Those that exist."""
        return [file for file in self._left() if file.suffix != ".part"]

    def remove(self) -> None:
        """Remove them, and what is left of one in whose writing a run was killed."""
        for file in self._left():
            file.unlink()

    def _left(self) -> list[Path]:
        ends = (".part", ".start", ".mapping", ".source", ".plain")
        found = sorted(self.whole.parent.glob(f"{escape(self.whole.name)}*"))
        return [file for file in found if file == self.whole or file.suffix in ends or file.suffix.startswith(".step-")]
