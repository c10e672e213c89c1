"""`.github`, `locks` and what a release consists of. What zizmor finds (`make lint`) is not repeated here."""

from __future__ import annotations

import re
import runpy
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml
from deployment import ROOT
from packaging.utils import canonicalize_name

from tagweave import __version__

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/workflows").glob("*.yml")}
_JOBS = [(name, job) for name, workflow in _WORKFLOWS.items() for job in workflow["jobs"].values()]
_PIN = re.compile(r"uses: (?:\./\S+( # zizmor: .*)?|[\w/-]+@[0-9a-f]{40} # v[\d.]+)$")
problems = runpy.run_path(str(ROOT / ".ci/release.py"))["problems"]


def pinned(name: str) -> dict[str, str]:
    """The versions in a file of constraints or locks, by the name of the package."""
    lines = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(package): version for package, version in lines}


class TestWorkflows:
    def test_every_action_is_a_commit_with_its_version(self) -> None:
        paths = (ROOT / ".github/workflows").glob("*.yml")
        lines = [line.strip() for path in paths for line in path.read_text("utf-8").splitlines() if "uses:" in line]
        assert lines
        assert [line for line in lines if not _PIN.search(line)] == []

    def test_a_workflow_may_nothing_but_what_its_jobs_say(self) -> None:
        assert [workflow["permissions"] for workflow in _WORKFLOWS.values()] == [{}] * len(_WORKFLOWS)
        written = {
            (name, right) for name, job in _JOBS for right, value in job["permissions"].items() if value == "write"
        }
        assert written == {("release", "id-token"), ("release", "contents")}

    def test_only_the_job_that_publishes_has_an_identity(self) -> None:
        (job,) = (job for _, job in _JOBS if "id-token" in job["permissions"])
        assert [step["uses"].partition("@")[0] for step in job["steps"]] == [
            "actions/download-artifact",
            "pypa/gh-action-pypi-publish",
        ]

    def test_the_versions_of_python_are_those_of_the_metadata(self) -> None:
        versions = _WORKFLOWS["tests"]["jobs"]["tests"]["strategy"]["matrix"]["python"]
        said = [each.rpartition(" ")[2] for each in _PROJECT["classifiers"] if re.search(r":: 3\.\d", each)]
        assert versions == said
        assert _PROJECT["requires-python"] == f">={versions[0]}"

    def test_files_that_steps_name_exist(self) -> None:
        steps = [step.get("run", "") for _, job in _JOBS for step in job.get("steps", [])]
        named = {
            word for step in steps for word in re.findall(r"(?<!\S)((?:\.ci|locks)/[\w./]+|constraints\.txt)", step)
        }
        assert {"locks/dev.txt", ".ci/run"} <= named
        assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


class TestLocks:
    @pytest.mark.parametrize("name", ["dev", "server", "cluster", "release"])
    def test_versions_are_those_of_the_constraints(self, name: str) -> None:
        """Otherwise `make lock` is due."""
        locked, constraints = pinned(f"locks/{name}.txt"), pinned("constraints.txt")
        assert {each: (locked[each], constraints[each]) for each in locked.keys() & constraints} == {
            each: (constraints[each], constraints[each]) for each in locked.keys() & constraints
        }

    def test_all_constraints_are_locked(self) -> None:
        assert sorted(pinned("constraints.txt").keys() - pinned("locks/dev.txt")) == []

    @pytest.mark.parametrize("name", ["dev", "server", "cluster", "release"])
    def test_every_package_has_a_digest(self, name: str) -> None:
        text = (ROOT / f"locks/{name}.txt").read_text(encoding="utf-8")
        entries = re.split(r"\n(?=\S)", text[text.index("\n", text.index("make lock")) :].strip())
        assert len(entries) == len(pinned(f"locks/{name}.txt"))
        assert [each for each in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", each)] == []


class TestRelease:
    """`.ci/release.py`, on a copy of the files that it reads."""

    @pytest.fixture
    def ready(self, tmp_path: Path) -> Path:
        for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "src/tagweave/__init__.py"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
        self.replace(tmp_path / "CHANGELOG.md", "## Unreleased\n", f"## {__version__} - 2026-01-02\n")
        text = (tmp_path / "pyproject.toml").read_text("utf-8")
        text = re.sub(r"\[project\.urls\]\n(.+\n)*", "", text)
        (tmp_path / "pyproject.toml").write_text(f'{text}\n[project.urls]\nSource = "https://here/a/b"\n', "utf-8")
        return tmp_path

    def replace(self, path: Path, old: str, new: str) -> None:
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    def found(self, root: Path, tag: str = f"v{__version__}", source: str = "https://here/a/b") -> list[str]:
        return list(problems(tag, source, root))

    def test_nothing_is_wrong_with_what_is_ready(self, ready: Path) -> None:
        assert self.found(ready) == []

    def test_a_tag_of_another_version(self, ready: Path) -> None:
        (line,) = self.found(ready, "v9.9")
        assert line == f"src/tagweave/__init__.py: found the version {__version__}, expected that of the tag v9.9"

    def test_no_section_in_the_changelog(self, ready: Path) -> None:
        self.replace(ready / "CHANGELOG.md", f"## {__version__} - ", "## Unreleased ")
        assert [line.split(":")[0] for line in self.found(ready)] == ["CHANGELOG.md"]

    def test_a_citation_of_another_version(self, ready: Path) -> None:
        self.replace(ready / "CITATION.cff", f"version: {__version__}", "version: 0.0.1")
        assert self.found(ready) == [f"CITATION.cff: found the version 0.0.1, expected {__version__}"]

    def test_an_address_of_another_repository(self, ready: Path) -> None:
        assert [line.split(":")[0] for line in self.found(ready, source="https://here/a/fork")] == ["pyproject.toml"]


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["version"], cited["license"]) == (__version__, _PROJECT["license"])
    assert [each["name"] for each in cited["authors"]] == [each["name"] for each in _PROJECT["authors"]]


def test_hooks_before_a_commit_run_what_make_lint_runs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    programs = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    assert programs == set(re.findall(r"\$\(BIN\)/([\w-]+)", recipe))
