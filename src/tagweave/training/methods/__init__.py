"""The training methods. A file of this package with a tuple `METHODS` adds methods; nothing else has to name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from tagweave.errors import PlanError, as_plan_error, one_of
from tagweave.structures import TREE
from tagweave.training.job import Method
from tagweave.training.plan import Options, Plan, plan_of_json

SINGLE, COUPLED, STACKED, TRANSFORM, MERGED, AUTO = "single", "coupled", "stacked", "transform", "merged", "auto"
"""The defaults: for corpora of one guideline; for few sentences of several, of taggers and parsers; else a race."""
UPDATE = "update"
"""For plans that go on from a model."""
OVERLAP = "overlap"
"""The default for spans that overlap."""
RACED = 50
"""The number of sentences of TRAIN from which methods race."""


def _methods() -> Iterator[Method]:
    for module in iter_modules(__path__):
        yield from import_module(f"{__name__}.{module.name}").METHODS


METHODS: Mapping[str, Method] = {
    method.name: method for method in sorted(_methods(), key=lambda method: (method.name != SINGLE, method.name))
}
"""Methods by name; the one for a single guideline comes first."""


def serving(structure: str) -> tuple[str, ...]:
    """Return the names of the methods that support a structure."""
    return tuple(name for name, method in METHODS.items() if structure in method.structures)


def usual(structure: str) -> str:
    """Return the default method for corpora of several guidelines that are too small for a race."""
    return TRANSFORM if structure == TREE else COUPLED


def typed(method: Method, values: Mapping[str, Any]) -> Options:
    """Return the options of a method from plain values."""
    names = [field.name for field in fields(method.options)]
    for name in values:
        if name not in names:
            expected = " or ".join(with_option(name)) or f"one of {', '.join(names)}"
            raise PlanError(f"found `{name}` with the method {method.name}, expected {expected}")
    with as_plan_error():
        return method.options(**values)


def read_plan(values: object) -> Plan:
    """Return the plan from its JSON (`plan.plan_of_json`), with the options of its method if it names one."""
    return with_typed_options(plan_of_json(values))


def with_typed_options(plan: Plan) -> Plan:
    """Return a plan whose options are of the class of its method, if it names one, in place of plain values."""
    if plan.method is None or plan.method not in METHODS or plan.options is None or isinstance(plan.options, Options):
        return plan
    return replace(plan, options=typed(METHODS[plan.method], plan.options))


def with_option(name: str, structure: str = "") -> list[str]:
    """Return the methods with an option, of those that support the structure."""
    methods = serving(structure) if structure else METHODS
    return [method for method in methods if name in [field.name for field in fields(METHODS[method].options)]]


def check_known(what: str, name: str, choices: Sequence[str]) -> None:
    """Raise unless a name is known."""
    if name not in choices:
        raise PlanError(f"unknown {what} {name!r}, expected {one_of(name, choices)}")
