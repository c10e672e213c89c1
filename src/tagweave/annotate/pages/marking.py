"""Marking occurrences of words in rows, as word, not a word, or skipped, and undoing it step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from unicodedata import bidirectional

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.forms import FieldError
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.questions import Asked
from tagweave.annotate.task import CANNOT_TELL, WORD, AnnotationTask, Answer

SIZE = 25
"""Rows on a page."""
CONTEXT = 20
"""Characters on either side of a word."""
_STEPS = 50  # the most that can be undone


class Row(NamedTuple):
    """An occurrence in its context, its answer, and the fields by which a form names it."""

    before: str
    word: str
    after: str
    answer: Answer | None
    fields: dict[str, Any]

    @property
    def direction(self) -> str:
        """The direction of the row, that of its word: so rows of a word are aligned, however their sentences begin."""
        strong = (bidirectional(character) for character in self.word)
        return "rtl" if next((each for each in strong if each in "LRAL"), "L") in {"R", "AL"} else "ltr"


class Marked(NamedTuple):
    """The result of a form.

    Attributes:
        message: for the annotator.
        steps: the number of answers in each step that can be undone, the last step last.
        status: the HTTP status of the response.
    """

    message: str = ""
    steps: tuple[int, ...] = ()
    status: int = 200


NOTHING = Marked()
"""No form was sent."""


def answer_of(asked: Asked | None) -> Answer | None:
    """The standing answer to an occurrence; skipping it drops the task."""
    return CANNOT_TELL if asked and asked.status is Status.DROPPED else asked and asked.outcome


def mark(request: PageRequest, tasks: Sequence[AnnotationTask]) -> Marked:
    """Give these tasks the answer of the form; or, with its field `all`, mark those without an answer as words."""
    steps, known = _steps(request), [answer_of(asked) for asked in request.site.store.look_up(tasks)]
    given = WORD if request.fields["all"] else request.fields.answer()
    if request.fields["all"]:
        tasks = [task for task, answer in zip(tasks, known, strict=True) if answer is None]
        known = [None] * len(tasks)
    stands = request.site.store.mark(request.me.id, tasks, given) if tasks else []
    lost = len(stands) - sum(stands)
    message = f"{sum(stands)} marked: {given}." + (f" {lost} had been marked by somebody else." if lost else "")
    new = sum(is_new and before is None for is_new, before in zip(stands, known, strict=True))
    return Marked(message, (*steps, new)[-_STEPS:] if new else steps)


def undo(request: PageRequest) -> Marked:
    """Undo the last step."""
    *steps, last = _steps(request) or (0,)
    try:
        if last:
            request.site.store.undo(request.me.id, request.fields.number("seen"), last)
    except RefusedError as error:
        request.refused(error)
        return Marked(f"Not undone: {error}.", tuple(steps), 409)
    return Marked(f"{last} undone.", tuple(steps))


def page(
    request: PageRequest, name: str, rows: Sequence[Row], marked: Marked, where: dict[str, Any], **values: Any
) -> Response:
    """A page of rows; `where` are the fields by which every form on it identifies the page."""
    state = {"steps": ",".join(map(str, marked.steps)), "seen": request.site.store.progress(request.me.id).judgement}
    values |= {"rows": rows, "where": where | state, "last": marked.steps[-1:] or None, "size": SIZE}
    return request.page(name, marked.status, marked.message, **where, **values)


def _steps(request: PageRequest) -> tuple[int, ...]:
    """The steps that can be undone, which the page sends along.

    Raises:
        FieldError: not a list of numbers of rows.
    """
    steps = [each for each in request.fields["steps"].split(",") if each]
    if len(steps) > _STEPS or not all(each.isascii() and each.isdigit() and len(each) < 3 for each in steps):
        raise FieldError("found other steps than those of a page")
    if any(not 0 < int(each) <= SIZE for each in steps):
        raise FieldError("found other steps than those of a page")
    return tuple(map(int, steps))
