"""The training methods, one file each. To add one, write a file and add a line to the list below."""

from __future__ import annotations

from tagweave.structures import TREE
from tagweave.training.methods import adaptation, coupled, single, sources
from tagweave.training.methods.method import Method

_ALL = (
    single.METHOD,
    coupled.METHOD,
    adaptation.STACKED,
    adaptation.MERGED,
    adaptation.SUBWORD,
    adaptation.TRANSFORM,
    adaptation.ITERATE,
    sources.METHOD,
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}
"""Methods by name; the one for a single guideline comes first."""

SINGLE, COUPLED, TRANSFORM = single.METHOD.name, coupled.METHOD.name, adaptation.TRANSFORM.name
"""The defaults: for corpora of one guideline, and for taggers and parsers of several."""


def serving(structure: str) -> tuple[str, ...]:
    """The names of the methods that support a structure."""
    return tuple(name for name, method in METHODS.items() if structure in method.structures)


def usual(structure: str) -> str:
    """The default method for corpora of several guidelines."""
    return TRANSFORM if structure == TREE else COUPLED
