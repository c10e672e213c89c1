"""Labelling functions that need no code: phrases and regular expressions, and how all functions are declared.

JSON files declare them, with a type and the arguments of each:

    {"functions": [
        {"name": "cities", "type": "lexicon", "file": "cities.txt", "label": "LOC"},
        {"name": "companies", "type": "expression", "pattern": "([A-Z]\\w+ )+(Inc|Corp|Ltd)", "label": "ORG"}
    ]}

Nothing in such a file is executed. Relative paths in it are relative to the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert

from tagweave.corpus.gazetteer import read
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import SPANS, TAGS, FoundSpan, layer_of
from tagweave.exchange.offsets import TokenOffsets
from tagweave.harvest.phrases import PhraseHarvest, PhraseMatcher
from tagweave.sources.answer_functions import AnswerFile
from tagweave.sources.chat_functions import ChatFunction
from tagweave.sources.functions import DeclaredFunction, FunctionError, LabellingFunction, stamp
from tagweave.sources.lac import LacModel
from tagweave.sources.model_functions import SpacyModel, TagweaveModel, TransformersModel

_LAYER = "found"


@dataclass(frozen=True)
class LexiconFunction(DeclaredFunction):
    """Finds the phrases of a file, from left to right the longest."""

    path_fields = ("file",)

    file: str  # a phrase a line, with its type or types before a tab, or without (`tagweave.corpus.gazetteer`)
    label: str | None = None  # the type of phrases that have none
    fold: bool = False  # whether upper and lower case are alike, and all digits
    stop: tuple[str, ...] = ()  # phrases that are not looked for

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless every phrase has a type. Raises also CorpusError as `tagweave.corpus.gazetteer.read`."""
        if self.label is None and None in read(self.file).types:
            raise FunctionError(f"{self.name}: found phrases without a type in {self.file}, expected label")

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        harvest = PhraseHarvest(_matcher(self, stamp(self.file)), everything=True, layer=_LAYER)
        labelled = iter(harvest.of(sentences))
        layers = [next(labelled).layers[_LAYER] if len(sentence) else () for sentence in sentences]
        return [tuple(map(_tag, layer)) for layer in layers] if self.task == TAGS else layers


@lru_cache(maxsize=16)
def _matcher(function: LexiconFunction, _stamp: object) -> PhraseMatcher:
    gazetteer = read(function.file)
    if function.label is not None:
        types = tuple((function.label,) if names is None else names for names in gazetteer.types)
        gazetteer = replace(gazetteer, types=types)
    return PhraseMatcher(gazetteer, function.stop, function.fold, "O" if function.outside else "unknown")


@lru_cache(maxsize=1 << 12)
def _tag(candidates: Candidates) -> Candidates:
    """Return the types of labels in IOB2."""
    return candidates and tuple(name if name == "O" else name[2:] for name in candidates)


@dataclass(frozen=True)
class Expression(DeclaredFunction):
    """Finds the matches of a regular expression in the text of a sentence, whose tokens have a blank between them.

    A match counts if it begins where a token begins, and ends where one ends.
    """

    pattern: str  # in the syntax of Python's `re`
    label: str  # the label, or the type of the spans
    group: int | str = 0  # the group of the pattern that is the span; 0 is the whole match
    ignore_case: bool = False  # whether upper and lower case are alike

    def __post_init__(self) -> None:
        try:
            compiled = self._compiled()
        except re.error as error:
            raise FunctionError(f"{self.name}: found the pattern {self.pattern!r}, which fails: {error}") from None
        if self.group not in (*range(compiled.groups + 1), *compiled.groupindex):
            raise FunctionError(
                f"{self.name}: found no group {self.group!r} in the pattern, expected one of its groups"
            )

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        return [layer_of(self._found(sentence), len(sentence), self.outside, self.task) for sentence in sentences]

    def _found(self, sentence: Sentence) -> Iterator[FoundSpan]:
        text = TokenOffsets.of(sentence.forms)
        for match in self._compiled().finditer(text.text):
            span = text.tokens(*match.span(self.group))
            if span is not None:
                yield FoundSpan(*span, (self.label,))

    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE if self.ignore_case else 0)


_TYPES: dict[str, type[Any]] = {
    "lexicon": LexiconFunction,
    "expression": Expression,
    "tagweave": TagweaveModel,
    "spacy": SpacyModel,
    "lac": LacModel,
    "transformers": TransformersModel,
    "answers": AnswerFile,
    "chat": ChatFunction,
}


def read_functions(path: str) -> list[LabellingFunction]:
    """Read the functions that a file declares."""
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FunctionError(f"{path}: found no JSON ({error}), expected an object with functions") from None
    declared = values.get("functions") if isinstance(values, dict) else None
    if not isinstance(declared, list) or not declared or not {*values} <= {"functions", "task"}:
        raise FunctionError(f'{path}: found no list "functions", expected it, and perhaps "task", and nothing else')
    if (task := values.get("task", SPANS)) not in (SPANS, TAGS):
        raise FunctionError(f"{path}: found the task {task!r}, expected {SPANS} or {TAGS}")
    return [_function(entry, f"{path}: function {number}", path, task) for number, entry in enumerate(declared, 1)]


def _function(values: Any, where: str, path: str, task: str) -> LabellingFunction:
    kind = values.get("type") if isinstance(values, dict) else None
    if kind not in _TYPES:
        raise FunctionError(f'{where}: found the type {kind!r}, expected "type", one of {", ".join(_TYPES)}')
    arguments = {"task": task, **{name: value for name, value in values.items() if name != "type"}}
    names = [declared.name for declared in fields(_TYPES[kind])]
    if other := [name for name in arguments if name not in names]:
        raise FunctionError(f"{where}: found {other[0]!r} in a function of type {kind}, expected {', '.join(names)}")
    try:
        function: Any = convert(arguments, _TYPES[kind])
    except ValidationError as error:
        raise FunctionError(f"{where}: found what is no function of type {kind}: {error}") from None
    if function.task not in (SPANS, TAGS):
        raise FunctionError(f"{where}: found the task {function.task!r}, expected {SPANS} or {TAGS}")
    for name in function.path_fields:
        if (value := getattr(function, name)) is not None:
            function = replace(function, **{name: str(Path(path).parent / value)})
    labelling: LabellingFunction = function
    return labelling
