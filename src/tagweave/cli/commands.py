"""Groups of commands: their list in help texts, and option values without Pydantic."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from typer.core import TyperGroup


class Commands(TyperGroup):
    """A group whose help lists each command with the whole first sentence of its help.

    Typer converts every value with Pydantic, whose import takes as long as everything else. Text does not need it.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command whose options take text unchanged."""
        command = super().get_command(ctx, cmd_name)
        _read_as_text(command.get_params(ctx) if command else ())
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the group, with text unchanged."""
        _read_as_text(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands as a list of definitions."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_sentence(command.help or "")) for name, command in commands if command])


def _read_as_text(parameters: Iterable[Any]) -> None:
    for parameter in parameters:
        if hasattr(parameter, "type_descriptor"):  # other versions of Typer do not use Pydantic
            parameter._runtime_param = _Text(parameter)


class _Text:
    """The values of a parameter: text and lists of text unchanged, all others by Typer's own conversion."""

    def __init__(self, parameter: Any) -> None:
        self._other = parameter._runtime_param

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value for the command."""
        annotation = param.type_descriptor.annotation
        is_several = param.multiple or param.nargs == -1
        if value is None:
            return () if is_several else None
        if annotation is str and isinstance(value, str):
            return value
        if annotation == list[str] and is_several and not isinstance(value, str):
            return list(value)
        if annotation is int and isinstance(value, int):  # a default
            return value
        if self._other is None:
            param._runtime_param = None
            self._other = param.get_runtime_param()
        return self._other.coerce(value, param=param, ctx=ctx)


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.]) (?=[A-Z])", " ".join(text.split("\n\n", maxsplit=1)[0].split()))[0]
