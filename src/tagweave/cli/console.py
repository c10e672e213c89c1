"""What commands say and refuse: messages with flags, checks of outputs, and exit codes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tagweave.corpus.characters import printable
from tagweave.errors import TagweaveError

if TYPE_CHECKING:
    from tagweave.learning.run import Callback

_FIELD = re.compile(r"`([a-z][a-z_]*)(?:=([^`]*))?`")
FLAGS = {
    "sources": "source",
    "settings": "set",
    "templates": "template",
    "lexicons": "lexicon",
    "gazetteers": "gazetteer",
    "elsewhere": "else",
    "start": "from",
}
"""Options that the command line calls otherwise than Python calls the field."""

USAGE = 2
"""The exit code for wrong input or options."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells: 128 + SIGINT."""
BROKEN_PIPE = 141
"""The exit code if the reader of the output has closed it, as in shells: 128 + SIGPIPE."""


def in_flags(
    text: str, known: Callable[[], Container[str]] | None = None, settings: Callable[[], Container[str]] = frozenset
) -> str:
    """Return a message of the library, which names fields, for the command line: `top_k=3` becomes --top-k 3.

    Args:
        text: the message.
        known: gives the flags that there are; other fields stay as they are. By default every field has a flag.
        settings: gives the fields that `--set NAME=VALUE` sets.
    """

    def flag(match: re.Match[str]) -> str:
        name, value = match.groups()
        spelled = f"--{FLAGS.get(name, name).replace('_', '-')}"
        has_flag = known is not None and spelled in known()
        if not has_flag and name in settings():
            return f"--set {name}" if value is None else f"--set {name}={value}"
        if not has_flag and known is not None:
            return match.group()
        return spelled if value is None else f"{spelled} {value}"

    return _FIELD.sub(flag, text)


class OptionError(TagweaveError):
    """An option or argument with a wrong value."""


@contextmanager
def as_option_error() -> Iterator[None]:
    """Raise a `ValueError` from a check of option values as an `OptionError`."""
    try:
        yield
    except ValueError as error:
        raise OptionError(str(error)) from error


def show(line: str) -> None:
    """Print a line on standard output; unlike `typer.echo`, in its encoding, whichever that is."""
    print(printable(line))


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None], devices: bool = True) -> None:
    """Raise OptionError where a file is written that is read, or one is written twice; OSError if it cannot be written.

    Outputs that are `None` or `-` are no files; inputs may be corpus arguments. `devices`: whether an output may be a
    device or a pipe.
    """
    from tagweave.corpus.files import check_writable
    from tagweave.corpus.load import parse_argument

    read = {os.path.realpath(parse_argument(path).path) for path in inputs if path}
    written: set[str] = set()
    for output in outputs:
        if output:
            check_writable(output, devices)
        # a pipe or a device stays what it is
        if not output or output == "-" or (Path(output).exists() and not Path(output).is_file()):
            continue
        if (real := os.path.realpath(output)) in read:
            raise OptionError(f"{output}: found a file that is read as the output, expected another name")
        if real in written:
            raise OptionError(f"{output}: found one file for two outputs, expected two names")
        written.add(real)


@contextmanager
def training_callback(log: str | None, resume: bool) -> Iterator[Callback]:
    """A callback that reports iterations on standard error and in a log, which a resumed run continues."""
    from rich.console import Console as StandardConsole

    from tagweave.learning.progress import Callbacks, console_callback, log_callback

    with ExitStack() as stack:
        callbacks = [stack.enter_context(log_callback(Path(log), resume))] if log else []
        callbacks.append(stack.enter_context(console_callback(StandardConsole(stderr=True))))
        yield Callbacks(callbacks)
