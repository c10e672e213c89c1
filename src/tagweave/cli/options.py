"""Options of commands: made from the fields of classes of options, and those that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer

from tagweave.cli.commands import show_all
from tagweave.cli.console import FLAGS, OptionError, in_flags
from tagweave.front.options import ManyFilesOptions
from tagweave.options import INT8, SEED, THREADS, Declared, choices, declared, value_of

Command = TypeVar("Command", bound=Callable[..., None])
_LAST = ("threads", "int8", "help_all")
"""Parameters of commands that stand behind those of `taking` in help texts."""


def flag(
    metavar: str,
    text: str,
    *names: str,
    least: float | None = None,
    most: float | None = None,
    panel: str | None = None,
) -> Any:
    """An option of one command, by default named as its parameter."""
    return typer.Option(*names, metavar=metavar, help=text, min=least, max=most, rich_help_panel=panel)


def switch(text: str, *names: str, panel: str | None = None) -> Any:
    """An option that is on or off; without names, its parameter has a flag for each."""
    return typer.Option(*names, help=text, rich_help_panel=panel)


def argument(metavar: str, text: str) -> Any:
    """An argument of a command."""
    return typer.Argument(metavar=metavar, help=text)


def taking(
    options: Iterable[Declared],
    flags: Mapping[str, str] | None = None,
    panel: Callable[[Declared], str] | None = None,
    settings: Container[str] = (),
) -> Callable[[Command], Command]:
    """Give a command a parameter for every option, in place of its `**`; `chosen` returns those that the user set.

    Args:
        options: the options.
        flags: flags of options that are not named like the field, beside `FLAGS`.
        panel: the heading of an option in help texts.
        settings: options that help texts name, and `--set` sets.
    """
    added = [
        inspect.Parameter(
            declaration.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if declaration.kind is bool else None,
            annotation=Annotated[
                _typed(declaration.kind),
                info(declaration, (flags or {}).get(declaration.name), panel and panel(declaration), settings),
            ],
        )
        for declaration in options
    ]

    def extended(command: Command) -> Command:
        command_signature = inspect.signature(command, eval_str=True)
        named = [
            parameter
            for parameter in command_signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        position = next((number for number, parameter in enumerate(named) if parameter.name in _LAST), len(named))
        last = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in named[position:]]
        command.__signature__ = command_signature.replace(parameters=[*named[:position], *added, *last])  # type: ignore[attr-defined]
        return command

    return extended


def info(
    declaration: Declared, flag: str | None = None, panel: str | None = None, settings: Container[str] = ()
) -> Any:
    """An option for the command line."""
    flag = f"--{flag or FLAGS.get(declaration.name, declaration.name).replace('_', '-')}"
    about: dict[str, Any] = {
        "help": in_flags(declaration.help, settings=lambda: settings),
        "show_default": False,
    }
    about["rich_help_panel"] = panel or declaration.about["panel"] or None
    if declaration.kind is not bool:
        about["metavar"] = declaration.about["metavar"] or "|".join(choices(declaration.kind))
        about |= {"min": declaration.about["least"], "max": declaration.about["most"]}
    elif declaration.default:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    return typer.Option(flag, **about)


def _typed(kind: Any) -> Any:
    """Return the type of an option on the command line, where `None` means that the user did not set it."""
    if kind is bool:
        return bool
    alternatives = [
        alternative
        for alternative in (get_args(kind) if type(None) in get_args(kind) else (kind,))
        if alternative is not type(None)
    ]
    if any(
        get_origin(nested) in (tuple, Sequence)
        for alternative in alternatives
        for nested in (alternative, *get_args(alternative))
    ):
        return str | None if kind == tuple[float, ...] else list[str] | None
    numbers = [alternative for alternative in alternatives if alternative in (int, float)]
    return numbers[0] | None if numbers and str not in alternatives else str | None


def chosen(values: Mapping[str, Any], options: Iterable[Declared]) -> dict[str, Any]:
    """Return the options that the user set."""
    set_values = {}
    for declaration in options:
        value = values.get(declaration.name)
        if value in (None, [], "") or (declaration.kind is bool and value == declaration.default):
            continue
        set_values[declaration.name] = (
            numbers(declaration.name, str(value)) if declaration.kind == tuple[float, ...] else value
        )
    return set_values


def pairs(name: str, texts: Iterable[str] | None) -> dict[str, str]:
    """Read the values of a repeatable option, each NAME=VALUE."""
    values = {}
    for text in texts or ():
        key, equals, values[key] = text.rpartition("=")
        if not equals:
            raise OptionError(f"found --{name} {text}, expected NAME=VALUE")
    return values


def setting(declaration: Declared, text: str) -> Any:
    """Read the value of an option that `--set NAME=VALUE` sets."""
    about = declaration.about
    return value_of(declaration.name, text, declaration.kind, about["least"], about["most"], is_text=True)


def numbers(name: str, text: str) -> list[float]:
    """Read the value of an option, numbers with commas between them."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise OptionError(f"found --{name.replace('_', '-')} {text}, expected numbers, as in 0,0.3") from None


Model = Annotated[str, argument("MODEL", "A model of `tagweave train`, or hf:OWNER/NAME.")]
Output = Annotated[str, flag("FILE", "- is standard output.", "-o", "--output")]
Threads = Annotated[int, info(Declared("threads", int, {"": THREADS}))]
Int8 = Annotated[bool, info(Declared("int8", bool, {"": INT8}))]
Seed = Annotated[int, info(Declared("seed", int, {"": SEED}))]
InputFormat = Annotated[
    str | None, flag("FORMAT", "The format of the input, if its name does not imply it.", "--format")
]
OutputFormat = Annotated[str | None, flag("FORMAT", "The format of the output. Default: by its name, or the input's.")]
Sources = Annotated[
    str | None,
    flag(
        "COLUMNS|files",
        "What is a source of annotation: columns by number (3: is the third to the last, 2,4:6 some of them) or by"
        " name; or every file, of the same text.",
    ),
]
HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=show_all, help="Show all options, by what they are about.")
]
AsJson = Annotated[bool, switch("JSON instead of tables.", "--json")]


MANY_FILES = declared({"": ManyFilesOptions})
"""Options of commands that take many files."""
