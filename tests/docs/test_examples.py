"""Every example of the documentation runs, and prints what the page says it prints.

The blocks of a page run in order in one folder: those that name a file write it, `console` blocks run command by
command, `python` blocks are sessions of one interpreter. `...` in expected output stands for any text; a command
without output under it may print anything. A test is a section of a page; it runs the sections before it, unless they
ran in the same process already. `make test` runs the examples of the pages that are read most, `make test-all` and
`make docs` those of all pages.
"""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from command_server import command_server
from pages import PAGES, Block, blocks, text_of

from tagweave.kernels.compiled_code import COMPILING

_COMPILING = f"tagweave: {COMPILING}\n"
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_TIMEOUT = 240  # less than that of a test, so that the command is named
_RUNS = ("console", "python")
_SHOWS = ("text", "sh", "json", "ini", "nginx", "")


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
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "PYTHONWARNINGS": "error"}
    for command in commands(block):
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
            output = done.stdout.replace(_COMPILING, "")
            assert doctest.OutputChecker().check_output(command.output, output, _FLAGS), shown


def run_python(block: Block, names: dict[str, object], page: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line)
    assert test.examples, f"no >>> in the block of line {block.line}"
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=_FLAGS, verbose=False).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, "".join(said)


@dataclass
class Page:
    """How far the examples of a page have run, in a folder of their own."""

    name: str
    folder: Path
    blocks: list[Block]
    names: dict[str, object] = field(default_factory=dict)

    def run_to(self, section: str) -> None:
        """Run what has not run yet, up to the end of a section."""
        last = max((at for at, block in enumerate(self.blocks) if block.section == section), default=-1)
        todo, self.blocks = self.blocks[: last + 1], self.blocks[last + 1 :]
        for block in todo:
            self.run(block)

    def run(self, block: Block) -> None:
        if block.file:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            run_console(block, self.folder)
        elif block.language == "python":
            run_python(block, self.names, self.name)


@pytest.fixture(scope="module", autouse=True)
def commands_of_the_shell() -> Iterator[None]:
    """A quick `tagweave`, and the Python of these tests, on the path."""
    with command_server() as programs, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join((programs, str(Path(sys.executable).parent), os.environ["PATH"])))
        yield


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    """Each page with its examples."""
    return {page: Page(page, tmp_path_factory.mktemp("page"), blocks(text_of(page))) for page in PAGES}


_READ_MOST = (
    "README.md",
    "docs/index.md",
    "docs/evidence.md",
    "docs/formats.md",
    "docs/tutorials/partial.md",
)
"""The pages whose examples `make test` runs; the examples of the others are marked as slow."""
_SECTIONS = [
    pytest.param(page, section, marks=() if page.startswith(_READ_MOST) else pytest.mark.slow)
    for page in PAGES
    for section in dict.fromkeys(each.section for each in blocks(text_of(page)))
]


@pytest.mark.parametrize(("page", "section"), _SECTIONS)
def test_examples_run(page: str, section: str, pages: dict[str, Page], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pages[page].folder)
    pages[page].run_to(section)


def test_every_block_says_what_it_is() -> None:
    for page, block in [(name, block) for name in PAGES for block in blocks(text_of(name))]:
        where = f"{page}:{block.line}"
        assert block.language in _RUNS + _SHOWS, f"{where}: a language that this test knows"
        assert block.language != "python" or ">>> " in block.text, f"{where}: a session with >>>"
        assert block.language != "console" or block.text.startswith("$ "), f"{where}: a command after $"
        assert not block.file or f"`{block.file}`" in text_of(page), f"{where}: a file that the text names"
