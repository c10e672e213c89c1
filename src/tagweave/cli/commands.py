"""The list of commands in a help text."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperGroup


class Commands(TyperGroup):
    """Lists commands with the first sentence of what each tells of itself, on as many lines as that takes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write them as a list of definitions."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_sentence(command.help or "")) for name, command in commands if command])


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.]) (?=[A-Z])", " ".join(text.split("\n\n", maxsplit=1)[0].split()))[0]
