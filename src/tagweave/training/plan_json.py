"""Reads training plans from JSON; checks every field, and error messages give its path."""

from __future__ import annotations

from dataclasses import fields, replace

from tagweave.training.errors import PlanError
from tagweave.training.method_options import typed
from tagweave.training.methods import METHODS
from tagweave.training.plan import SCHEMA, CorpusReference, FileReference, TrainingPlan


def read_plan(values: object) -> TrainingPlan:
    """The plan from the JSON of `TrainingPlan.to_json`, or one written by hand.

    Raises:
        PlanError: another schema, an unknown field, or a value of the wrong type, by its path.
    """
    from msgspec import ValidationError, convert

    if not isinstance(values, dict):
        raise PlanError(f"found {type(values).__name__}, expected a plan: an object")
    values = dict(values)
    if (schema := values.pop("schema", SCHEMA)) != SCHEMA:
        raise PlanError(f"found a plan of schema {schema!r}, expected {SCHEMA}")
    options, method = values.pop("options", None), values.get("method")
    try:
        _check_names(TrainingPlan, values, "plan")
        plan = convert(values, TrainingPlan)
    except ValidationError as error:
        raise PlanError(f"found a plan that cannot be read: {error}") from error
    if options is None or method not in METHODS:
        return replace(plan, options=options)
    return replace(plan, options=typed(METHODS[method], options))


def _check_names(kind: type, values: object, where: str) -> None:
    """Raise if an object or one inside it has a field that its class does not have."""
    known = [each.name for each in fields(kind)]
    if not isinstance(values, dict):
        raise PlanError(f"{where}: found {type(values).__name__}, expected an object")
    for name, value in values.items():
        if name not in known:
            raise PlanError(f"{where}: found the field {name!r}, expected {', '.join(known)}")
        inner = _OBJECTS.get(name)
        for each in value if isinstance(value, list) else [value]:
            if inner is not None and each is not None:
                _check_names(inner, each, f"{where}.{name}")


_OBJECTS: dict[str, type] = {
    "target": CorpusReference,
    "sources": CorpusReference,
    "dev": CorpusReference,
    "lexicons": FileReference,
    "gazetteers": FileReference,
    "clusters": FileReference,
    "ratio_corpus": FileReference,
}
