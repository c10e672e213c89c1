"""`deploy/Dockerfile`: what it copies is there, and what `ray up` and KubeRay expect of an image."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator

from deployment import FOLDER, ROOT


def instructions() -> Iterator[tuple[str, str]]:
    """The instructions and their arguments; comments are left out, and lines that are continued are joined."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for line in code.replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.partition(" ")
            yield name, " ".join(rest.split())


_ALL = list(instructions())


def _arguments(name: str) -> list[str]:
    return [rest for each, rest in _ALL if each == name]


def test_what_is_copied_exists_and_reaches_the_builder() -> None:
    copied = [path for rest in _arguments("COPY") for path in rest.split()[:-1]]
    kept = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert copied
    for path in copied:
        assert (ROOT / path).exists(), path
        assert f"!{path}" in kept, path


def test_a_wheel_can_be_built_from_what_is_copied() -> None:
    """The build back end reads the files that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    copied = " ".join(_arguments("COPY")).split()
    assert {project["readme"], *project["license-files"]} <= set(copied)


def test_the_user_is_not_root_and_comes_after_all_that_needs_root() -> None:
    names = [name for name, _ in _ALL]
    assert _arguments("USER") == ["1000"]
    assert "RUN" not in names[names.index("USER") :]


def test_ray_up_finds_its_programs_and_a_shell() -> None:
    """It runs `IMAGE bash`, so there is no entry point; it copies by rsync; it reads HOME from the image."""
    installed = " ".join(_arguments("RUN"))
    assert {"rsync", "openssh-client", "wget", "'ray[default]'", "boto3"} <= set(installed.split())
    assert not _arguments("ENTRYPOINT")
    assert "HOME=/home/tagweave" in " ".join(_arguments("ENV")).split()


def test_ray_reports_nothing_to_anybody() -> None:
    """The variable holds for KubeRay's `ray start`, too, to which no option can be given for it."""
    assert "RAY_USAGE_STATS_ENABLED=0" in " ".join(_arguments("ENV")).split()


def test_kernels_are_compiled_for_the_processor_that_the_image_names() -> None:
    (setting,) = (rest for rest in _arguments("ENV") if "NUMBA" in rest)
    assert _ALL.index(("ENV", setting)) < _ALL.index(("RUN", "tagweave warm"))
    environment = dict(re.findall(r"(\w+)=(\S*)", setting.replace("$PROCESSOR", "generic")))
    code = "from numba.core.registry import cpu_target; print(cpu_target.target_context.codegen().magic_tuple()[1:])"
    shown = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "('generic', '')"
