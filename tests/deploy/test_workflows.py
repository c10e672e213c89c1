"""`.github`, `locks` and what a release consists of. What zizmor finds (`make lint`) is not repeated here."""

from __future__ import annotations

import re
import runpy
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


@pytest.mark.parametrize("name", ["dev", "server", "release"])
def test_locks_hold_the_constraints_and_a_digest_of_each_package(name: str) -> None:
    """Otherwise `make lock` is due."""
    locked, constraints = pinned(f"locks/{name}.txt"), pinned("constraints.txt")
    both = locked.keys() & constraints
    assert {each: locked[each] for each in both} == {each: constraints[each] for each in both}
    assert name != "dev" or constraints.keys() <= locked.keys()
    text = (ROOT / f"locks/{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text[text.index("\n", text.index("make lock")) :].strip())
    assert len(entries) == len(locked)
    assert [each for each in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", each)] == []


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (None, "", ""),
        ("CHANGELOG.md", f"## {__version__} - ", "## Unreleased "),
        ("CITATION.cff", f"version: {__version__}", "version: 0.0.1"),
        ("pyproject.toml", "https://here/a/b", "https://here/a/fork"),
    ],
)
def test_a_release_needs_the_version_everywhere(file: str | None, old: str, new: str, tmp_path: Path) -> None:
    """`.ci/release.py`, on a copy of the files that it reads, all of which are ready but one."""
    texts = {
        name: (ROOT / name).read_text("utf-8")
        for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "src/tagweave/version.py")
    }
    texts["CHANGELOG.md"] = texts["CHANGELOG.md"].replace("## Unreleased\n", f"## {__version__} - 2026-01-02\n", 1)
    project = re.sub(r"\[project\.urls\]\n(.+\n)*", "", texts["pyproject.toml"])
    texts["pyproject.toml"] = f'{project}\n[project.urls]\nSource = "https://here/a/b"\n'
    if file is not None:
        assert old in texts[file]
        texts[file] = texts[file].replace(old, new)
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    for tag, wrong in ((f"v{__version__}", {file}), ("v9.9", {file, "src/tagweave/version.py"})):
        found = problems(tag, "https://here/a/b", tmp_path)
        assert {line.split(":")[0] for line in found} == wrong - {None}


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["version"], cited["license"]) == (__version__, _PROJECT["license"])
    assert [each["name"] for each in cited["authors"]] == [each["name"] for each in _PROJECT["authors"]]


def test_hooks_before_a_commit_run_what_make_lint_runs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    programs = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    assert programs == set(re.findall(r"\$\(BIN\)/([\w-]+)", recipe))
