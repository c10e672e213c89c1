"""The command that takes pictures of the pages, and the pictures that it took."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

Image = pytest.importorskip("PIL.Image", reason="pillow is not installed")

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "pictures"
PICTURES = sorted(FOLDER.glob("annotating-*.png"))


def test_every_picture_is_shown_and_every_one_shown_is_there():
    text = (DOCS / "annotating.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]{20,}\]\(pictures/(annotating-[a-z-]+\.png)\)", text)  # each is described, too
    assert sorted(shown) == [path.name for path in PICTURES]
    assert len(shown) >= 8
