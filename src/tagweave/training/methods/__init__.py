"""The training methods, one file each. A new one is a file, and a line in the list below."""

from __future__ import annotations

from tagweave.training.methods import coupled, iterate, merged, single, stacked, subword, transform
from tagweave.training.methods.method import TREE, Method

_ALL = (
    single.METHOD,
    coupled.METHOD,
    stacked.METHOD,
    merged.METHOD,
    subword.METHOD,
    transform.METHOD,
    iterate.METHOD,
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}
"""By name, the one for a single guideline first."""

SINGLE, COUPLED, STACKED = single.METHOD.name, coupled.METHOD.name, stacked.METHOD.name
"""What corpora of one guideline are trained by, and taggers and parsers of several, where nothing else is said."""


def serving(structure: str) -> tuple[str, ...]:
    """The names of the methods for a structure."""
    return tuple(name for name, method in METHODS.items() if structure in method.structures)


def usual(structure: str) -> str:
    """The method for corpora of several guidelines."""
    return STACKED if structure == TREE else COUPLED
