"""docs/cli.md has a section and an example for every command, and no other."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pages import section, text_of

_PAGE = text_of("docs/cli.md")
_COMMANDS = re.findall(r"^## `tagweave ([\w ]+)`$", _PAGE, re.MULTILINE)
_GROUPS = ("annotate", "data", "harvest")


def commands_of(*group: str) -> list[str]:
    """The commands that the help of a group lists, those of groups in it included."""
    arguments = [sys.executable, "-m", "tagweave", *group, "--help"]
    shown = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^  (\w+) ", shown.partition("--help ")[2], re.MULTILINE)
    assert listed
    return [each for name in listed for each in (commands_of(name) if name in _GROUPS else [" ".join((*group, name))])]


def test_every_command_has_a_section() -> None:
    assert sorted(_COMMANDS) == sorted(commands_of())


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_has_an_example(command: str) -> None:
    assert f"$ tagweave {command}" in section(_PAGE, f"`tagweave {command}`")
