"""When the answers to a task agree, by votes (li-2015, section 4).

Labels are agreed on as a whole, spans one by one: a span is agreed on if a majority has marked it, and disputed if it
has neither a majority for it nor one against it. The defaults are the paper's, where it gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tagweave.annotate.task import CANNOT_TELL, Answer, Kind, Status, marked
from tagweave.corpus.spans import Span


class TaskOutcome(NamedTuple):
    """The outcome of a task."""

    status: Status  # OPEN while an annotator who is needed has not answered
    answer: Answer | None  # agreed on
    wanted: int  # annotators


@dataclass(frozen=True, slots=True)
class Rule:
    """When a task is agreed on; ValueError for a majority that is impossible, or that two answers could have."""

    first: int = 2  # annotators asked first; the task is agreed on if they give the same answer
    more: int = 2  # annotators asked if they differ
    majority: int = 3  # equal answers of all of them that are agreement; with fewer the task is dropped

    def __post_init__(self) -> None:
        everybody = self.first + self.more
        if self.first < 1 or self.more < 0 or not everybody // 2 < self.majority <= everybody:
            numbers = f"{self.first} annotators, {self.more} more and a majority of {self.majority}"
            raise ValueError(f"found {numbers}, expected 1 or more, 0 or more, and more than half of all")


ONCE = Rule(1, 0, 1)
"""One annotator decides, as in a concordance."""


def aggregate(answers: Sequence[Answer | None], rule: Rule) -> TaskOutcome:
    """Return the outcome of a task, given answers by slot; `None`, or missing at the end, if not given yet.

    A task is agreed on if the first annotators give the same answer. If they differ, more are asked, and a majority of
    all of them decides, on spans one by one. If they agree that they cannot tell, or if a span is still disputed, the
    task is dropped.
    """
    everybody = rule.first + rule.more
    padded = [*answers, *[None] * everybody][:everybody]
    first = [answer for answer in padded[: rule.first] if answer]
    answered = [answer for answer in padded if answer]
    if len(first) < rule.first:
        return TaskOutcome(Status.OPEN, None, rule.first)
    if len({*first}) == 1:
        return _settled(first[0], rule.first)
    # others have not seen or judged what is rejected
    if len({(answer.kind, answer.label, answer.spans, answer.is_complete) for answer in first}) == 1:
        return _settled(span_votes(first, rule.first).answer, rule.first)
    if len(answered) < everybody:
        return TaskOutcome(Status.OPEN, None, everybody)
    answer, votes = Counter(answered).most_common(1)[0]
    if votes >= rule.majority:
        return _settled(answer, everybody)
    of_spans = any(answer.kind is Kind.SPANS for answer in answered)
    return _settled(span_votes(answered, rule.majority).answer if of_spans else None, everybody)


class SpanVotes(NamedTuple):
    """The votes of annotators on the spans of a task."""

    agreed: tuple[Span, ...]  # a majority marked them
    disputed: tuple[Span, ...]  # with neither a majority for them nor one against them
    is_complete: bool  # a majority said that everything was marked
    rejected: tuple[Span, ...]  # somebody rejected them, and a majority did or left them out of all that they marked

    @property
    def answer(self) -> Answer | None:
        """The answer that a majority gives; `None` if a span is disputed, or nothing is agreed on."""
        if self.disputed or not (self.agreed or self.is_complete or self.rejected):
            return None
        return marked(self.agreed, self.is_complete, self.rejected)


def span_votes(answers: Sequence[Answer], majority: int) -> SpanVotes:
    """Count the votes of all annotators of a task on each of its spans.

    A majority is more than half, and nobody marks spans that overlap. So no agreed span overlaps an agreed or a
    disputed one.
    """
    votes = Counter(span for answer in answers for span in answer.spans)
    agreed = tuple(sorted(span for span, count in votes.items() if count >= majority))
    disputed = tuple(sorted(span for span, count in votes.items() if len(answers) - majority < count < majority))
    against = {
        span: sum(span in other.rejected or (other.is_complete and span not in other.spans) for other in answers)
        for answer in answers
        for span in answer.rejected
    }
    rejected = tuple(sorted(span for span, count in against.items() if count >= majority))
    return SpanVotes(agreed, disputed, sum(answer.is_complete for answer in answers) >= majority, rejected)


def _settled(answer: Answer | None, wanted: int) -> TaskOutcome:
    if answer is None or answer == CANNOT_TELL:
        return TaskOutcome(Status.DROPPED, None, wanted)
    return TaskOutcome(Status.AGREED, answer, wanted)


@dataclass(frozen=True, slots=True)
class Admission:
    """An annotator is admitted once a share `accuracy` of their last `questions` simulated tasks was right."""

    questions: int = 50
    accuracy: float = 0.9


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an annotation store."""

    rule: Rule = field(default_factory=Rule)
    admission: Admission | None = None  # the training phase; None admits everybody at once
    lease: float = 900.0  # seconds after which a task that was handed out and not answered may go to somebody else
    window: int = 32  # most uncertain tasks from which one is drawn, so that pairs of annotators are random
    gold_share: float = 0.05  # of the tasks handed out, while there is planted gold
