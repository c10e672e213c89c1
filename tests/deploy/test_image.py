"""`deploy/Dockerfile`: what it copies is there, with digests, and nothing runs as root."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise

from deployment import FOLDER, ROOT, default_of


def instructions() -> Iterator[tuple[str, str]]:
    """The instructions and their arguments; comments are left out, and lines that are continued are joined."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for line in code.replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.partition(" ")
            yield name, " ".join(rest.split())


_ALL = list(instructions())


def stage(name: str) -> list[tuple[str, str]]:
    """The instructions of a stage."""
    starts = [at for at, (each, _) in enumerate(_ALL) if each == "FROM"]
    for start, end in pairwise([*starts, len(_ALL)]):
        if _ALL[start][1].endswith(f" AS {name}"):
            return _ALL[start + 1 : end]
    raise AssertionError(f"no stage {name}")


def _arguments(name: str, instructions: list[tuple[str, str]] = _ALL) -> list[str]:
    return [rest for each, rest in instructions if each == name]


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
    copied = " ".join(_arguments("COPY", stage("wheel"))).split()
    assert {project["readme"], *project["license-files"]} <= set(copied)


def test_the_user_is_not_root_and_comes_after_all_that_needs_root() -> None:
    names = [name for name, _ in stage("server")]
    assert _arguments("USER", stage("server")) == ["1000"]
    assert "RUN" not in names[names.index("USER") :]


def test_all_that_is_installed_has_a_digest_but_the_wheel() -> None:
    (line,) = (each for each in _arguments("RUN", stage("server")) if "pip install" in each)
    locked, own = line.split(" && ")
    assert "locks/server.txt /tmp/lock.txt" in _arguments("COPY", stage("server"))
    assert locked.endswith("pip install --no-cache-dir --require-hashes --requirement /tmp/lock.txt")
    assert own == "pip install --no-cache-dir --no-deps /wheels/*.whl"


def test_the_ports_are_those_of_the_servers() -> None:
    (ports,) = _arguments("EXPOSE", stage("server"))
    names = [("annotate", "serve"), ("serve",)]
    assert sorted(ports.split()) == sorted(str(default_of("port", *name)) for name in names)


def test_kernels_are_compiled_for_the_processor_that_the_image_names() -> None:
    (setting,) = (rest for rest in _arguments("ENV", stage("server")) if "NUMBA" in rest)
    assert stage("server").index(("ENV", setting)) < stage("server").index(("RUN", "tagweave warm"))
    environment = dict(re.findall(r"(\w+)=(\S*)", setting.replace("$PROCESSOR", "generic")))
    code = "from numba.core.registry import cpu_target; print(cpu_target.target_context.codegen().magic_tuple()[1:])"
    shown = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "('generic', '')"
