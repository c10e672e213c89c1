"""Answers of a language model, kept as JSON Lines, as a labelling function.

A line is about one sentence, which it names by its tokens or its text:

    {"tokens": ["Ann", "left"], "labels": ["B-PER", "O"], "probabilities": [0.9, 0.8]}
    {"text": "Ann left", "spans": [{"start": 0, "end": 3, "label": "PER", "probability": 0.9}]}

Offsets count characters (code points) from 0; `null` is an unknown label. A probability is that of the label, and `O`
has the rest; in place of the label and its number, `labels` may have objects `{"B-PER": 0.9, "O": 0.1}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from tagweave.corpus.candidates import Soft
from tagweave.corpus.files import read_lines
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import OUTSIDE, FoundSpan, layer_of
from tagweave.errors import CorpusError
from tagweave.exchange.tokens import TokenOffsets, without_blanks
from tagweave.sources.functions.function import DeclaredFunction, stamp


@dataclass(frozen=True)
class AnswerFile(DeclaredFunction):
    """Gives sentences the labels that a file has for them; it abstains on all other sentences.

    `labels` are the labels, or types of spans, that may occur; by default any.
    """

    path_field = "file"

    file: str
    labels: tuple[str, ...] | None = None

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless every line is about a sentence of the text, and fits it."""
        texts = {without_blanks("".join(each.forms)): each for each in sentences}
        for key, answer in _answers(self.file, stamp(self.file)).items():
            if key not in texts:
                raise answer.error(f"the sentence {answer.text!r}", "one of the text that is labelled")
            self._layer(answer, texts[key])

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        answers = _answers(self.file, stamp(self.file))
        found = ((each, answers.get(without_blanks("".join(each.forms)))) for each in sentences)
        return [self._layer(answer, each) if answer else (None,) * len(each) for each, answer in found]

    def _layer(self, answer: _Answer, sentence: Sentence) -> Layer:
        if "labels" in answer.values:
            layer = answer.token_labels(sentence)
            names = {name for candidates in layer for name in candidates or ()} - {OUTSIDE}
            self._check_known(names if self.task == "tags" else {name[2:] for name in names}, answer)
            return layer if self.outside else tuple(None if each == (OUTSIDE,) else each for each in layer)
        spans = list(answer.spans(sentence))
        self._check_known({each.types[0] for each in spans}, answer)
        try:
            return layer_of(spans, len(sentence), self.outside, self.task)
        except CorpusError as error:
            raise answer.error(error.found, error.expected) from None

    def _check_known(self, names: set[str], answer: _Answer) -> None:
        if self.labels is not None and (other := sorted(names - {*self.labels})):
            raise answer.error(f"the label {other[0]!r}", f"one of {', '.join(self.labels)}")


class _MarkedSpan(Struct):
    """A span in a line of a file."""

    start: int
    end: int
    label: Annotated[str, Meta(min_length=1)]
    probability: float = 1.0


@dataclass(frozen=True)
class _Answer:
    """One line of a file."""

    path: str
    line: int
    values: Mapping[str, Any]

    def error(self, found: str, expected: str) -> CorpusError:
        return CorpusError(found, expected, self.path, self.line)

    @property
    def text(self) -> str:
        text = self.values.get("text")
        tokens = self.values.get("tokens")
        if isinstance(tokens, list) and all(isinstance(each, str) for each in tokens):
            return " ".join(tokens)
        if not isinstance(text, str):
            raise self.error("no text", '"text", or "tokens" as a list')
        return text

    def token_labels(self, sentence: Sentence) -> Layer:
        tokens, labels = self.values.get("tokens"), self.values["labels"]
        numbers = self.values.get("probabilities") or [None] * len(sentence)
        if tokens is not None and tuple(tokens) != sentence.forms:
            pairs = zip([*tokens, "the end"], [*sentence.forms, "the end"], strict=False)
            at, (found, form) = next((at, each) for at, each in enumerate(pairs, 1) if each[0] != each[1])
            raise self.error(f"{found!r} as token {at}", f"{form!r}")
        for what, values in (("labels", labels), ("probabilities", numbers)):
            if not isinstance(values, list) or len(values) != len(sentence):
                found = f"{len(values)} {what}" if isinstance(values, list) else f"{what} {values!r}"
                raise self.error(found, f"a list of {len(sentence)}, one for each token")
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
        ordered = sorted(numbers.items(), key=lambda item: -item[1] if isinstance(item[1], int | float) else 0)
        try:
            return Soft((name for name, _ in ordered), (round(float(number), 6) for _, number in ordered))
        except (TypeError, ValueError):
            raise self.error(f"the labels {numbers!r}", "labels with numbers from 0 to 1, not all 0") from None

    def spans(self, sentence: Sentence) -> Iterator[FoundSpan]:
        offsets = TokenOffsets.in_text(self.text, sentence.forms)
        spans = self.values.get("spans")
        if offsets is None or not isinstance(spans, list):
            raise self.error("no labels and no spans", '"labels", one for each token, or "spans" in "text"')
        for each in spans:
            try:
                span = convert(each, _MarkedSpan)
            except ValidationError as error:
                expected = '"start" and "end", offsets in the text, and "label"'
                raise self.error(f"the span {each!r} ({error})", expected) from None
            tokens = offsets.tokens(span.start, span.end)
            if tokens is None:
                found = f"the span {span.start}:{span.end}, {self.text[max(span.start, 0) : max(span.end, 0)]!r}"
                raise self.error(found, f"whole tokens of {self.text!r}")
            yield FoundSpan(*tokens, (span.label,), span.probability)


@lru_cache(maxsize=8)
def _answers(path: str, _stamp: object) -> dict[str, _Answer]:
    """Read the answers of a file by the text of their sentences, without blanks; of several the last."""
    answers: dict[str, _Answer] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except ValueError as error:
            raise CorpusError(f"no JSON: {error}", "an object on each line", path, number) from None
        if not isinstance(values, dict):
            raise CorpusError(f"{type(values).__name__}", "an object on each line", path, number)
        answer = _Answer(path, number, values)
        answers[without_blanks(answer.text)] = answer
    return answers
