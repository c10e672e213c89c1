"""What is asked, and what is answered: one focus in its sentence, under one guideline (li-2015, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tagweave.corpus.sentence import Sentence


class Kind(StrEnum):
    """What an answer says of its focus."""

    LABEL = "label"
    """It has this label."""
    WORD = "word"
    """It is a word, no label given (a concordance asks no more)."""
    NOT_A_WORD = "not a word"
    CANNOT_TELL = "can't tell"


class Purpose(StrEnum):
    """Why a task is asked."""

    REAL = "real"
    """Nobody knows; several annotators are asked."""
    GOLD = "gold"
    """The answer is known, the annotator does not know that: it measures accuracy, and goes to everybody."""
    TRAINING = "training"
    """The answer is known and shown afterwards: a simulated task, before an annotator is admitted."""
    CONCORDANCE = "concordance"
    """An occurrence of a word in a concordance, marked by one annotator (tsuboi-2008, 2.1)."""


class Candidate(NamedTuple):
    """A label, and its probability by the model."""

    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody says of a focus.

    Raises:
        ValueError: a label is missing where the kind is `LABEL`, or given where it is not.
    """

    kind: Kind
    label: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is Kind.LABEL) != bool(self.label):
            raise ValueError(f"found the label {self.label!r}, expected one for {Kind.LABEL!s}, and for nothing else")

    def __str__(self) -> str:
        return self.label or self.kind.value


def label(name: str) -> Answer:
    """The answer that is a label."""
    return Answer(Kind.LABEL, name)


WORD, NOT_A_WORD, CANNOT_TELL = (Answer(kind) for kind in (Kind.WORD, Kind.NOT_A_WORD, Kind.CANNOT_TELL))


@dataclass(frozen=True, slots=True)
class AnnotationTask:
    """One question.

    Attributes:
        sentence: its forms are shown; a task is one and the same wherever sentence, place, span, guideline and purpose
            are.
        start, stop: the focus is the forms start .. stop - 1.
        guideline: what the answer is to follow; the name of the layer that it will become.
        candidates: the most probable labels, the best first; empty where only word or not is asked.
        uncertainty: the greater, the earlier it is asked.
        purpose: why it is asked.
        gold: the answer, of `GOLD` and `TRAINING`.
        model: version of the model that chose it and its candidates, if one did.

    Raises:
        ValueError: an empty span or one outside the sentence; gold that is missing, or there where nobody knows.
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
