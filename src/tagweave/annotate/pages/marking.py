"""Occurrences of words in rows that are marked: word, not a word, skip; and taken back, one step after the other."""

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
"""Rows of a page."""
CONTEXT = 20
"""Characters on either side."""
_STEPS = 50  # that can be taken back


class Row(NamedTuple):
    """An occurrence in its context, what stands of it, and the fields by which a form names it."""

    before: str
    word: str
    after: str
    answer: Answer | None
    fields: dict[str, Any]

    @property
    def direction(self) -> str:
        """Of the whole row, by its word: rows of one word are aligned, whatever their sentences begin with."""
        strong = (bidirectional(character) for character in self.word)
        return "rtl" if next((each for each in strong if each in "LRAL"), "L") in {"R", "AL"} else "ltr"


class Marked(NamedTuple):
    """What came of a form.

    Attributes:
        message: for whoever sent it.
        steps: how many answers each step gave that can be taken back, the last step last.
        status: of the response.
    """

    message: str = ""
    steps: tuple[int, ...] = ()
    status: int = 200


NOTHING = Marked()
"""No form was sent."""


def answer_of(found: Asked | None) -> Answer | None:
    """What stands of an occurrence; who skips it drops it."""
    return CANNOT_TELL if found and found.status is Status.DROPPED else found and found.outcome


def mark(request: PageRequest, tasks: Sequence[AnnotationTask]) -> Marked:
    """Give these tasks the answer of the form; or, with `all`, those that have none that they are words."""
    steps, known = _steps(request), [answer_of(found) for found in request.site.store.found(tasks)]
    said = WORD if request.fields["all"] else request.fields.answer()
    if request.fields["all"]:
        tasks = [task for task, answer in zip(tasks, known, strict=True) if answer is None]
        known = [None] * len(tasks)
    took = request.site.store.mark(request.me.id, tasks, said) if tasks else []
    lost = len(took) - sum(took)
    told = f"{sum(took)} marked: {said}." + (f" {lost} had been marked by somebody else." if lost else "")
    new = sum(taken and before is None for taken, before in zip(took, known, strict=True))
    return Marked(told, (*steps, new)[-_STEPS:] if new else steps)


def undo(request: PageRequest) -> Marked:
    """Take the last step back."""
    *steps, last = _steps(request) or (0,)
    try:
        if last:
            request.site.store.undo(request.me.id, request.fields.number("seen"), last)
    except RefusedError as error:
        request.refused(error)
        return Marked(f"Not undone: {error}.", tuple(steps), 409)
    return Marked(f"{last} taken back.", tuple(steps))


def page(
    request: PageRequest, name: str, rows: Sequence[Row], marked: Marked, where: dict[str, Any], **values: Any
) -> Response:
    """A page of rows; `where` is what every form on it says of the page."""
    told = {"steps": ",".join(map(str, marked.steps)), "seen": request.site.store.progress(request.me.id).judgement}
    values |= {"rows": rows, "where": where | told, "last": marked.steps[-1:] or None, "size": SIZE}
    return request.page(name, marked.status, marked.message, **where, **values)


def _steps(request: PageRequest) -> tuple[int, ...]:
    """What can be taken back, as the page says that the form is on.

    Raises:
        FieldError: no list of numbers of rows.
    """
    found = [each for each in request.fields["steps"].split(",") if each]
    if len(found) > _STEPS or not all(each.isascii() and each.isdigit() and len(each) < 3 for each in found):
        raise FieldError("found other steps than those of a page")
    if any(not 0 < int(each) <= SIZE for each in found):
        raise FieldError("found other steps than those of a page")
    return tuple(map(int, found))
