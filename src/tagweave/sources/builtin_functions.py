"""Labelling functions that need no code: phrases, regular expressions, and files of answers.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert

from tagweave.corpus.candidates import Soft
from tagweave.corpus.gazetteer import read
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import OUTSIDE, SPANS, TAGS, FoundSpan, layer_of
from tagweave.errors import CorpusError
from tagweave.exchange import answers as quoting
from tagweave.exchange.document import Mark
from tagweave.exchange.json_exports import Values, read_objects
from tagweave.exchange.offsets import TokenOffsets, without_blanks
from tagweave.exchange.quotations import Tally
from tagweave.harvest.phrases import PhraseHarvest, PhraseMatcher
from tagweave.sources.functions import DeclaredFunction, FunctionError, LabellingFunction, stamp
from tagweave.sources.model_functions import SpacyModel, TagweaveModel, TransformersModel

_LAYER = "found"


@dataclass(frozen=True)
class LexiconFunction(DeclaredFunction):
    """Finds the phrases of a file, from left to right the longest."""

    path_field = "file"

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


@dataclass(frozen=True)
class AnswerFile(DeclaredFunction):
    """Gives sentences the labels in a file of JSON Lines, such as the answers of a language model.

    It abstains on all other sentences. A line names its sentence by its tokens or its text:

        {"tokens": ["Ann", "left"], "labels": ["B-PER", "O"], "probabilities": [0.9, 0.8]}
        {"text": "Ann left", "spans": [{"start": 0, "end": 3, "label": "PER", "probability": 0.9}]}

    Quotations stand in place of offsets as in `tagweave.exchange.answers`, widened to whole tokens. Offsets count
    characters (code points) from 0; `null` is an unknown label. `probabilities` belong to the labels;
    `O` has the rest. In place of a label and its number, `labels` may have an object `{"B-PER": 0.9, "O": 0.1}`.
    """

    path_field = "file"

    file: str
    labels: tuple[str, ...] | None = None  # the labels, or types of spans, that may occur; by default any

    def check(self, sentences: Sequence[Sentence]) -> str:
        """Say which quotations are found. Raises unless every line is about a sentence of the text, and fits it."""
        texts, tally = {without_blanks("".join(sentence.forms)): sentence for sentence in sentences}, Tally()
        for key, answer in _answers(self.file, stamp(self.file)).items():
            if key not in texts:
                raise answer.error(f"the sentence {answer.text!r}", "one of the text that is labelled")
            self._layer(answer, texts[key])
            tally.update(answer.tally, f"line {answer.line.location.line}: ")
        return "; ".join(tally.lines())

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        answers = _answers(self.file, stamp(self.file))
        pairs = ((sentence, answers.get(without_blanks("".join(sentence.forms)))) for sentence in sentences)
        return [self._layer(answer, sentence) if answer else (None,) * len(sentence) for sentence, answer in pairs]

    def _layer(self, answer: _Answer, sentence: Sentence) -> Layer:
        if "labels" in answer.values:
            layer = answer.token_labels(sentence)
            names = {name for candidates in layer for name in candidates or ()} - {OUTSIDE}
            self._check_known(names if self.task == "tags" else {name[2:] for name in names}, answer)
            return (
                layer
                if self.outside
                else tuple(None if candidates == (OUTSIDE,) else candidates for candidates in layer)
            )
        spans = list(answer.spans(sentence))
        self._check_known({span.types[0] for span in spans}, answer)
        try:
            return layer_of(spans, len(sentence), self.outside, self.task)
        except CorpusError as error:
            raise answer.error(error.found, error.expected) from None

    def _check_known(self, names: set[str], answer: _Answer) -> None:
        if self.labels is not None and (other := sorted(names - {*self.labels})):
            raise answer.error(f"the label {other[0]!r}", f"one of {', '.join(self.labels)}")


@dataclass(frozen=True)
class _Answer:
    """One line of a file."""

    line: Values
    tally: Tally = field(default_factory=Tally)  # of quotations, once they have been looked up

    @property
    def values(self) -> Mapping[str, Any]:
        return self.line.values

    def error(self, found: str, expected: str) -> CorpusError:
        return self.line.error(found, expected)

    @property
    def text(self) -> str:
        text = self.values.get("text")
        tokens = self.values.get("tokens")
        if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
            return " ".join(tokens)
        if not isinstance(text, str):
            raise self.error("no text", '"text", or "tokens" as a list')
        return text

    def token_labels(self, sentence: Sentence) -> Layer:
        tokens, labels = self.values.get("tokens"), self.values["labels"]
        numbers = self.values.get("probabilities") or [None] * len(sentence)
        if tokens is not None and tuple(tokens) != sentence.forms:
            pairs = zip([*tokens, "the end"], [*sentence.forms, "the end"], strict=False)
            at, (token, form) = next((at, pair) for at, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            raise self.error(f"{token!r} as token {at}", f"{form!r}")
        for what, values in (("labels", labels), ("probabilities", numbers)):
            if not isinstance(values, list) or len(values) != len(sentence):
                listed = f"{len(values)} {what}" if isinstance(values, list) else f"{what} {values!r}"
                raise self.error(listed, f"a list of {len(sentence)}, one for each token")
        return tuple(self._candidates(label, number) for label, number in zip(labels, numbers, strict=True))

    def _candidates(self, label: Any, number: Any) -> Candidates:
        if isinstance(label, dict):
            return self._soft(label)
        if label is None or (isinstance(label, str) and label and number is None):
            return label if label is None else (label,)
        if not isinstance(label, str) or not label or not isinstance(number, int | float) or not 0 < number <= 1:
            raise self.error(f"the label {label!r} with {number!r}", "a label, and a number above 0, and at most 1")
        return (label,) if number == 1 or label == OUTSIDE else self._soft({label: number, OUTSIDE: 1 - number})

    def _soft(self, numbers: Mapping[str, Any]) -> Candidates:
        try:
            return Soft.by_number(numbers)
        except (TypeError, ValueError):
            raise self.error(f"the labels {numbers!r}", "labels with numbers from 0 to 1, not all 0") from None

    @cached_property
    def _marks(self) -> tuple[list[Mark], list[Mark]]:
        return quoting.spans(self.line, self.text, self.tally)

    def spans(self, sentence: Sentence) -> Iterator[FoundSpan]:
        offsets = TokenOffsets.in_text(self.text, sentence.forms)
        if offsets is None or not any(isinstance(self.values.get(name), list | dict) for name in quoting.ANSWERS):
            raise self.error("no labels and no spans", '"labels", one for each token, or "spans" in "text"')
        by_offsets, by_quotation = self._marks
        for mark in by_offsets:
            if (tokens := offsets.tokens(mark.start, mark.stop)) is None:
                wrong = f"the span {mark.start}:{mark.stop}, {self.text[max(mark.start, 0) : max(mark.stop, 0)]!r}"
                raise self.error(wrong, f"whole tokens of {self.text!r}")
            yield FoundSpan(*tokens, (mark.label,), mark.probability)
        for mark, tokens in zip(by_quotation, offsets.around(mark[:2] for mark in by_quotation), strict=True):
            yield FoundSpan(*tokens, (mark.label,), mark.probability)


@lru_cache(maxsize=8)
def _answers(path: str, _stamp: object) -> dict[str, _Answer]:
    """Read the answers of a file by the text of their sentences, without blanks; of several the last."""
    lines = (_Answer(line) for line in read_objects(path))
    return {without_blanks(line.text): line for line in lines}


_TYPES: dict[str, type[Any]] = {
    "lexicon": LexiconFunction,
    "expression": Expression,
    "tagweave": TagweaveModel,
    "spacy": SpacyModel,
    "transformers": TransformersModel,
    "answers": AnswerFile,
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
    if field := function.path_field:
        function = replace(function, **{field: str(Path(path).parent / getattr(function, field))})
    labelling: LabellingFunction = function
    return labelling
