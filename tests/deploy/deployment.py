"""What tests of `deploy/` share: its files, and the lines of them that call the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from typer.main import get_command

from tagweave.cli.main import application

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


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words begin with, in its groups, and the rest of the words.

    Raises:
        click.UsageError: there is no such command.
    """
    command, rest = get_command(application([words[0]])), words
    context: Any = command.make_context("tagweave", [words[0], "--help"], resilient_parsing=True)
    while hasattr(command, "resolve_command"):
        _, command, rest = command.resolve_command(context, list(rest))
        context = command.context_class(command, parent=context)
    return command, rest


def default_of(option: str, *names: str) -> Any:
    """The default of an option of a command."""
    command, _ = command_of(list(names))
    return next(each.default for each in command.params if each.name == option)
