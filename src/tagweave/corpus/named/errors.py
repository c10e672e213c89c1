"""The error of a corpus that a name stands for."""

from __future__ import annotations

from tagweave.corpus.errors import InputError


class DataError(InputError):
    """A name of no known corpus, or a file that cannot be fetched or is not the expected one."""

    def __init__(self, name: str, found: str, expected: str) -> None:
        self.name, self.found, self.expected = name, found, expected
        super().__init__(f"{name}: found {found}, expected {expected}")

    def __reduce__(self) -> tuple[type[DataError], tuple[str, str, str]]:
        """How the error travels between processes."""
        return type(self), (self.name, self.found, self.expected)
