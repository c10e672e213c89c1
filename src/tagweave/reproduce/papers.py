"""The papers whose experiments there are: for each a package with the modules `settings` and `recipe`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

PAPERS = ("jiang-2015", "li-2015", "liu-2014", "sun-wan-2012", "tsuboi-2008")
"""Their short names."""


class Paper(NamedTuple):
    """The experiments of a paper.

    Attributes:
        parts: `PARTS` of its module `settings`, by name.
        reproduce: that of its module `recipe`: runs some of them, as `tagweave.reproduce.recipe.Experiments` does.
    """

    parts: Mapping[str, Any]
    reproduce: Callable[..., Iterator[Path]]


def paper(name: str) -> Paper:
    """One of the `PAPERS`; only its own package is imported."""
    package = f"tagweave.reproduce.{name.replace('-', '_')}"
    return Paper(import_module(f"{package}.settings").PARTS, import_module(f"{package}.recipe").reproduce)
