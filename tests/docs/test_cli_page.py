"""docs/cli.md has a section and an example for every command, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from pages import section, text_of

from tagweave.cli.main import COMMANDS, application

_PAGE = text_of("docs/cli.md")
_SECTIONS = re.findall(r"^## `tagweave ([\w ]+)`$", _PAGE, re.MULTILINE)


def names_of(command: Any, name: str) -> Iterator[str]:
    """The name of a command; of a group, the names of its commands."""
    if hasattr(command, "list_commands"):
        for inner in command.list_commands(typer.Context(command)):
            yield f"{name} {inner}"
    else:
        yield name


def test_every_command_has_a_section() -> None:
    names: list[str] = []
    for name in COMMANDS:
        commands: Any = typer.main.get_command(application([name]))
        names.extend(names_of(commands.get_command(typer.Context(commands), name), name))
    assert sorted(_SECTIONS) == sorted(names)


def test_every_command_has_an_example() -> None:
    assert [name for name in _SECTIONS if f"$ tagweave {name}" not in section(_PAGE, f"`tagweave {name}`")] == []
