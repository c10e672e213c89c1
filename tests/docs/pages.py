"""The pages of the documentation: README.md and what is under docs/, their fenced blocks and their links.

A block may name a file after its language (```text words.txt): that file holds the text of the block when the examples
of the page run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    if "results" not in path.parts
)
"""The pages whose examples run; those of docs/results are written by the commands that they name."""

_FENCE = re.compile(r"^```(\w*) ?(\S*)$")
_LINK = re.compile(r"\]\(([^()\s]+)\)|<img[^>]* src=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it names or nothing, its text, the line of its fence, and its section."""

    language: str
    file: str
    text: str
    line: int
    section: str = ""


def text_of(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    opening: tuple[str, str, int] | None = None
    held: list[str] = []
    heading = ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if fence and opening is None:
            opening, held = (fence[1], fence[2], number), []
        elif opening is not None and line == "```":
            found.append(Block(opening[0], opening[1], "".join(each + "\n" for each in held), opening[2], heading))
            opening = None
        elif opening is None and (match := _HEADING.match(line)):
            heading = match[1]
        else:
            held.append(line)
    assert opening is None, f"the block that begins in line {opening and opening[2]} does not end"
    return found


def prose(text: str) -> str:
    """The page without its fenced blocks."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def links(text: str) -> list[str]:
    """The targets of links and images."""
    return [one or other for one, other in _LINK.findall(prose(text))]


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    found = set()
    for heading in _HEADING.findall(prose(text)):
        kept = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(kept.replace(" ", "-"))
    return found


def section(text: str, heading: str) -> str:
    """The text under a heading of the second level, up to the next one."""
    _, _, rest = text.partition(f"\n## {heading}\n")
    assert rest, f"no section {heading!r}"
    return rest.partition("\n## ")[0]


def table(text: str) -> list[list[str]]:
    """The rows of the first table in a text, without its head, each a list of cells."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("|"))] for row in rows[2:]]
