"""Every example of the documentation runs, and prints what the page says it prints.

The blocks of a page run in order in one folder: those that name a file write it, `console` blocks run command by
command, `python` blocks are sessions of one interpreter. `...` in expected output stands for any text; a command
without output under it may print anything.
"""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pages import PAGES, Block, blocks, text_of

if TYPE_CHECKING:
    from pathlib import Path

_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_TIMEOUT = 120
_RUNS = ("console", "python")
_SHOWS = ("text", "sh", "json", "")


class Command(NamedTuple):
    """A command line, and what it prints; nothing where the page does not say."""

    line: str
    output: str


def commands(block: Block) -> list[Command]:
    """The commands of a console block; a line that ends in a backslash goes on in the next one."""
    found: list[Command] = []
    goes_on = False
    for line in block.text.splitlines():
        if goes_on:
            found[-1] = found[-1]._replace(line=f"{found[-1].line}\n{line}")
        elif line.startswith("$ "):
            found.append(Command(line[2:], ""))
        else:
            found[-1] = found[-1]._replace(output=f"{found[-1].output}{line}\n")
        goes_on = line.endswith("\\") and not found[-1].output
    return found


def run_console(block: Block, folder: Path) -> None:
    for command in commands(block):
        environment = {
            **os.environ,
            "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ.get('PATH', '')}",  # noqa: PTH120
            "COLUMNS": "120",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "PYTHONWARNINGS": "error",
        }
        done = subprocess.run(
            ["bash", "-c", command.line],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
        shown = f"$ {command.line}\n{done.stdout}"
        assert done.returncode == 0, shown
        if command.output:
            assert doctest.OutputChecker().check_output(command.output, done.stdout, _FLAGS), shown


def run_python(block: Block, names: dict[str, object], page: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line)
    assert test.examples, f"no >>> in the block of line {block.line}"
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=_FLAGS, verbose=False).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(text_of(page))])
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(text_of(page)):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            run_console(block, tmp_path)
        elif block.language == "python":
            run_python(block, names, page)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page: str) -> None:
    for block in blocks(text_of(page)):
        where = f"{page}:{block.line}"
        assert block.language in _RUNS + _SHOWS, f"{where}: a language that this test knows"
        assert block.language != "python" or ">>> " in block.text, f"{where}: a session with >>>"
        assert block.language != "console" or block.text.startswith("$ "), f"{where}: a command after $"
        assert not block.file or f"`{block.file}`" in text_of(page), f"{where}: a file that the text names"


class TestConsoleBlocks:
    def test_a_command_may_go_on_and_print(self) -> None:
        found = commands(Block("console", "", "$ echo a \\\n    b\na b\n$ true\n", 1))
        assert found == [Command("echo a \\\n    b", "a b\n"), Command("true", "")]

    def test_other_output_fails(self, tmp_path: Path) -> None:
        run_console(Block("console", "", "$ echo one; echo two\none\n...\n", 1), tmp_path)
        with pytest.raises(AssertionError, match="echo one"):
            run_console(Block("console", "", "$ echo one\ntwo\n", 1), tmp_path)

    def test_a_command_that_fails_fails(self, tmp_path: Path) -> None:
        with pytest.raises(AssertionError, match="exit 3"):
            run_console(Block("console", "", "$ exit 3\n", 1), tmp_path)


class TestPythonBlocks:
    def test_names_stay_from_block_to_block(self) -> None:
        names: dict[str, object] = {}
        run_python(Block("python", "", ">>> number = 41\n", 1), names, "page")
        run_python(Block("python", "", ">>> number + 1\n42\n", 9), names, "page")

    def test_another_value_fails(self) -> None:
        with pytest.raises(AssertionError, match="Expected"):
            run_python(Block("python", "", ">>> 1 + 1\n3\n", 1), {}, "page")
