"""The training methods, one file each. To add one, write a file and add a line to the list below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

from tagweave.errors import PlanError, as_plan_error, one_of
from tagweave.options import choices
from tagweave.structures import TREE
from tagweave.training.methods import adaptation, auto, coupled, pipeline, single, sources
from tagweave.training.methods.method import Method, Options

_ALL = (
    single.METHOD,
    coupled.METHOD,
    adaptation.STACKED,
    adaptation.MERGED,
    adaptation.SUBWORD,
    adaptation.TRANSFORM,
    adaptation.ITERATE,
    sources.METHOD,
    pipeline.METHOD,
    auto.METHOD,
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}
"""Methods by name; the one for a single guideline comes first."""

SINGLE, COUPLED, TRANSFORM, AUTO = single.METHOD.name, coupled.METHOD.name, adaptation.TRANSFORM.name, auto.METHOD.name
"""The defaults: for corpora of one guideline; for few sentences of several, of taggers and parsers; else a race."""
RACED = 50
"""The number of sentences of TRAIN from which methods race."""


def serving(structure: str) -> tuple[str, ...]:
    """Return the names of the methods that support a structure."""
    return tuple(name for name, method in METHODS.items() if structure in method.structures)


def usual(structure: str) -> str:
    """Return the default method for corpora of several guidelines that are too small for a race."""
    return TRANSFORM if structure == TREE else COUPLED


def typed(method: Method, values: Mapping[str, Any]) -> Options:
    """Return the options of a method from plain values."""
    from msgspec import ValidationError, convert

    kinds = get_type_hints(method.options)
    for name, value in values.items():
        if name not in kinds:
            expected = " or ".join(with_option(name)) or f"one of {', '.join(kinds)}"
            raise PlanError(f"found `{name}` with the method {method.name}, expected {expected}")
        if value is not None and (names := choices(kinds[name])):
            check_known(name, value, names)
    try:
        with as_plan_error():
            return convert(dict(values), method.options)
    except ValidationError as error:
        raise PlanError(f"the method {method.name}: {error}") from error


def with_option(name: str, structure: str = "") -> list[str]:
    """Return the methods with an option, of those that support the structure."""
    methods = serving(structure) if structure else METHODS
    return [each for each in methods if name in [field.name for field in fields(METHODS[each].options)]]


def check_known(what: str, name: str, known: Sequence[str]) -> None:
    """Raise unless a name is known."""
    if name not in known:
        raise PlanError(f"unknown {what} {name!r}, expected {one_of(name, known)}")
