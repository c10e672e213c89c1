"""Command-line options of the training methods, made from their fields, with a help panel for each method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand

from tagweave.cli.errors import OptionError, in_flags
from tagweave.structures.kinds import CHAIN, TREE
from tagweave.training.methods import METHODS, SINGLE, serving, usual
from tagweave.training.options import choices

_USUAL = "Options"

Method = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(METHODS),
        help=f"How to combine corpora. {'; '.join(f'{each.name}: {each.summary}' for each in METHODS.values())}."
        f" For parsers: {', '.join(serving(TREE))}. Default: {SINGLE}, and with a --source of another guideline"
        f" {usual(CHAIN)}, for parsers {usual(TREE)}.",
        rich_help_panel="Corpora",
    ),
]


class InPanels(TyperCommand):
    """A command whose help lists options under the titles of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each panel, in order."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            usual = "Arguments" if isinstance(param, TyperArgument) else _USUAL
            if record := param.get_help_record(ctx):
                panels.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        for title in sorted(panels, key=lambda title: title == _USUAL):  # --help comes last
            with formatter.section(title):
                formatter.write_dl(panels[title])


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a parameter for every option of every method; they arrive as keyword arguments."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    about: Any = command
    about.__signature__, about.command_class = signature.replace(parameters=[*own, *_parameters()]), InPanels
    return command


def user_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of methods that the user set.

    Raises:
        OptionError: a value that should be a list of numbers and is not.
    """
    nonempty = {name: value for name, value in values.items() if value or (value == 0 and value is not False)}
    return {
        name: _numbers(name, value) if _KINDS[name] == tuple[float, ...] else value for name, value in nonempty.items()
    }


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"found --{_dashed(name)} {text}, expected numbers, as in 0,0.3") from None


def _kinds() -> dict[str, Any]:
    """The type of every option: methods that share a name share its type."""
    return {name: kind for method in METHODS.values() for name, kind in get_type_hints(method.options).items()}


_KINDS = _kinds()


def _parameters() -> list[inspect.Parameter]:
    methods: dict[str, dict[str, Field[Any]]] = {}
    for method in METHODS.values():
        for each in fields(method.options):
            methods.setdefault(each.name, {})[method.name] = each
    return [_parameter(name, own) for name, own in methods.items()]


def _parameter(name: str, own: Mapping[str, Field[Any]]) -> inspect.Parameter:
    first, kind = next(iter(own.values())), _KINDS[name]
    flags = [f"--{_dashed(name)}"]
    metavar = first.metadata["metavar"] or "|".join(choices(kind))
    least, most = first.metadata["least"], first.metadata["most"]
    about: dict[str, Any] = {"help": _help(own), "rich_help_panel": f"Method {' or '.join(own)}"}
    if kind is not bool:
        about |= {"metavar": metavar, "min": least, "max": most}
    annotation: Any = Annotated.__class_getitem__((_typed(kind), typer.Option(*flags, **about)))  # type: ignore[attr-defined]
    default = False if kind is bool else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typed(kind: Any) -> Any:
    """The type of the option on the command line; it is `None` where it is not given."""
    if kind is bool:
        return bool
    if kind == tuple[str, ...]:
        return list[str] | None
    if str in get_args(kind):
        return str | None
    plain = [each for each in (get_args(kind) if type(None) in get_args(kind) else (kind,)) if each in (int, float)]
    return (plain[0] | None) if plain else str | None


def _help(own: Mapping[str, Field[Any]]) -> str:
    """The help and the default of an option, by method if they differ."""
    texts = {method: _with_default(each) for method, each in own.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return " ".join(f"{method.capitalize()}: {text}" for method, text in texts.items())


def _with_default(each: Field[Any]) -> str:
    text, default = in_flags(str(each.metadata["help"])), each.default
    if default in (None, False, ()) or "Default:" in text:
        return text
    shown = ",".join(f"{value:g}" for value in default) if isinstance(default, tuple) else default
    return f"{text} Default: {shown}."


def _dashed(name: str) -> str:
    return name.replace("_", "-")
