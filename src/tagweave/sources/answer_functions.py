"""A labelling function from a file of answers, such as those of a language model: labels of tokens, or quotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import OUTSIDE, FoundSpan, layer_of
from tagweave.errors import CorpusError
from tagweave.exchange import answers as quoting
from tagweave.exchange.document import Mark
from tagweave.exchange.json_exports import Values, read_objects
from tagweave.exchange.offsets import TokenOffsets, without_blanks
from tagweave.exchange.quotations import Tally
from tagweave.sources.functions import DeclaredFunction, stamp


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

    path_fields = ("file",)

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

    def _layer(self, answer: Answer, sentence: Sentence) -> Layer:
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

    def _check_known(self, names: set[str], answer: Answer) -> None:
        if self.labels is not None and (other := sorted(names - {*self.labels})):
            raise answer.error(f"the label {other[0]!r}", f"one of {', '.join(self.labels)}")


@dataclass(frozen=True)
class Answer:
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
def _answers(path: str, _stamp: object) -> dict[str, Answer]:
    """Read the answers of a file by the text of their sentences, without blanks; of several the last."""
    lines = (Answer(line) for line in read_objects(path))
    return {without_blanks(line.text): line for line in lines}
