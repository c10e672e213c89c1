"""Drafts of span answers: the spans that a task proposes, the steps taken since, and the form that sends them.

Nothing of this is stored. The steps travel with the form, so pages work the same with scripts and without, and to undo
a step is to leave it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.page_request import FieldError, Fields
from tagweave.annotate.task import CANNOT_TELL, AnnotationTask, Answer, marked
from tagweave.corpus.spans import ANY, OUTSIDE, Span

_MOST = 1000  # steps
_ACTIONS = ("mark", "reject")


class SpanStep(NamedTuple):
    """A span is marked (a proposal is accepted), or rejected (a marked one is removed)."""

    action: str
    span: Span

    def __str__(self) -> str:
        return f"{self.action} {self.span.start} {self.span.stop} {self.span.label}"


class SpanState(StrEnum):
    """The state of a span in a draft."""

    MARKED = "marked"
    REJECTED = "rejected"
    OPEN = "proposed"


class SpanRow(NamedTuple):
    """A span in the list below the sentence; `probability` is `None` if it was marked by hand."""

    span: Span
    words: str
    state: SpanState
    probability: float | None

    @property
    def type(self) -> str:
        """Its type, empty if that is unknown."""
        return "" if self.span.label == ANY else str(self.span.label)


class Piece(NamedTuple):
    """A token with its number, or a span with its tokens and the spans in it."""

    token: tuple[int, str]  # of a span the first one
    row: SpanRow | None = None
    pieces: Sequence[Piece] = ()


@dataclass(frozen=True)
class Draft:
    """A task of spans, the spans marked and rejected before the first step, and the steps."""

    task: AnnotationTask
    first: tuple[Span, ...] = ()
    rejections: frozenset[Span] = frozenset()
    steps: tuple[SpanStep, ...] = ()

    def __post_init__(self) -> None:
        _ = self.spans  # raises

    def then(self, step: SpanStep) -> Draft:
        """Return the draft after one more step."""
        return replace(self, steps=(*self.steps, step))

    def answer(self, is_complete: bool) -> Answer:
        """Return the answer that marks these spans. If it is complete, all that was not accepted is rejected.

        Raises RefusedError if the rest is open and nothing is marked or rejected.
        """
        rejected = [row.span for row in self.rows if row.state is SpanState.REJECTED and not self._is_covered(row.span)]
        if not is_complete and not self.spans and not rejected:
            raise RefusedError("nothing is marked or rejected")
        return marked(self.spans, is_complete, rejected)

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The spans that are marked, from left to right."""
        spans = {*self.first}
        for step in self.steps:
            spans = _after(self.task, spans, step)
        return tuple(sorted(spans))

    @cached_property
    def rows(self) -> list[SpanRow]:
        """Proposed spans, the most probable first, then those that were marked by hand."""
        chances = {candidate.span: candidate.probability for candidate in self.task.candidates}
        rejected = {*self.rejections, *(step.span for step in self.steps if step.action == "reject")}
        rows = []
        for span in dict.fromkeys([*chances, *self.spans]):
            is_rejected = span in rejected or self._is_covered(span)
            state = SpanState.REJECTED if is_rejected else SpanState.OPEN
            state = SpanState.MARKED if span in self.spans else state
            rows.append(SpanRow(span, self.task.words(span), state, chances.get(span)))
        return rows

    @cached_property
    def pieces(self) -> list[Piece]:
        """The sentence in pieces. Of proposals that exclude one another, or cross, the most probable one is shown."""
        shown: list[SpanRow] = []
        for row in sorted(self.rows, key=lambda row: row.state is not SpanState.MARKED):
            if row.state is not SpanState.REJECTED and not any(
                self.task.excludes(row.span, other.span) or _cross(row.span, other.span) for other in shown
            ):
                shown.append(row)
        outer_first = sorted(shown, key=lambda row: (row.span.start, -(row.span.stop or 0)))
        return self._pieces(outer_first, 0, len(self.task.sentence))

    def _pieces(self, rows: Sequence[SpanRow], start: int, stop: int) -> list[Piece]:
        """Return the pieces from token `start` to `stop`, given the spans there, of which none cross."""
        pieces: list[Piece] = []
        while start < stop:
            token, begun, end = (start, self.task.sentence.forms[start]), None, start + 1
            if rows and rows[0].span.start == start:
                begun, end = rows[0], rows[0].span.stop or 0
            inside = [row for row in rows if row.span.start < end]
            pieces.append(Piece(token, begun, self._pieces(inside[1:], start, end) if begun else ()))
            rows, start = rows[len(inside) :], end
        return pieces

    @property
    def written(self) -> str:
        """The steps as a field of a form, which `read_steps` reads."""
        return "\n".join(map(str, self.steps))

    def _is_covered(self, span: Span) -> bool:
        """Return whether a marked span leaves no place for this one."""
        return any(self.task.excludes(span, marked_span) for marked_span in self.spans)


def steps_to(task: AnnotationTask, answer: Answer) -> Iterable[SpanStep]:
    """Return the steps that lead from a task to an answer that marks spans."""
    yield from (SpanStep("mark", span) for span in answer.spans)
    left_out = [candidate.span for candidate in task.candidates if candidate.span not in answer.spans]
    yield from (SpanStep("reject", span) for span in (left_out if answer.is_complete else answer.rejected))


def read_steps(text: str) -> tuple[SpanStep, ...]:
    """Read the steps in a field of a form, as `Draft.written` has them."""
    lines = text.replace("\r\n", "\n").split("\n") if text else []
    if len(lines) > _MOST:
        raise FieldError(f"found {len(lines)} steps, expected {_MOST} at most")
    return tuple(map(read_step, lines))


def read_step(text: str) -> SpanStep:
    """Read a step: `mark START STOP TYPE`, or `reject` and the same."""
    action, *bounds, label = [*text.split(" ", 3), "", ""][:4]
    are_numbers = all(bound.isascii() and bound.isdigit() and len(bound) < 10 for bound in bounds)
    if action not in _ACTIONS or not label or not are_numbers:
        raise FieldError(f"found the step {text[:50]!r}, expected mark or reject, two numbers and a type")
    return SpanStep(action, Span(int(bounds[0]), int(bounds[1]), label))


def _after(task: AnnotationTask, spans: set[Span], step: SpanStep) -> set[Span]:
    if not task.holds(step.span):
        raise RefusedError("these words are not in the text that is asked about")
    if step.action == "reject":
        return spans - {step.span}
    if step.span.label in (ANY, OUTSIDE):
        raise RefusedError(f"a span cannot have the type {step.span.label}")
    # has another type from now on
    same = {span for span in spans if span[:2] == step.span[:2] and task.excludes(span, step.span)}
    for span in sorted(spans - same):
        if task.excludes(span, step.span):
            words, other = task.words(step.span), task.words(span)
            raise RefusedError(f"“{words}” overlaps “{other}”, which is marked")
    return spans - same | {step.span}


def _cross(one: Span, other: Span) -> bool:
    """Return whether two spans overlap and neither is in the other."""
    (start, stop, _), (later, end, _) = sorted((one, other))
    return start < later < (stop or 0) < (end or 0)


_ANSWERS = {"all marked": True, "some marked": False}
_NOTHING = "nothing here"


class Submission(NamedTuple):
    """The content of a form: the draft now, the answer it sends unless it takes a step, a message, the HTTP status."""

    draft: Draft
    answer: Answer | None = None
    message: str = ""
    status: int = 200


def read_form(fields: Fields, shown: Draft, types: Mapping[str, str]) -> Submission:
    """Read the form of a draft that was shown before any step; a step that is refused changes nothing.

    Raises:
        FieldError: fields that none of our pages sends.
        RefusedError: steps that cannot have been taken in this task.
    """
    if not shown.task.of_spans:
        raise FieldError("found spans, expected another answer to this task")
    draft = replace(shown, steps=read_steps(fields["steps"]))
    sent = fields["answer"]
    try:
        if fields["step"] or fields["type"] or fields["back"]:
            return _step(fields, draft, types)
        if sent in _ANSWERS:
            return Submission(draft, draft.answer(_ANSWERS[sent]))
        if sent == _NOTHING and draft.spans:
            count = len(draft.spans)
            raise RefusedError(f"{count} span{'s are' if count > 1 else ' is'} marked, expected none")
        if sent == _NOTHING:
            return Submission(draft, marked(()))
    except RefusedError as error:
        return Submission(draft, None, f"Not taken: {error}.", 409)
    if sent != CANNOT_TELL.kind:
        raise FieldError(f"found the answer {sent[:50]!r}, expected one of the keys")
    return Submission(draft, CANNOT_TELL)


def _step(fields: Fields, draft: Draft, types: Mapping[str, str]) -> Submission:
    if fields["back"]:
        return Submission(replace(draft, steps=draft.steps[:-1]), message="The last step was undone.")
    if fields["step"]:
        step = read_step(fields["step"])
    elif not (fields["first"] and fields["last"]):
        raise RefusedError("no words are selected")
    else:
        first, last = sorted((fields.number("first"), fields.number("last")))  # selected in either direction
        step = SpanStep("mark", Span(first, last + 1, fields["type"]))
    labels = {*types, *(candidate.label for candidate in draft.task.candidates)}
    if step.action == "mark" and step.span.label not in labels:
        raise RefusedError(f"the guideline {draft.task.guideline} has no such label")
    after = draft.then(step)
    name = "Marked" if step.action == "mark" else "Rejected"
    return Submission(after, message=f"{name}: {draft.task.words(step.span)}, {step.span.label}.")
