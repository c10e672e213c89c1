"""Files that appear whole: their permissions, links to them, and what is left of one that failed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tagweave.corpus.files import check_writable, whole_file, whole_folder, written

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


def test_what_a_killed_process_has_left_is_removed_by_the_next_to_write(tmp_path: Path) -> None:
    """But not what a living one is writing, under the same name, or whatever has another name."""
    program = "import sys; from tagweave.corpus.files import whole_file as w\n"
    program += "with w(sys.argv[1]): print(flush=True); input()"

    def writer(name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", program, str(tmp_path / name)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout and process.stdout.readline()  # it writes
        return process

    for killed in (writer("file"), writer("file [1]"), writer("other")):
        with killed:
            killed.send_signal(signal.SIGKILL)
    with writer("file") as living:
        before = set(tmp_path.iterdir())
        assert len(before) == 3
        for name in ("file", "file [1]"):
            save("text", tmp_path / name)
        left = before & set(tmp_path.iterdir())
        assert sorted(path.name.partition(".")[0] for path in left) == ["file", "other"]
        living.communicate(b"\n")
    assert living.returncode == 0
    assert len([path for path in tmp_path.iterdir() if path.suffix == ".part"]) == 1


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with whole_folder(tmp_path / "a" / "folder") as part:
            (part / "file").write_text(text)
    with pytest.raises(ValueError, match="half"), whole_folder(tmp_path / "a" / "folder") as part:
        (part / "file").write_text("half")
        raise ValueError("half")
    assert [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] == ["new"]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["folder"]


def test_the_longest_name(tmp_path: Path) -> None:
    save("text", tmp_path / ("字" * 85))
    assert [path.name for path in tmp_path.iterdir()] == ["字" * 85]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG])
def test_errors_of_disks_name_the_file(tmp_path: Path, number: int) -> None:
    path = tmp_path / "new"
    for name, within in ((path, str(path)), (tmp_path / "new.gz", ""), ("-", "standard output")):
        with pytest.raises(OSError, match="Errno") as caught, written(str(name)) as stream:
            stream.write("a")
            raise OSError(number, os.strerror(number))
        assert (caught.value.errno, caught.value.filename) == (number, within or str(name))
    with pytest.raises(OSError, match="Errno") as caught, whole_file(path) as part:
        raise OSError(number, os.strerror(number), str(part))
    assert (caught.value.errno, caught.value.filename) == (number, str(path))
    assert list(tmp_path.iterdir()) == []


def test_whether_a_file_can_be_written_is_known_before(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    for path in (str(tmp_path / "new"), "-", "/dev/null", f"/dev/fd/{writer}"):
        check_writable(path)
    os.close(reader)
    os.close(writer)
    for path, number in (
        (tmp_path, errno.EISDIR),
        (tmp_path / "none" / "file", errno.ENOENT),
        (Path("/dev/full"), errno.ENOSPC),
    ):
        with pytest.raises(OSError, match="Errno") as caught:
            check_writable(str(path))
        assert (caught.value.errno, caught.value.filename) == (number, str(path))
    with pytest.raises(OSError, match="not a regular file"):
        check_writable("/dev/null", devices=False)
    assert list(tmp_path.iterdir()) == []
