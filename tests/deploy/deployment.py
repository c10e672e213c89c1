"""What tests of `deploy/` share: its files, and the lines of them that call the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy"


def documents(name: str) -> list[Any]:
    """The documents of a YAML file."""
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


def pinned(package: str) -> str:
    """The version of a package in the constraints, which the image installs."""
    match = re.search(rf"^{package}==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert match, package
    return match[1]


def mappings(node: Any) -> Iterator[dict[str, Any]]:
    """All mappings in a document."""
    if isinstance(node, dict):
        yield node
        for each in node.values():
            yield from mappings(each)
    elif isinstance(node, list):
        for each in node:
            yield from mappings(each)
