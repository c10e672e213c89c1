"""Files that appear whole: their permissions, links to them, and what is left of one that failed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tagweave.corpus.text_file import written
from tagweave.corpus.whole_file import whole_file

KINDS = ("text", "model")


def save(kind: str, path: Path) -> None:
    if kind == "text":
        with written(str(path)) as stream:
            stream.write("new")
    else:
        with whole_file(path) as part:
            save_file({"a": np.zeros(1)}, part)


@pytest.mark.parametrize("kind", KINDS)
def test_permissions_are_those_of_other_files(tmp_path: Path, kind: str) -> None:
    before = os.umask(0o027)
    try:
        save(kind, tmp_path / "new")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new").chmod(0o604)
    save(kind, tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o604


@pytest.mark.parametrize("kind", KINDS)
def test_links_are_written_through(tmp_path: Path, kind: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/file")
    (tmp_path / "outer").symlink_to("link")
    for link in ("link", "outer"):
        save(kind, tmp_path / link)
        assert (tmp_path / link).is_symlink() and not (tmp_path / "folder" / "file").is_symlink()
        assert (tmp_path / "folder" / "file").stat().st_size > 0
    assert {path.name for path in tmp_path.rglob("*")} == {"folder", "file", "link", "outer"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(error), whole_file(tmp_path / "file") as part:
        part.write_text("new")
        raise error
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"), whole_file(tmp_path / "pipe"):
        pass
    with pytest.raises(FileNotFoundError) as error, whole_file(tmp_path / "none" / "file"):
        pass
    assert error.value.filename == str(tmp_path / "none" / "file")
