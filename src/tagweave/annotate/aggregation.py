"""Rules of double annotation, and outcomes of tasks: agreed, dropped, or still open (li-2015, section 4).

Labels are agreed on as a whole, spans one by one: a span is agreed on if a majority has marked it, and disputed if it
has neither a majority for it nor one against it. The defaults are the paper's, where it gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from tagweave.annotate.task import CANNOT_TELL, AnnotationTask, Answer, Asks, Kind, Purpose, marked
from tagweave.corpus.spans import Span

if TYPE_CHECKING:
    from tagweave.annotate.reliability import PosteriorRule


@dataclass(frozen=True, slots=True)
class Rule:
    """When a task is agreed on.

    Attributes:
        first: number of annotators asked first; the task is agreed on if they give the same answer.
        more: number of annotators asked if they differ.
        majority: number of equal answers among all of them that is agreement; with fewer the task is dropped.

    Raises:
        ValueError: a majority that can never be reached, or that two answers could have at once.
    """

    first: int = 2
    more: int = 2
    majority: int = 3

    def __post_init__(self) -> None:
        everybody = self.first + self.more
        if self.first < 1 or self.more < 0 or not everybody // 2 < self.majority <= everybody:
            found = f"{self.first} annotators, {self.more} more and a majority of {self.majority}"
            raise ValueError(f"found {found}, expected 1 or more, 0 or more, and more than half of all")


ONCE = Rule(1, 0, 1)
"""One annotator decides, as in a concordance."""


@dataclass(frozen=True, slots=True)
class Admission:
    """An annotator is admitted once a share `accuracy` of their last `questions` simulated tasks was right."""

    questions: int = 50
    accuracy: float = 0.9


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an annotation store.

    Attributes:
        rule: how many annotators, and when they agree.
        posterior: when tasks of labels are agreed on instead, if the posterior decides.
        admission: the training phase; `None` admits everybody at once.
        lease: seconds after which a task that was handed out and not answered may go to somebody else.
        window: number of most uncertain tasks from which one is drawn at random, so that pairs of annotators are
            random.
        gold_share: share of planted gold among the tasks handed out, while there is any.
    """

    rule: Rule = field(default_factory=Rule)
    posterior: PosteriorRule | None = None
    admission: Admission | None = None
    lease: float = 900.0
    window: int = 32
    gold_share: float = 0.05

    def posterior_of(self, task: AnnotationTask) -> PosteriorRule | None:
        """Return the rule of a task whose posterior decides: a real one that asks for a label."""
        return self.posterior if task.purpose is Purpose.REAL and task.asks is Asks.LABEL else None


class Status(StrEnum):
    """The status of a task."""

    OPEN = "open"
    AGREED = "agreed"
    DROPPED = "dropped"
    ADJUDICATED = "adjudicated"
    """A curator has decided."""


class Outcome(NamedTuple):
    """The outcome of a task.

    Attributes:
        status: `OPEN` while an annotator who is needed has not answered.
        answer: the answer agreed on, or `None`.
        wanted: how many annotators are needed.
    """

    status: Status
    answer: Answer | None
    wanted: int


def aggregate(answers: Sequence[Answer | None], rule: Rule) -> Outcome:
    """Return the outcome of a task.

    A task is agreed on if the first annotators give the same answer. If they differ, more are asked, and a majority of
    all of them decides, on spans one by one. If they agree that they cannot tell, or if a span is still disputed, the
    task is dropped.

    Args:
        answers: by slot; `None`, or missing at the end, if not given yet.
        rule: how many annotators, and when they agree.
    """
    given = [*answers, *[None] * rule.first]
    first, everybody = given[: rule.first], rule.first + rule.more
    if None in first:
        return Outcome(Status.OPEN, None, rule.first)
    if len({*first}) == 1:
        return _settled(first[0], rule.first)
    if _agree(first):
        return _settled(span_votes([each for each in first if each], rule.first).answer, rule.first)
    if None in [*answers, *[None] * everybody][:everybody]:
        return Outcome(Status.OPEN, None, everybody)
    return _settled(_by_majority([each for each in answers[:everybody] if each], rule.majority), everybody)


class SpanVotes(NamedTuple):
    """The votes of annotators on the spans of a task.

    Attributes:
        agreed: spans that a majority marked.
        disputed: spans with neither a majority for them nor one against them.
        is_complete: whether a majority said that everything was marked.
        rejected: spans that somebody rejected, and a majority rejected or left out of all that they marked.
    """

    agreed: tuple[Span, ...]
    disputed: tuple[Span, ...]
    is_complete: bool
    rejected: tuple[Span, ...]

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
        span: sum(span in each.rejected or (each.is_complete and span not in each.spans) for each in answers)
        for answer in answers
        for span in answer.rejected
    }
    rejected = tuple(sorted(span for span, count in against.items() if count >= majority))
    return SpanVotes(agreed, disputed, sum(answer.is_complete for answer in answers) >= majority, rejected)


def _by_majority(answers: Sequence[Answer], majority: int) -> Answer | None:
    answer, votes = Counter(answers).most_common(1)[0]
    if votes >= majority or not any(each.kind is Kind.SPANS for each in answers):
        return answer if votes >= majority else None
    return span_votes(answers, majority).answer


def _agree(answers: Sequence[Answer | None]) -> bool:
    """Return whether answers are the same but for what they reject: others have not seen or judged that."""
    return len({each and (each.kind, each.label, each.spans, each.is_complete) for each in answers}) == 1


def _settled(answer: Answer | None, wanted: int) -> Outcome:
    if answer is None or answer == CANNOT_TELL:
        return Outcome(Status.DROPPED, None, wanted)
    return Outcome(Status.AGREED, answer, wanted)
