"""Runs a notebook in this process, by IPython without a kernel, which would take longer than the cells.

What a kernel adds is recorded: an output can be replaced while a cell runs, and every version of it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets import Type
from traitlets.config import Config


@dataclass
class Output:
    """What a cell prints, what it displays, and what its last line is worth, as MIME bundles."""

    stdout: str
    stderr: str
    displays: list[dict[str, Any]] = field(default_factory=list)

    @property
    def html(self) -> list[str]:
        """The displays in HTML; of one that was replaced, all versions."""
        return [each["data"]["text/html"] for each in self.displays if "text/html" in each["data"]]


class _Results(DisplayHook):
    """Keeps what the last line of a cell is worth, instead of printing it."""

    kept: ClassVar[list[dict[str, Any]]] = []

    def write_output_prompt(self) -> None:
        """Write nothing."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        self.kept.append(format_dict)


class _Shell(InteractiveShell):
    displayhook_class = Type(_Results)
    kernel = "none; but this is how progress tells a notebook from a terminal"


@contextmanager
def shell() -> Iterator[InteractiveShell]:
    """A shell that takes itself for a kernel's."""
    before = InteractiveShell._instance
    InteractiveShell.clear_instance()
    running = _Shell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    try:
        yield running
    finally:
        _Shell.clear_instance()
        InteractiveShell._instance = before


def run_cell(running: InteractiveShell, source: str) -> Output:
    """Run a cell.

    Raises:
        Exception: what the cell raises.
    """
    _Results.kept.clear()
    with capture_output() as captured:
        result = running.run_cell(source)
    result.raise_error()
    displays = [{"data": each.data, "update": each.update, "transient": each.transient} for each in captured.outputs]
    displays += [{"data": each, "update": False, "transient": {}} for each in _Results.kept]
    return Output(captured.stdout, captured.stderr, displays)


def run(path: Path) -> list[Output]:
    """The outputs of the code cells of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    with shell() as running:
        return [run_cell(running, cell.source) for cell in notebook.cells if cell.cell_type == "code"]
