"""Annotation tasks and their answers.

A task is one focus in its sentence, under one guideline, and asks for the label of its focus or for the spans in it.
One annotator gives one answer to a task, so tasks of spans are handed out, answered, undone and decided like others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import ANY, OUTSIDE, Span


class Kind(StrEnum):
    """The kind of an answer: a label, spans, or (all that a concordance asks) whether the focus is a word."""

    LABEL = "label"
    SPANS = "spans"
    WORD = "word"
    NOT_A_WORD = "not a word"
    CANNOT_TELL = "can't tell"


class Asks(StrEnum):
    """What a task asks for: the label of its focus or whether that is a word, or all spans in its focus."""

    LABEL = "label"
    SPANS = "spans"
    LAYERS = "layers"
    """Spans, of which those of different types may overlap; each type is a layer."""


class Purpose(StrEnum):
    """Why a task is asked."""

    REAL = "real"
    """The answer is unknown; several annotators are asked."""
    GOLD = "gold"
    """The answer is known, which annotators are not told. Everybody gets it; it measures their accuracy."""
    TRAINING = "training"
    """The answer is known and shown afterwards: a simulated task for an annotator who is not admitted yet."""
    CONCORDANCE = "concordance"
    """An occurrence of a word in a concordance, marked by one annotator (tsuboi-2008, 2.1)."""


class Candidate(NamedTuple):
    """A label and its probability under the model; of the tokens start .. stop - 1, or of the focus of the task."""

    label: str  # or the type of a span; ANY: unknown
    probability: float
    start: int | None = None
    stop: int | None = None

    @property
    def span(self) -> Span:
        """The span that is proposed."""
        assert self.start is not None  # noqa: S101  # tasks of spans check it
        return Span(self.start, self.stop, self.label)


class Ranking(NamedTuple):
    """The uncertainty and candidates of a task by a newer model."""

    id: int
    uncertainty: float
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a task."""

    kind: Kind
    label: str | None = None
    spans: tuple[Span, ...] = ()  # from left to right
    is_complete: bool = False  # the focus has no spans but these; otherwise nothing is known of the rest
    rejected: tuple[Span, ...] = ()  # proposed spans that are wrong, in order, where the rest is open

    def __post_init__(self) -> None:
        if (self.kind is Kind.LABEL) != bool(self.label):
            raise ValueError(f"found the label {self.label!r}, expected one for {Kind.LABEL!s}, and for nothing else")
        if (self.kind is Kind.SPANS) != bool(self.spans or self.is_complete or self.rejected):
            raise ValueError("found no spans, expected some, or that there are none in the whole focus")
        if self.is_complete and self.rejected:
            raise ValueError("found rejected spans, expected none where all that is not marked is outside")
        for span in self.spans:
            if span.stop is None or not 0 <= span.start < span.stop or span.label in (None, "", OUTSIDE, ANY):
                raise ValueError(f"found the span {span}, expected one token or more, and a type")
        for one, other in combinations(self.spans, 2):
            if other < one or (one.label == other.label and overlap(one, other)):
                expected = "spans in order, of which those of one type do not overlap"
                raise ValueError(f"found the spans {one} and {other}, expected {expected}")

    def __str__(self) -> str:
        if self.kind is not Kind.SPANS:
            return self.label or self.kind.value
        count = f"{len(self.spans)} span{'' if len(self.spans) == 1 else 's'}"
        return count if self.is_complete else f"{count}, {self.open}"

    @property
    def open(self) -> str:
        """A note on the unmarked rest, as people read it."""
        return f"{len(self.rejected)} rejected, the rest left open" if self.rejected else "the rest left open"

    @property
    def text(self) -> str | None:
        """The label, or the spans as JSON; equal answers of a kind have equal texts, which a database can compare."""
        if self.kind is not Kind.SPANS:
            return self.label
        rejected = {"rejected": self.rejected} if self.rejected else {}
        return json.dumps({"complete": self.is_complete, "spans": self.spans, **rejected}, ensure_ascii=False)


def overlap(one: Span, other: Span) -> bool:
    """Return whether two spans have a token in common."""
    return one.start < (other.stop or 0) and other.start < (one.stop or 0)


def label(name: str) -> Answer:
    """Return the answer that gives a label."""
    return Answer(Kind.LABEL, name)


def marked(spans: Iterable[Span], is_complete: bool = True, rejected: Iterable[Span] = ()) -> Answer:
    """Return the answer that marks these spans and rejects others, in any order."""
    wrong = () if is_complete else tuple(sorted(rejected))
    return Answer(Kind.SPANS, None, tuple(sorted(spans)), is_complete, wrong)


def answer_of(kind: str, text: str | None) -> Answer:
    """Return the answer of a kind with a text; the inverse of `Answer.text`."""
    if kind != Kind.SPANS:
        return Answer(Kind(kind), text)
    written = json.loads(text or "")
    spans, rejected = (map(Span._make, written.get(key, ())) for key in ("spans", "rejected"))
    return marked(spans, written["complete"], rejected)


WORD, NOT_A_WORD, CANNOT_TELL = (Answer(kind) for kind in (Kind.WORD, Kind.NOT_A_WORD, Kind.CANNOT_TELL))


@dataclass(frozen=True, slots=True)
class AnnotationTask:
    """One question about the forms start .. stop - 1. All but candidates, uncertainty, gold and model identify it."""

    sentence: Sentence
    start: int
    stop: int
    guideline: str  # also the name of the layer that the answer will be part of
    candidates: tuple[Candidate, ...] = ()  # labels or spans, the best first; none to ask whether it is a word
    uncertainty: float = 0.0  # the greater it is, the earlier the task is asked
    purpose: Purpose = Purpose.REAL
    gold: Answer | None = None  # the right answer, for GOLD and TRAINING
    model: int | None = None  # version of the model that chose the task and its candidates
    asks: Asks = Asks.LABEL

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop <= len(self.sentence):
            focus = f"{self.start} .. {self.stop}"
            raise ValueError(f"found the span {focus}, expected one inside a sentence of {len(self.sentence)} tokens")
        if (self.gold is not None) != (self.purpose in (Purpose.GOLD, Purpose.TRAINING)):
            raise ValueError(
                f"found gold {self.gold!s} in a task of purpose {self.purpose.value}, expected it there "
                "and only there where the purpose is gold or training"
            )
        for candidate in self.candidates:
            if (candidate.start is not None) != self.of_spans or not self.holds(candidate):
                expected = "a span in the focus" if self.of_spans else "a label of the focus"
                raise ValueError(f"found the candidate {candidate}, expected {expected}")

    def holds(self, span: Candidate | Span) -> bool:
        """Return whether a candidate or a span is inside the focus; a candidate that is about the focus is."""
        if span.start is None:
            return True
        return span.stop is not None and self.start <= span.start < span.stop <= self.stop

    @property
    def of_spans(self) -> bool:
        """Whether it asks for spans."""
        return self.asks is not Asks.LABEL

    def excludes(self, one: Span, other: Span) -> bool:
        """Return whether two spans cannot both be there."""
        return overlap(one, other) and (self.asks is Asks.SPANS or one.label == other.label)

    def words(self, span: Span) -> str:
        """Return the text of a span."""
        return self.gap.join(self.sentence.forms[span.start : span.stop])

    def in_words(self, answer: Answer) -> str:
        """Return an answer as people read it: spans with their text."""
        if answer.kind is not Kind.SPANS:
            return str(answer)
        spans = ", ".join(f"{self.words(span)} ({span.label})" for span in answer.spans) or "no spans"
        return spans if answer.is_complete else f"{spans}, {answer.open}"

    @property
    def gap(self) -> str:
        """The separator of forms: nothing if all forms are single characters."""
        return " " if max(map(len, self.sentence.forms)) > 1 else ""

    @property
    def focus(self) -> str:
        """The text of the focus."""
        return "".join(self.sentence.forms[self.start : self.stop])


class Status(StrEnum):
    """The status of a task."""

    OPEN = "open"
    AGREED = "agreed"
    DROPPED = "dropped"
    ADJUDICATED = "adjudicated"
    """A curator has decided."""
