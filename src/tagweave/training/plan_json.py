"""Training plans as JSON: read with every field checked, and the files that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from tagweave.corpus.describe import digest
from tagweave.corpus.named.name import is_name, short_name
from tagweave.errors import PlanError
from tagweave.training.corpora import LOOKUPS
from tagweave.training.methods import METHODS, typed
from tagweave.training.plan import SCHEMA, CorpusReference, FileReference, TrainingPlan


def read_plan(values: object) -> TrainingPlan:
    """Return the plan from the JSON of `TrainingPlan.to_json`, or one written by hand."""
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


def file_places(values: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the objects and lists of a plan as JSON that hold names of files, with the key of each name."""
    for name in ("target", "sources", *LOOKUPS):
        yield from ((each, "path") for each in values[name])
    if values["dev"]:
        yield values["dev"], "path"
    options = values["options"] or {}
    mapping = options.get("mapping") or []
    yield from ((mapping, at) for at in range(len(mapping)))
    if isinstance(options.get("entity_ratio"), str):
        yield options, "entity_ratio"
    if values["ratio_corpus"]:  # a plan that has not been read lacks it
        yield values["ratio_corpus"], "path"


def with_names(values: Any) -> Any:
    """Reduce the files of a plan as JSON to their names, in place, and return it.

    Folders tell who trained a model, and where; a name and a digest are enough to find a file again (`with_files`).
    """
    return _renamed(values, lambda path, _: short_name(path))


def with_files(plan: TrainingPlan, folders: Sequence[Path]) -> TrainingPlan:
    """Find the files that the plan of a model names: in the current folder, or in one of others."""

    def found(name: str, sha256: str) -> str:
        if not name or is_name(name):
            return name
        files = [str(file) for folder in (Path(), *folders) if (file := folder / name).is_file()]
        if not sha256:
            return name if Path(name).exists() or not files else files[0]
        if own := [file for file in files if digest(file) == sha256]:
            return own[0]
        where = ", ".join(map(str, dict.fromkeys((Path.cwd(), *folders))))
        raise PlanError(f"found no {name} of sha256 {sha256[:12]} in {where}, expected the file of the model there")

    is_counted = isinstance(getattr(plan.options, "entity_ratio", None), str)
    return read_plan(_renamed((plan if is_counted else replace(plan, ratio_corpus=None)).to_json(), found))


def _renamed(values: Any, name_of: Callable[[str, str], str]) -> Any:
    """Rename the files of a plan as JSON by their names and digests, in place, and return it."""
    ratio_corpus, options = values["ratio_corpus"], values["options"] or {}
    if ratio_corpus and isinstance(options.get("entity_ratio"), str):  # `[GUIDELINE=]PATH[#LAYER]`
        new = name_of(ratio_corpus["path"], ratio_corpus["sha256"])
        options["entity_ratio"] = options["entity_ratio"].replace(ratio_corpus["path"], new)
    for place, key in file_places(values):
        if key != "entity_ratio":
            place[key] = name_of(place[key], place["sha256"] if key == "path" else "")
    return values
