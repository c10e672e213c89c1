"""Annotation tasks and answers: a task is one focus in its sentence, under one guideline (li-2015, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tagweave.corpus.sentence import Sentence


class Kind(StrEnum):
    """What an answer says about its focus."""

    LABEL = "label"
    """It has this label."""
    WORD = "word"
    """It is a word, without a label (all that a concordance asks)."""
    NOT_A_WORD = "not a word"
    CANNOT_TELL = "can't tell"


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
    """A label and its probability under the model."""

    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a task.

    Raises:
        ValueError: a label is missing although the kind is `LABEL`, or given although it is not.
    """

    kind: Kind
    label: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is Kind.LABEL) != bool(self.label):
            raise ValueError(f"found the label {self.label!r}, expected one for {Kind.LABEL!s}, and for nothing else")

    def __str__(self) -> str:
        return self.label or self.kind.value


def label(name: str) -> Answer:
    """The answer that gives a label."""
    return Answer(Kind.LABEL, name)


WORD, NOT_A_WORD, CANNOT_TELL = (Answer(kind) for kind in (Kind.WORD, Kind.NOT_A_WORD, Kind.CANNOT_TELL))


@dataclass(frozen=True, slots=True)
class AnnotationTask:
    """One question. Sentence, location, span, guideline and purpose identify it.

    Attributes:
        sentence: its forms are shown.
        start, stop: the focus is the forms start .. stop - 1.
        guideline: the guideline that the answer is to follow; the name of the layer it will be part of.
        candidates: the most probable labels, the best first; empty if the question is only whether it is a word.
        uncertainty: the greater it is, the earlier the task is asked.
        purpose: why it is asked.
        gold: the right answer, for `GOLD` and `TRAINING`.
        model: version of the model that chose the task and its candidates, if one did.

    Raises:
        ValueError: an empty span or one outside the sentence; gold that is missing, or given for another purpose.
    """

    sentence: Sentence
    start: int
    stop: int
    guideline: str
    candidates: tuple[Candidate, ...] = ()
    uncertainty: float = 0.0
    purpose: Purpose = Purpose.REAL
    gold: Answer | None = None
    model: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop <= len(self.sentence):
            found = f"{self.start} .. {self.stop}"
            raise ValueError(f"found the span {found}, expected one inside a sentence of {len(self.sentence)} tokens")
        if (self.gold is not None) != (self.purpose in (Purpose.GOLD, Purpose.TRAINING)):
            raise ValueError(
                f"found gold {self.gold!s} in a task of purpose {self.purpose.value}, expected it there "
                "and only there where the purpose is gold or training"
            )

    @property
    def focus(self) -> str:
        """The text of the focus."""
        return "".join(self.sentence.forms[self.start : self.stop])
