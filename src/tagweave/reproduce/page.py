"""Pages of results: numbers as JSON, Markdown drawn from those, and what people wrote below."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tagweave.corpus.text_file import written

DISCUSSION = "## Discussion"
"""From this line on a page is written by hand, and no command changes it."""


def write_page(folder: Path, name: str, summary: dict[str, Any], lines: Iterable[str]) -> None:
    """Write `name`.json and `name`.md into a folder; the discussion of an earlier page stays.

    Raises:
        OSError: a file cannot be written.
    """
    with written(str(folder / f"{name}.json")) as stream:
        stream.write(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    page = folder / f"{name}.md"
    kept = page.read_text(encoding="utf-8").partition(f"\n{DISCUSSION}")[2] if page.exists() else ""
    with written(str(page)) as stream:
        stream.writelines(f"{line}\n" for line in lines)
        stream.write(f"\n{DISCUSSION}{kept}" if kept else "")


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """The lines of a table."""
    return [_row(head), "|" + "---|" * len(head), *map(_row, rows), ""]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
