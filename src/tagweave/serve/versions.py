"""The versions of a model in a folder: files `NAME-3.model`."""

from __future__ import annotations

import re
from pathlib import Path


def newest(folder: str | Path | None, name: str) -> str | None:
    """The file of the newest version; `None` if there is none."""
    found = _versions(folder, name)
    return found[max(found)] if found else None


def next_version(folder: Path, name: str) -> str:
    """The name of the file of the next version."""
    return f"{name}-{max(_versions(folder, name), default=0) + 1}.model"


def _versions(folder: str | Path | None, name: str) -> dict[int, str]:
    if folder is None or not Path(folder).is_dir():
        return {}
    pattern = re.compile(re.escape(name) + r"-([0-9]{1,9})\.model")
    return {int(match[1]): str(each) for each in Path(folder).iterdir() if (match := pattern.fullmatch(each.name))}
