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
    """The arrays and the description of a model file."""
    with safe_open(model, "numpy") as file:
        arrays = {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118
        return arrays, json.loads(file.metadata()["tagweave"])


def corpora_of(about: dict[str, Any]) -> list[dict[str, Any]]:
    """The training corpora of the plan that a model tells of."""
    return [*about["plan"]["target"], *about["plan"]["sources"]]
