"""The Makefile: what its targets do in a fresh folder, after a change, and without a Python that is new enough."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")

_TEXT = (ROOT / "Makefile").read_text(encoding="utf-8")
_TARGETS = re.findall(r"^\.PHONY: (.+)$", _TEXT, re.MULTILINE)[0].split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the Makefile and what it reads."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def make(folder: Path, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    if path is not None:
        environment["PATH"] = path
    command = [str(shutil.which("make")), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def planned(folder: Path, target: str) -> str:
    """The commands that making the target would run."""
    return make(folder, "-n", target, f"PYTHON={sys.executable}").stdout


def installed(folder: Path) -> None:
    """As if the environment had been made just now."""
    (folder / ".venv/bin").mkdir(parents=True)
    for name in ("bin/python", "installed.txt", "installed-dev.txt"):
        (folder / ".venv" / name).touch()


def test_help_names_every_target() -> None:
    named = re.findall(r"^make ([\w-]+)", make(ROOT, "help").stdout, re.MULTILINE)
    assert sorted([*named, "help"]) == sorted(_TARGETS)


@pytest.mark.parametrize("target", ["demo", "test", "lint", "docs", "results"])
def test_a_fresh_folder_gets_an_environment(folder: Path, target: str) -> None:
    commands = planned(folder, target)
    assert f'"{sys.executable}" -m venv .venv' in commands
    assert "--constraint constraints.txt --editable" in commands
    assert ("[dev]" in commands) == (target != "demo")


def test_an_environment_is_kept_until_the_requirements_change(folder: Path) -> None:
    installed(folder)
    assert "pip" not in planned(folder, "test")
    later = (folder / ".venv/installed-dev.txt").stat().st_mtime + 10
    os.utime(folder / "constraints.txt", (later, later))
    assert "pip install" in planned(folder, "test")
    assert "-m venv" not in planned(folder, "test")


def test_clean_removes_the_environment(folder: Path) -> None:
    installed(folder)
    (folder / "src/__pycache__").mkdir(parents=True)
    assert make(folder, "clean").returncode == 0
    assert not (folder / ".venv").exists()
    assert not (folder / "src/__pycache__").exists()


@pytest.mark.parametrize("works", [True, False])
def test_the_first_python_that_works_is_taken(folder: Path, works: bool) -> None:
    programs = folder / "programs"
    programs.mkdir()
    (programs / "sh").symlink_to(str(shutil.which("sh")))
    for name, runs in (("python3.13", False), ("python3.12", works), ("python3", works)):
        script = programs / name
        script.write_text(f'#!/bin/sh\n{f"exec {shlex.quote(sys.executable)}" if runs else "exit 1; exec"} "$@"\n')
        script.chmod(0o755)
    done = make(folder, *["-n"] * works, "demo", path=str(programs))
    if works:
        assert '"python3.12" -m venv .venv' in done.stdout
    else:
        assert done.returncode != 0
        assert "found no Python of 3.11 or newer" in done.stderr
        assert not (folder / ".venv").exists()
