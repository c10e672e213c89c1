"""The command that takes pictures of the pages, and the pictures that it took."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reproductions.screenshots import study

Image = pytest.importorskip("PIL.Image", reason="pillow is not installed")

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "pictures"
PICTURES = sorted(FOLDER.glob("annotating-*.png"))


def test_without_chromium_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(study, "CHROMIUM", None)
    with pytest.raises(SystemExit, match="found no Chromium, expected Debian's package chromium"):
        study.main(["--out", str(tmp_path)])
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("is_there", [True, False])
def test_without_a_chinese_font_it_says_so(monkeypatch, tmp_path, is_there):
    (tmp_path / "fc-list").write_text(f"#!/bin/sh\n{'exit 0' if is_there else 'exit 1'}\n")  # lists nothing
    (tmp_path / "fc-list").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(study, "CHROMIUM", "/usr/bin/chromium")
    if not is_there:
        (tmp_path / "fc-list").unlink()
    with pytest.raises(SystemExit, match=r"found no font with Chinese characters.*fonts-noto-cjk"):
        study.main(["--out", str(tmp_path)])
    assert not [*tmp_path.glob("*.png")]


def test_every_picture_is_shown_and_every_one_shown_is_there():
    text = (DOCS / "annotating.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]{20,}\]\(pictures/(annotating-[a-z-]+\.png)\)", text)  # each is described, too
    assert sorted(shown) == [path.name for path in PICTURES]
    assert len(shown) >= 8


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_pictures_are_small_and_of_a_known_width(path):
    assert path.stat().st_size < 100_000
    with Image.open(path) as picture:
        assert picture.width in {1280, 390}
        assert 0 < picture.height < 2000
