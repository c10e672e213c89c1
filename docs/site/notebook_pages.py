"""Notebooks as pages of the site: their cells, and what the cells print and display when they run.

`mkdocs-jupyter` would do that, too, with thirty packages more: a kernel, its client, and a converter to ten formats.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

_RUNNER = Path(__file__).parents[2] / "tests" / "display"


def page(notebook: Path) -> str:
    """Run a notebook, and return it as Markdown.

    Raises:
        Exception: what a cell raises.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = iter(_outputs(notebook))
    return "\n\n".join(part for cell in cells for part in _parts(cell, outputs)) + "\n"


def _parts(cell: dict[str, Any], outputs: Iterator[Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    if found := next(outputs, None):
        yield from _shown(found)


def _shown(output: Any) -> Iterator[str]:
    """What a cell printed and displayed; of a display that was replaced, the last version."""
    last = {each["transient"].get("display_id", number): each for number, each in enumerate(output.displays)}
    if output.stdout:
        yield _plain(output.stdout)
    for each in last.values():
        yield each["data"].get("text/html") or _plain(each["data"]["text/plain"])


def _plain(text: str) -> str:
    return f'<pre style="overflow-x: auto">{escape(text)}</pre>'


def _outputs(notebook: Path) -> Sequence[Any]:
    """The outputs of its cells, by the runner of the tests."""
    sys.path.append(str(_RUNNER))
    from notebook_runner import run

    found: Sequence[Any] = run(notebook)
    return found
