"""Occurrences of all words of a list that a model doubts, as they were put in: the most doubtful first."""

from __future__ import annotations

from itertools import chain

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.forms import FieldError
from tagweave.annotate.pages import marking
from tagweave.annotate.pages.marking import CONTEXT, NOTHING, SIZE, Marked, Row
from tagweave.annotate.questions import Asked
from tagweave.annotate.task import Purpose
from tagweave.annotate.visit import Visit

_DONE = (Status.AGREED, Status.DROPPED)


def is_any(visit: Visit) -> bool:
    """Whether something is left."""
    return bool(_open(visit, 0, 1))


def show(visit: Visit, marked: Marked = NOTHING) -> Response:
    """A page of what comes after the task `first`; without it, from the first one that has no mark."""
    first = visit.fields.number("first") if visit.fields["first"] else _beginning(visit)
    asked = [] if first is None else _after(visit, first)
    later = asked[-1].id if len(asked) == SIZE and _open(visit, asked[-1].id, 1) else None
    return marking.page(visit, "doubtful", [_row(each) for each in asked], marked, {"first": first}, later=later)


def mark(visit: Visit) -> Response:
    """Mark one occurrence, or all that are visible and have no mark yet."""
    first = visit.fields.number("first", 0)
    if visit.fields["all"]:
        asked = _after(visit, first)
    else:
        found = visit.site.store.task(visit.fields.number("task"))
        asked = [found] if found and found.task.purpose is Purpose.CONCORDANCE else []
    if not asked:
        raise FieldError("found no such occurrence")
    return show(visit, marking.mark(visit, [each.task for each in asked]))


def undo(visit: Visit) -> Response:
    """Take the last step back."""
    visit.fields.number("first", 0)  # what is no form of ours is refused before anything is taken back
    return show(visit, marking.undo(visit))


def start(visit: Visit) -> Response:
    """To the page."""
    return show(visit)


def _beginning(visit: Visit) -> int | None:
    """The number before the first task that has no mark, if one has none."""
    found = _open(visit, 0, 1)
    return found[0].id - 1 if found else None


def _after(visit: Visit, first: int) -> list[Asked]:
    """The tasks of a page, those with marks, too, so that marking moves none.

    What no model doubted, and was put in by marking it, is not among them.
    """
    done = chain.from_iterable(_read(visit, status, first, 4 * SIZE) for status in _DONE)
    found = [*_open(visit, first, SIZE), *(each for each in done if each.task.doubt)]
    return sorted(found, key=lambda each: each.id)[:SIZE]


def _open(visit: Visit, after: int, limit: int) -> list[Asked]:
    return _read(visit, Status.OPEN, after, limit)


def _read(visit: Visit, status: Status, after: int, limit: int) -> list[Asked]:
    return visit.site.store.tasks(status, Purpose.CONCORDANCE, after, limit)


def _row(asked: Asked) -> Row:
    task = asked.task
    before, after = "".join(task.sentence.forms[: task.start]), "".join(task.sentence.forms[task.stop :])
    return Row(before[-CONTEXT:], task.focus, after[:CONTEXT], marking.answer_of(asked), {"task": asked.id})
