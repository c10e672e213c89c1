"""The command `tagweave`. Each subcommand is a file in this folder and imports heavy modules only when it runs."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Container, Iterable
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Annotated, Any

import typer

from tagweave import streams
from tagweave.cli.commands import Commands, InPanels
from tagweave.cli.console import BROKEN_PIPE, INTERRUPTED, USAGE, in_flags
from tagweave.front.options import message
from tagweave.signals import ending_in_order
from tagweave.version import __version__

GROUPS = {
    "Train and use": {
        "train": "train",
        "tune": "train",
        "distill": "train",
        "tag": "use",
        "complete": "use",
        "why": "why",
        "info": "evaluate",
        "demo": "demo",
    },
    "Get annotation": {
        "annotate": "annotate",
        "harvest": "harvest",
        "label": "sources",
        "aggregate": "sources",
        "import": "exchange",
        "export": "exchange",
    },
    "Compare and convert": {"evaluate": "evaluate", "compare": "evaluate", "check": "evaluate", "convert": "use"},
    "Serve": {"serve": "serve", "warm": "demo"},
    "Share": {"card": "exchange", "push": "exchange", "pull": "exchange"},
}
"""The file of each command, by groups in the order of the help. The file has a function or a Typer of that name."""
COMMANDS = {name: file for group in GROUPS.values() for name, file in group.items()}
_GROUP_OF = {name: title for title, group in GROUPS.items() for name in group}
_WITHOUT_ARGUMENTS = {"demo", "warm"}
_FUNCTIONS = {"import": "import_documents", "export": "export_documents"}
"""Functions of commands whose names Python keeps for itself, or that say too little."""


class _Commands(Commands):
    """Runs a command, and turns errors that users can fix into one line and an exit code."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:  # of the help
            raise _broken_pipe() from None
        except OSError as error:
            typer.echo(f"tagweave: {message(_of_output(error))}", err=True)
            raise SystemExit(USAGE) from None

    def invoke(self, ctx: Any) -> Any:
        names = [*getattr(ctx, "_protected_args", ()), *ctx.args][:1]
        flags = cache(partial(_flags, super().get_command(ctx, *names) if names else self, ctx))
        spelled = partial(in_flags, known=flags, settings=lambda: _settings(flags()))
        before = streams.spelling
        streams.spelling = spelled
        try:
            value = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise _broken_pipe() from None
        except KeyboardInterrupt:
            typer.echo("tagweave: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError) as error:
            line = message(_of_output(error) if isinstance(error, OSError) else error)
            if line is None:
                raise
            typer.echo(f"tagweave: {spelled(line)}", err=True)
            raise typer.Exit(USAGE) from None
        finally:
            streams.spelling = before
        return value


def _broken_pipe() -> BaseException:
    """Return the end of a command whose reader has gone; what the interpreter flushes at exit has nowhere to go."""
    _discard()
    return SystemExit(BROKEN_PIPE)


def _of_output(error: OSError) -> OSError:
    """Return an error of a full disk that names no file as one of the output, whose rest is discarded."""
    if error.errno != errno.ENOSPC or error.filename is not None:
        return error
    _discard()
    return OSError(error.errno, error.strerror, "standard output")


def _discard() -> None:
    """Send what is left of the output to the null device."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _settings(flags: Container[str]) -> Container[str]:
    """Return the options that `--set` sets, where a command has it."""
    if "--set" not in flags:
        return ()
    from tagweave.cli.train import SETTINGS

    return SETTINGS


def _flags(command: Any, ctx: Any) -> set[str]:
    """Return the flags of a command and of its subcommands."""
    within = (
        [command.get_command(ctx, name) for name in command.list_commands(ctx)] if hasattr(command, "commands") else ()
    )
    flags = {option for param in command.get_params(ctx) for option in param.opts}
    return flags.union(*(_flags(subcommand, ctx) for subcommand in within))


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the command line with these commands alone: each takes time to build."""
    app = typer.Typer(
        cls=_Commands,
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help starts twice as fast
        pretty_exceptions_enable=False,
    )
    for name in names:
        command = getattr(import_module(f"tagweave.cli.{COMMANDS[name]}"), _FUNCTIONS.get(name, name))
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=_GROUP_OF[name])
        else:
            app.command(
                name,
                no_args_is_help=name not in _WITHOUT_ARGUMENTS,
                cls=getattr(command, "command_class", InPanels),
                rich_help_panel=_GROUP_OF[name],
            )(command)
    app.callback()(_tagweave)
    return app


def _show_version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"tagweave {__version__}")
        raise typer.Exit


def _tagweave(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Train taggers, segmenters and parsers from corpora that are incomplete, ambiguous or disagree, and use them."""


def main() -> None:
    """The entry point of the command line.

    SIGTERM acts as an interrupt, like Ctrl-C: half-written files are removed, and training keeps its best model. Then
    the process dies of the signal, as the sender expects.
    """
    _never_fail_to_print()
    with ending_in_order() as received:
        try:
            application([name for name in sys.argv[1:2] if name in COMMANDS] or COMMANDS)(prog_name="tagweave")
        finally:
            if signal.SIGTERM in received:
                for stream in (sys.stdout, sys.stderr):
                    with suppress(OSError, ValueError):
                        stream.flush()
                signal.raise_signal(signal.SIGTERM)


def _never_fail_to_print() -> None:
    """Let words be printed that the encoding of the output lacks.

    On Windows the encoding of files and pipes lacks most, so they get UTF-8, as corpora do everywhere. Elsewhere the
    environment is obeyed, and characters that its encoding lacks are spelled out.
    """
    encoding = "utf-8" if sys.platform == "win32" else None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
