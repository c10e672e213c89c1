"""Every call of the program in `deploy/` and docs/deployment.md has a command and options that exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from deployment import FOLDER, ROOT, command_of

_BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def words_of_calls(text: str) -> Iterator[list[str]]:
    """The arguments of every call in lines of shell."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        for at, word in enumerate(words):
            if word == "tagweave" and (at == 0 or words[at - 1] in {"--", "|", "time", "tagweave"}):
                yield words[at + 1 :]


def calls() -> Iterator[list[str]]:
    for line in re.findall(r"^RUN (tagweave .*)$", (FOLDER / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE):
        yield from words_of_calls(line)
    for block in _BLOCK.findall((ROOT / "docs/deployment.md").read_text(encoding="utf-8")):
        yield from words_of_calls(block)


def parse(words: list[str]) -> list[str]:
    """Parse a call without running it; returns what is left over.

    Raises:
        click.UsageError: there is no such command or option.
    """
    command, rest = command_of(words)
    return list(command.make_parser(command.context_class(command)).parse_args(list(rest))[1])


@pytest.mark.parametrize("words", list(calls()), ids=" ".join)
def test_calls_can_be_parsed(words: list[str]) -> None:
    parse(words)
