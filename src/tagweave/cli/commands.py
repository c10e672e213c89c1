"""Groups of commands: their list in help texts, and option values without Pydantic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup


class Commands(TyperGroup):
    """A group whose help lists each command with the whole first sentence of its help.

    Typer converts every value with Pydantic, whose import takes as long as everything else. Text does not need it.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        _read_as_text(command.get_params(ctx) if command else ())
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _read_as_text(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            if command := self.get_command(ctx, name):
                row = (name, _first_sentence(command.help or ""))
                groups.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append(row)
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def group(name: str, help: str) -> typer.Typer:  # noqa: A002
    """Return a command that consists of others."""
    options: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None, "add_completion": False}
    return typer.Typer(name=name, cls=Commands, help=help, **options)


_ALL = "tagweave.cli.all"


def show_all(ctx: typer.Context, is_set: bool) -> None:
    """Show the help of a command with all of its options."""
    if is_set:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


class InPanels(TyperCommand):
    """A command of many options: `--help` shows the usual ones, `--help-all` all, under the titles of their panels."""

    usual: ClassVar[tuple[str, ...]] = ()
    """The parameters that `--help` shows beside arguments, in order; () for all of a command without `--help-all`."""
    settings: ClassVar[Mapping[str, str]] = {}
    """What `--set NAME=VALUE` sets beside settings of the learner, with the purpose of each; `--help-all` shows it."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        params = self.get_params(ctx)
        is_short = bool(self.usual) and not ctx.meta.get(_ALL)
        if is_short:
            names = [param.name for param in params if isinstance(param, TyperArgument)]
            by_name = {param.name: param for param in params}
            params = [by_name[name] for name in (*names, *self.usual, "help_all", "help")]
        for param in params:
            title = None if is_short else getattr(param, "rich_help_panel", None)
            if record := param.get_help_record(ctx):
                plain = "Arguments" if isinstance(param, TyperArgument) else "Options"
                panels.setdefault(title or plain, []).append(record)
        if not is_short and self.settings:
            panels["Further options, by --set NAME=VALUE"] = list(self.settings.items())
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _read_as_text(parameters: Iterable[Any]) -> None:
    for parameter in parameters:
        if hasattr(parameter, "type_descriptor"):  # other versions of Typer do not use Pydantic
            parameter._runtime_param = _Text(parameter)


class _Text:
    """The values of a parameter: text and lists of text unchanged, all others by Typer's own conversion."""

    def __init__(self, parameter: Any) -> None:
        self._other = parameter._runtime_param

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
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
