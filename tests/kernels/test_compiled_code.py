"""Compiled kernels are kept on disk where possible; files that cannot be read are compiled again."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from tagweave.kernels import compiled_code, inner, kernel

_NOBODY = 65534


def _twice(x):
    return x + x


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package, a home and a temporary folder in which nothing has been compiled."""
    for name in ("package", "home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(compiled_code.config, "CACHE_DIR", "")
    monkeypatch.setattr(compiled_code, "_SOURCES", tmp_path / "package")
    monkeypatch.setattr(compiled_code.tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compiled_code, "_written", set())
    return tmp_path


def compiled(places: Path) -> list[str]:
    """The folders of `places` that have code of a kernel."""
    return sorted(file.relative_to(places).parts[0] for file in places.glob("**/*._twice-*.nbc"))


def run() -> None:
    """What a process does that has not run the kernel before."""
    assert kernel(_twice)(np.int64(3)) == 6


def close(*folders: Path) -> None:
    """A file where a folder is expected: that stops even root."""
    for folder in folders:
        folder.rmdir()
        folder.write_text("")


def test_it_is_kept_beside_the_kernels(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run()
    assert compiled(places) == ["package"]
    assert capsys.readouterr().err == f"tagweave: {compiled_code.COMPILING}\n"
    compiled_code._written.clear()
    run()
    assert capsys.readouterr().err == ""  # it was read, not compiled again


def test_else_in_the_cache_of_the_user(places: Path) -> None:
    close(places / "package")
    run()
    assert compiled(places) == ["home"]


def test_else_in_a_private_folder_of_the_temporary_one(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    close(places / "package", places / "home")
    run()
    assert compiled(places) == ["temporary"]
    (folder,) = (places / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    told = capsys.readouterr().err.splitlines()
    assert told[1:] == [f"tagweave: no folder for compiled code can be written to: it is kept in {folder}"]
    compiled_code._written.clear()
    run()
    assert capsys.readouterr().err == ""


def _of_all(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def _of_somebody_else(folder: Path) -> None:
    folder.mkdir(0o700)
    os.chown(folder, _NOBODY, _NOBODY)


def _a_link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir(0o700)
    folder.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "made",
    [
        _of_all,
        _a_link,
        pytest.param(
            _of_somebody_else, marks=pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
        ),
    ],
)
def test_but_never_where_others_can_write(
    places: Path, capsys: pytest.CaptureFixture[str], made: Callable[[Path], None]
) -> None:
    close(places / "package", places / "home")
    made(compiled_code._temporary())
    run()
    assert compiled(places) == []
    assert len(capsys.readouterr().err.splitlines()) == 2
    run()
    assert capsys.readouterr().err == ""  # once in a process


def test_an_edit_of_a_kernel_drops_it(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    monkeypatch.setattr(compiled_code, "EDITION", "kernels-edited")
    run()
    assert [file.parent.name for file in places.glob("**/*._twice-*.nbc")] == ["kernels-edited"]


def test_the_edition_is_the_text_of_all_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_code, "_SOURCES", tmp_path)
    seen = set()
    for name, text in (("one.py", "1"), ("two.py", "2"), ("one.py", "3")):
        (tmp_path / name).write_text(text)
        seen.add(compiled_code._digest_of_sources())
    assert len(seen) == 3


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("length", [0, 4, -1])
def test_a_damaged_file_is_compiled_anew(
    places: Path, suffix: str, length: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run()
    (file,) = places.glob(f"**/*._twice-*.{suffix}")
    whole = file.read_bytes()
    file.write_bytes(whole[:length])
    run()
    (file,) = places.glob(f"**/*._twice-*.{suffix}")
    assert file.read_bytes() != whole[:length]
    capsys.readouterr()
    compiled_code._written.clear()
    run()
    assert capsys.readouterr().err == ""


@contextmanager
def turn_of_another(places: Path) -> Iterator[None]:
    """Somebody else is compiling the kernel."""
    fcntl = pytest.importorskip("fcntl")
    (file,) = places.glob("**/*._twice-*-turn")
    with file.open() as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def test_a_process_waits_for_another_that_compiles(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    files = [*places.glob("**/*._twice-*.nb?")]
    for file in files:
        file.rename(file.with_suffix(".away"))
    monkeypatch.setattr(compiled_code.CompiledCode, "save_overload", lambda *_: pytest.fail("compiled"))
    waiting = threading.Thread(target=run)
    with turn_of_another(places):
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        for file in files:
            file.with_suffix(".away").rename(file)
    waiting.join()


def test_no_process_waits_forever(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    monkeypatch.setattr(compiled_code, "LIMIT", 0.1)
    for file in places.glob("**/*._twice-*.nb?"):
        file.unlink()
    began = time.monotonic()
    with turn_of_another(places):
        run()
    assert time.monotonic() - began > 0.1
    assert compiled(places) == ["package"]


def test_a_kernel_keeps_its_turn_while_those_that_it_calls_are_compiled(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[list[int]] = []
    save, called = compiled_code.CompiledCode.save_overload, kernel(_twice)

    def spy(*arguments: Any) -> None:
        held.append([depth for depth, _ in compiled_code._held])
        save(*arguments)

    monkeypatch.setattr(compiled_code.CompiledCode, "save_overload", spy)
    assert kernel(lambda x: called(x) + x)(np.int64(3)) == 9
    assert held == [[0, 1], [0]]
    assert compiled_code._held == []


def test_an_error_keeps_nobody_waiting(places: Path) -> None:
    with pytest.raises(TypingError):
        kernel(_twice)(None)
    run()  # another kernel, or the next call of this one
    with turn_of_another(places):
        pass


def test_python_cannot_call_an_inner_kernel() -> None:
    assert inner(_twice).targetoptions["no_cpython_wrapper"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_without_a_writable_folder() -> None:
    """The real thing: a process of another user, who may write to the temporary folder alone."""
    code = f"""
import os, sys
from pathlib import Path
import numba
import numpy as np
from tagweave.kernels import compiled_code, kernel
def _twice(x):
    return x + x
numba.njit(_twice)(np.int64(3))  # Numba imports what it needs, perhaps from a folder that is closed to others
compiled_code._SOURCES = Path(sys.argv[1])
os.setgid({_NOBODY}); os.setuid({_NOBODY})
print(kernel(_twice)(np.int64(3)))
"""
    # folders of pytest are closed to other users, and so may be the one that TMPDIR names
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, tempfile.TemporaryDirectory() as closed:
        Path(folder).chmod(0o777)
        environment = {**os.environ, "HOME": "/nonexistent", "TMPDIR": folder, "XDG_CACHE_HOME": "/proc/none"}
        environment.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, "-c", code, closed]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "6\n"
    assert f"it is kept in {folder}/tagweave-{_NOBODY}\n" in done.stderr
