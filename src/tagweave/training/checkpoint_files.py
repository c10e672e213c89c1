"""The checkpoint files beside a model in training: finding and removing them."""

from __future__ import annotations

from dataclasses import dataclass
from glob import escape
from pathlib import Path

from tagweave.corpus.whole_file import remove_left


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoint of a run and those of its parts.

    Attributes:
        whole: the file of the last part; the others have its name with an extension.
    """

    whole: Path

    def found(self) -> list[Path]:
        """The checkpoints that exist."""
        ends, numbered = (".start", ".mapping", ".source", ".plain"), (".step-", ".source-", ".target-")
        files = sorted(self.whole.parent.glob(f"{escape(self.whole.name)}*"))
        return [file for file in files if file == self.whole or file.suffix in ends or file.suffix.startswith(numbered)]

    def remove(self) -> None:
        """Remove the checkpoints."""
        self.remove_left()
        for file in self.found():
            file.unlink()

    def remove_left(self) -> None:
        """Remove what a killed run has left half written."""
        remove_left(self.whole.parent, f"{escape(self.whole.name)}*")
