"""What tests of `deploy/` share: its files, and the lines of them that call the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.main import get_command

from tagweave.cli.main import application

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy"


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
