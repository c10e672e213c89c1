"""Requirements of pyproject.toml: pinned in constraints.txt to versions that they allow, and free to be used."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import metadata, packages_distributions, requires

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


def _installed_with(requirement: Requirement, seen: set[str]) -> None:
    """Add to `seen` the names of the packages that pip installs for a requirement."""
    for extra in ("", *requirement.extras):
        key = f"{canonicalize_name(requirement.name)}[{extra}]"
        if key in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(key)
        for text in requires(requirement.name) or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                needed.marker = None
                _installed_with(needed, seen)


def test_the_package_imports_what_users_install() -> None:
    """What only tests need is no import of `src`: an installation without it would fail."""
    seen: set[str] = set()
    for text in _PROJECT["dependencies"]:
        _installed_with(Requirement(text), seen)
    extras = [texts for name, texts in _EXTRAS.items() if name not in ("bench", "docs", "dev")]
    allowed = {canonicalize_name(Requirement(text).name) for texts in extras for text in texts}
    allowed |= {name.partition("[")[0] for name in seen} | {"anyio", "srsly"}  # parts of Starlette and spaCy
    own = sys.stdlib_module_names | {"tagweave", "compression"}  # the last one from Python 3.14 on
    distributions = packages_distributions()
    foreign = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in {name.partition(".")[0] for name in names} - own:
                if allowed.isdisjoint(map(canonicalize_name, distributions.get(module, [module]))):
                    foreign.append(f"{path.name}: {module}")
    assert foreign == []


def test_no_package_that_users_install_is_under_the_gpl() -> None:
    """The LGPL (psycopg) and the MPL (certifi, tqdm) leave to us how we license what imports them."""
    extras = [texts for name, texts in _EXTRAS.items() if name not in ("bench", "docs", "dev")]
    seen: set[str] = set()
    for text in [*_PROJECT["dependencies"], *(text for texts in extras for text in texts)]:
        _installed_with(Requirement(text), seen)
    assert {"numpy[]", "sqlalchemy[]", "starlette[]", "anyio[]"} <= seen
    found = {name: metadata(name) for name in {each.partition("[")[0] for each in seen}}
    licences = {
        name: [each.get("License-Expression", ""), each.get("License", "")[:100], *(each.get_all("Classifier") or ())]
        for name, each in found.items()
    }
    under = [name for name, said in licences.items() if re.search(r"\bA?GPL|GNU (Affero )?General", " ".join(said))]
    assert under == []
