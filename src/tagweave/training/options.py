"""Options of training methods: typed, frozen fields that document themselves.

The options of the command line, their help, their JSON and the tables of the documentation come from these fields.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from tagweave.options import check_ranges, choices, option

__all__ = ["Options", "check_ranges", "choices", "option"]


@dataclass(frozen=True)
class Options:
    """The options of a method; each method has a class of its own."""

    def check_files(self) -> None:
        """Raise if a file that an option names cannot be read: before minutes of loading corpora."""

    def for_task(self, task: str) -> Self:
        """The options with defaults that depend on the task filled in."""
        return self

    @property
    def why_incomparable(self) -> str:
        """Why a model with these options is not compared with a plain one; "" if it is."""
        return ""

    @property
    def has_folds(self) -> bool:
        """Whether models of folds of the training text are trained, which workers can share."""
        return False

    def identity(self) -> dict[str, Any]:
        """The options that influence which weights an iteration reaches."""
        return asdict(self)
