"""Corpora by name, `FAMILY:CORPUS[@VERSION]/SPLIT`, as `ud:English-EWT@2.7/train`: a registry of public ones, and
their files, fetched once and kept."""

from __future__ import annotations

import re
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from tagweave.errors import DataError

FAMILIES = ("ud", "conll")
_NAME = re.compile(r"(?P<family>\w+):(?P<corpus>[\w-]+)(?:@(?P<version>[\d.]+))?(?:/(?P<split>\w+))?")


class DataName(NamedTuple):
    """The parts of a name; `None` for one that is missing."""

    family: str
    corpus: str
    version: str | None = None
    split: str | None = None

    def __str__(self) -> str:
        version = f"@{self.version}" if self.version else ""
        return f"{self.family}:{self.corpus}{version}" + (f"/{self.split}" if self.split else "")


def is_name(path: str) -> bool:
    """Return whether a path begins as a name does, and no file has it."""
    return path.startswith(tuple(f"{family}:" for family in FAMILIES)) and not Path(path).exists()


def data_name(text: str) -> DataName:
    """Split a name into its parts. Raises DataError if it has another form."""
    match = _NAME.fullmatch(text)
    if match is None or match["family"] not in FAMILIES:
        raise DataError(text, "no name of a corpus", "FAMILY:CORPUS[@VERSION]/SPLIT, as ud:English-EWT@2.7/train")
    return DataName(**match.groupdict())


def short_name(path: str) -> str:
    """Return the name of a file without its folders, or the name of a public corpus as it stands."""
    return path if is_name(path) else PureWindowsPath(path).name  # which knows the separators of all systems


def located(path: str) -> str:
    """Return the path of a corpus's file, fetched if need be, if `path` is a name, or else `path` itself."""
    if not is_name(path):
        return path
    from tagweave.corpus.named.files import fetched

    return str(fetched(data_name(path)))
