"""Occurrences of words in rows that are marked: word, not a word, skip; and taken back, one step after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from unicodedata import bidirectional

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.forms import FieldError
from tagweave.annotate.questions import Asked
from tagweave.annotate.task import CANNOT_TELL, WORD, Answer, Task
from tagweave.annotate.visit import Visit

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


def mark(visit: Visit, tasks: Sequence[Task]) -> Marked:
    """Give these tasks the answer of the form; or, with `all`, those that have none that they are words."""
    steps, known = _steps(visit), [answer_of(found) for found in visit.site.store.found(tasks)]
    said = WORD if visit.fields["all"] else visit.fields.answer()
    if visit.fields["all"]:
        tasks = [task for task, answer in zip(tasks, known, strict=True) if answer is None]
        known = [None] * len(tasks)
    took = visit.site.store.mark(visit.me.id, tasks, said) if tasks else []
    lost = len(took) - sum(took)
    told = f"{sum(took)} marked: {said}." + (f" {lost} had been marked by somebody else." if lost else "")
    new = sum(taken and before is None for taken, before in zip(took, known, strict=True))
    return Marked(told, (*steps, new)[-_STEPS:] if new else steps)


def undo(visit: Visit) -> Marked:
    """Take the last step back."""
    *steps, last = _steps(visit) or (0,)
    try:
        if last:
            visit.site.store.undo(visit.me.id, visit.fields.number("seen"), last)
    except RefusedError as error:
        visit.refused(error)
        return Marked(f"Not undone: {error}.", tuple(steps), 409)
    return Marked(f"{last} taken back.", tuple(steps))


def page(
    visit: Visit, name: str, rows: Sequence[Row], marked: Marked, where: dict[str, Any], **values: Any
) -> Response:
    """A page of rows; `where` is what every form on it says of the page."""
    told = {"steps": ",".join(map(str, marked.steps)), "seen": visit.site.store.progress(visit.me.id).judgement}
    values |= {"rows": rows, "where": where | told, "last": marked.steps[-1:] or None, "size": SIZE}
    return visit.page(name, marked.status, marked.message, **where, **values)


def _steps(visit: Visit) -> tuple[int, ...]:
    """What can be taken back, as the page says that the form is on.

    Raises:
        FieldError: no list of numbers of rows.
    """
    found = [each for each in visit.fields["steps"].split(",") if each]
    if len(found) > _STEPS or not all(each.isascii() and each.isdigit() and len(each) < 3 for each in found):
        raise FieldError("found other steps than those of a page")
    if any(not 0 < int(each) <= SIZE for each in found):
        raise FieldError("found other steps than those of a page")
    return tuple(map(int, found))
