"""Files that tests write, and models as they compare them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safetensors import safe_open


def write(file: Path, lines: Iterable[str]) -> Path:
    """A file of these lines."""
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def contents(model: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """All of a model file but the date and the seconds."""
    with safe_open(model, "numpy") as file:
        arrays = {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118
        description = json.loads(file.metadata()["tagweave"])
    assert {"date", "seconds"} <= set(description["about"])
    del description["digest"]  # of the date, too
    for changing in ("date", "seconds"):
        del description["about"][changing]
    return arrays, description


def corpora_of(about: dict[str, Any]) -> list[dict[str, Any]]:
    """The training corpora of the plan that a model tells of."""
    return [*about["plan"]["target"], *about["plan"]["sources"]]
