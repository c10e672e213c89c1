"""docs/cli.md has every command of the program and every option of every command, and no other."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pages import section, table, text_of

_PAGE = text_of("docs/cli.md")
_COMMANDS = re.findall(r"^## `tagweave ([\w ]+)`$", _PAGE, re.MULTILINE)
_GROUPS = ("annotate", "data", "harvest")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])\b")


def shown_by_help(*command: str) -> str:
    arguments = [sys.executable, "-c", "from tagweave.cli.main import main; main()", *command, "--help"]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def options_of(command: str) -> set[str]:
    """The options at the beginning of the lines of a command's help."""
    lines = shown_by_help(*command.split()).splitlines()
    starts = [line.strip().split("  ")[0] for line in lines if line.startswith("  -")]
    return {option for start in starts for option in _OPTION.findall(start)} - {"--help"}


def commands_of(*group: str) -> list[str]:
    """The commands that the help of a group lists, those of groups in it included."""
    listed = re.findall(r"^  (\w+) ", shown_by_help(*group).partition("Commands:")[2], re.MULTILINE)
    assert listed
    return [each for name in listed for each in (commands_of(name) if name in _GROUPS else [" ".join((*group, name))])]


def test_every_command_has_a_section() -> None:
    assert sorted(_COMMANDS) == sorted(commands_of())


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_option_is_described(command: str) -> None:
    described = section(_PAGE, f"`tagweave {command}`")
    rows = table(described) if "| option |" in described else []
    assert {option for row in rows for option in _OPTION.findall(row[0])} == options_of(command)


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_has_an_example(command: str) -> None:
    assert f"$ tagweave {command}" in section(_PAGE, f"`tagweave {command}`")
