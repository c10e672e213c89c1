"""The checkpoint files beside a model in training: finding and removing them."""

from __future__ import annotations

from dataclasses import dataclass
from glob import escape
from pathlib import Path


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoint of a run and those of its parts.

    Attributes:
        whole: the file of the last part; the others have its name with an extension.
    """

    whole: Path

    def found(self) -> list[Path]:
        """The checkpoints that exist."""
        return [file for file in self._left() if file.suffix != ".part"]

    def remove(self) -> None:
        """Remove the checkpoints, also those left half written by a killed run."""
        for file in self._left():
            file.unlink()

    def _left(self) -> list[Path]:
        ends, numbered = (".part", ".start", ".mapping", ".source", ".plain"), (".step-", ".source-", ".target-")
        files = sorted(self.whole.parent.glob(f"{escape(self.whole.name)}*"))
        return [file for file in files if file == self.whole or file.suffix in ends or file.suffix.startswith(numbered)]
