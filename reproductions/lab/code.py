"""Digests of code: of what runs, without docstrings, comments and blank lines."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Of the checkout."""


@cache
def code_digest(path: Path) -> str:
    """Return what tells the code of a file, or of all files in a folder, from that of others."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    found = hashlib.sha256()
    for file in files:
        found.update(file.relative_to(path.parent).as_posix().encode())
        found.update(running_lines(file.read_text(encoding="utf-8")).encode())
    return found.hexdigest()[:12]


def package_digest() -> str:
    """Return what tells the code of the package from earlier code."""
    return code_digest(ROOT / "src" / "tagweave")


def running_lines(text: str) -> str:
    """Return the lines of a program without docstrings, whole lines of comment, and blank lines."""
    lines = text.splitlines()
    for first, last in _docstrings(ast.parse(text)):
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line for line in lines if (bare := line.strip()) and not bare.startswith("#"))


def _docstrings(node: ast.AST) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of texts that stand as statements, in modules, classes and functions."""
    for each in getattr(node, "body", ()):
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str):
            yield each.lineno, each.end_lineno or each.lineno
        elif isinstance(each, ast.ClassDef | ast.FunctionDef):
            yield from _docstrings(each)
