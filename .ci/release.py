"""Whether a release may be made: the tag, the version, the changelog, the citation and the addresses agree.

    python .ci/release.py v0.1.0 https://example.org/owner/name

Prints what does not, one line each, and then exits with 1. Needs Python alone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, repository: str, root: Path = ROOT) -> Iterator[str]:
    """What is wrong, as lines with what was found and what was expected."""

    def read(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    version = found(r'^__version__ = "(.+)"$', read("src/tagweave/version.py"))
    if tag != f"v{version}":
        yield f"src/tagweave/version.py: found the version {version}, expected that of the tag {tag}"
    if not re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", read("CHANGELOG.md"), re.MULTILINE):
        yield f"CHANGELOG.md: found no section of this version, expected '## {version} - YYYY-MM-DD'"
    cited = found(r"^version: (.+)$", read("CITATION.cff"))
    if cited != version:
        yield f"CITATION.cff: found the version {cited}, expected {version}"
    address = tomllib.loads(read("pyproject.toml"))["project"].get("urls", {}).get("Source")
    if address != repository:
        yield f"pyproject.toml: found the address {address} (project.urls, Source), expected {repository}"


def found(pattern: str, text: str) -> str:
    """What a line of a text says; "none" without such a line."""
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else "none"


if __name__ == "__main__":
    if lines := list(problems(*sys.argv[1:3])):
        sys.exit("\n".join(lines))
