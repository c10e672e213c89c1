"""Files of exports, broken zips and bombs among them."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

import tagweave as tw
from tagweave.errors import CorpusError
from tagweave.exchange import members as module
from tagweave.exchange.members import members


def packed(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in files.items():
            zipped.writestr(name, data)
    return stream.getvalue()


def written(folder: Path, data: bytes) -> str:
    (folder / "x.zip").write_bytes(data)
    return str(folder / "x.zip")


def test_zips_and_folders(tmp_path: Path) -> None:
    path = written(tmp_path, packed({"b/c.txt": b"1", "a.zip": packed({"d.txt": b"2"}), "e.bin": b"3", "f.txt/": b""}))
    assert [(str(each.name), each.data) for each in members(path, ".txt")] == [("b/c.txt", b"1")]
    (tmp_path / "y.txt").write_bytes(b"4")
    assert [each.data for each in members(str(tmp_path), ".txt")] == [b"4"]


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 1000)
    with pytest.raises(CorpusError, match=r"x.zip/a.txt: found 10,000 bytes, expected at most 1,000"):
        list(members(written(tmp_path, packed({"a.txt": bytes(10_000)})), ".txt"))
    monkeypatch.setattr(module, "_MOST", 1)
    with pytest.raises(CorpusError, match="found 2 files, expected at most 1"):
        list(members(written(tmp_path, packed({"a": b"", "b": b""})), ".txt"))


def test_broken(tmp_path: Path) -> None:
    data = bytearray(packed({"a.txt": b"some text of some length" * 9}))
    data[40] ^= 0xFF
    with pytest.raises(CorpusError, match=r"x.zip/a.txt: found a broken zip"):
        list(members(written(tmp_path, bytes(data)), ".txt"))


class TestLinks:
    """Whoever sends a folder must not show us another file of ours."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "secret").write_text("the secret")
        (tmp_path / "x").mkdir()
        return tmp_path / "x"

    @pytest.mark.parametrize("is_folder", [False, True])
    def test_in_folders_are_refused(self, folder: Path, is_folder: bool) -> None:
        (folder / "a.txt").symlink_to(folder.parent if is_folder else folder.parent / "secret")
        with pytest.raises(CorpusError, match=r"x/a.txt: found a symbolic link, expected the file itself"):
            list(members(str(folder), ".txt"))

    @pytest.mark.parametrize(
        ("tool", "link", "named"),
        [
            ("brat", "a.ann", "a.txt"),
            ("brat", "a.txt", "a.ann"),
            ("datasets", "dataset_info.json", "a.jsonl"),
        ],
    )
    def test_beside_a_file_are_refused(self, folder: Path, tool: str, link: str, named: str) -> None:
        (folder / link).symlink_to(folder.parent / "secret")
        (folder / named).write_text('{"tokens": ["a"]}' if tool == "datasets" else "a")
        with pytest.raises(CorpusError, match=f"{link}: found a symbolic link"):
            tw.read_documents(tool, folder / named)

    def test_in_zips_are_refused(self, tmp_path: Path) -> None:
        info = zipfile.ZipInfo("a.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as zipped:
            zipped.writestr(info, "/etc/passwd")
        with pytest.raises(CorpusError, match=r"x.zip/a.txt: found a symbolic link"):
            list(members(written(tmp_path, stream.getvalue()), ".txt"))

    def test_a_link_that_the_user_named_is_followed(self, folder: Path) -> None:
        (folder / "a.txt").symlink_to(folder.parent / "secret")
        assert [each.data for each in members(str(folder / "a.txt"), ".txt")] == [b"the secret"]
