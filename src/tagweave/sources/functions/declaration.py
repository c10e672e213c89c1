"""Files that declare labelling functions: JSON, with a type and the arguments of each.

    {"functions": [
        {"name": "cities", "type": "lexicon", "file": "cities.txt", "label": "LOC"},
        {"name": "companies", "type": "expression", "pattern": "([A-Z]\\\\w+ )+(Inc|Corp|Ltd)", "label": "ORG"}
    ]}

Nothing in such a file is executed. Relative paths in it are relative to the file.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from tagweave.corpus.found_spans import SPANS, TAGS
from tagweave.sources.functions.answer_file import AnswerFile
from tagweave.sources.functions.expression import Expression
from tagweave.sources.functions.function import FunctionError, LabellingFunction
from tagweave.sources.functions.lexicon import Lexicon
from tagweave.sources.functions.spacy_model import SpacyModel
from tagweave.sources.functions.tagweave_model import TagweaveModel

TYPES: dict[str, type[Any]] = {
    "lexicon": Lexicon,
    "expression": Expression,
    "tagweave": TagweaveModel,
    "spacy": SpacyModel,
    "answers": AnswerFile,
}
"""The classes of functions by their types."""

_PATHS = {"lexicon": "file", "tagweave": "model", "answers": "file"}


def read_functions(path: str) -> list[LabellingFunction]:
    """The functions that a file declares.

    Raises:
        FunctionError: no JSON, an unknown type or argument, or a value of the wrong type, with the function's name.
        OSError: the file cannot be read.
    """
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise FunctionError(f"{path}: found no JSON ({error}), expected an object with functions") from None
    declared = values.get("functions") if isinstance(values, dict) else None
    if not isinstance(declared, list) or not declared or not {*values} <= {"functions", "task"}:
        raise FunctionError(f'{path}: found no list "functions", expected it, and perhaps "task", and nothing else')
    if (task := values.get("task", SPANS)) not in (SPANS, TAGS):
        raise FunctionError(f"{path}: found the task {task!r}, expected {SPANS} or {TAGS}")
    return [_function(each, f"{path}: function {number}", path, task) for number, each in enumerate(declared, 1)]


def _function(values: Any, where: str, path: str, task: str) -> LabellingFunction:
    from msgspec import ValidationError, convert

    kind = values.get("type") if isinstance(values, dict) else None
    if kind not in TYPES:
        raise FunctionError(f'{where}: found the type {kind!r}, expected "type", one of {", ".join(TYPES)}')
    arguments = {"task": task, **{name: value for name, value in values.items() if name != "type"}}
    known = [each.name for each in fields(TYPES[kind])]
    if other := [name for name in arguments if name not in known]:
        raise FunctionError(f"{where}: found {other[0]!r} in a function of type {kind}, expected {', '.join(known)}")
    try:
        function = convert(arguments, TYPES[kind])
    except ValidationError as error:
        raise FunctionError(f"{where}: found what is no function of type {kind}: {error}") from None
    if function.task not in (SPANS, TAGS):
        raise FunctionError(f"{where}: found the task {function.task!r}, expected {SPANS} or {TAGS}")
    if kind in _PATHS:
        own = getattr(function, _PATHS[kind])
        function = replace(function, **{_PATHS[kind]: str(Path(path).parent / own)})
    found: LabellingFunction = function
    return found
