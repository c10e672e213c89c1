"""Versions of a model in a folder: `NAME-3.model` is a training, `NAME-3.5.model` the fifth correction after it.

A correction holds those before it, and replaces their file. Files appear whole, so whoever looks for the newest version
sees the old one or the new one; a file that is gone before it is read has a newer one.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from tagweave.models.chain import ChainModel
from tagweave.models.storage import save_model

_NUMBERS = r"-([0-9]{1,9})(?:\.([0-9]{1,9}))?\.model"


def newest(folder: str | Path | None, name: str) -> str | None:
    """Return the file of the newest version; `None` if there is none."""
    versions = _versions(folder, name)
    return versions[max(versions)] if versions else None


def next_version(folder: Path, name: str) -> str:
    """Return the name of the file of the next training."""
    return f"{name}-{max(_versions(folder, name), default=(0, 0))[0] + 1}.model"


def is_correction(path: str | Path, name: str | None = None) -> bool:
    """Return whether a file is a correction, by its name, and of the model of this name."""
    numbers = re.fullmatch((".*" if name is None else re.escape(name)) + _NUMBERS, Path(path).name)
    return numbers is not None and numbers[2] is not None


def save_correction(model: ChainModel, folder: str | Path, name: str, before: str | None) -> str:
    """Write a correction of the version `before`, of 0 if that is none of the folder; return its file."""
    numbers = re.fullmatch(re.escape(name) + _NUMBERS, Path(before or "").name)
    version, correction = (int(numbers[1]), int(numbers[2] or 0)) if numbers else (0, 0)
    path = Path(folder, f"{name}-{version}.{correction + 1}.model")
    save_model(model, path)
    return str(path)


def remove_corrections(folder: str | Path, name: str, but: str | None) -> None:
    """Remove all corrections but one: those that a newer one, or a training, holds."""
    for (_, correction), path in _versions(folder, name).items():
        if correction and Path(path).name != Path(but or "").name:
            Path(path).unlink(missing_ok=True)


def remove_outdated(folder: str | Path, name: str, first: str) -> None:
    """Remove the corrections of a first model if its file has been replaced since."""
    versions = _versions(folder, name)
    last = max(versions, default=(1, 0))
    with suppress(FileNotFoundError):  # a first model on a hub, or a correction that another process has replaced
        if not last[0] and Path(first).stat().st_mtime > Path(versions[last]).stat().st_mtime:
            remove_corrections(folder, name, None)


def _versions(folder: str | Path | None, name: str) -> dict[tuple[int, int], str]:
    """Return files by the number of their training, 0 for the first model, and of their correction, 0 for none."""
    if folder is None or not Path(folder).is_dir():
        return {}
    pattern = re.compile(re.escape(name) + _NUMBERS)
    matches = ((pattern.fullmatch(path.name), str(path)) for path in Path(folder).iterdir())
    return {(int(match[1]), int(match[2] or 0)): path for match, path in matches if match}
