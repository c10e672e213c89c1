"""constraints.txt pins every requirement of pyproject.toml, to a version that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pages import ROOT

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_EXTRAS = _PROJECT["optional-dependencies"]
_REQUIREMENTS = [
    requirement
    for text in [*_PROJECT["dependencies"], *(text for extra in _EXTRAS.values() for text in extra)]
    if (requirement := Requirement(text)).name != _PROJECT["name"]
]
_LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
_PINNED = {canonicalize_name(name): version for name, version in (line.split("==") for line in _LINES)}


@pytest.mark.parametrize("requirement", _REQUIREMENTS, ids=str)
def test_a_requirement_is_pinned_to_a_version_that_it_allows(requirement: Requirement) -> None:
    assert requirement.specifier.contains(_PINNED[canonicalize_name(requirement.name)])


def test_extras_that_are_named_exist() -> None:
    own = [Requirement(text) for extra in _EXTRAS.values() for text in extra if text.startswith(_PROJECT["name"])]
    assert own
    assert {name for requirement in own for name in requirement.extras} <= {*_EXTRAS}


def test_constraints_are_exact_and_without_repeats() -> None:
    assert [line for line in _LINES if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert len(_PINNED) == len(_LINES)
