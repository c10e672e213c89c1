"""The occurrences of listed words that a model is uncertain about, as imported: the most uncertain first."""

from __future__ import annotations

from itertools import chain

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.forms import FieldError
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.pages import marking
from tagweave.annotate.pages.marking import CONTEXT, NOTHING, SIZE, Marked, Row
from tagweave.annotate.questions import Asked
from tagweave.annotate.task import Purpose

_DONE = (Status.AGREED, Status.DROPPED)


def is_any(request: PageRequest) -> bool:
    """Whether any occurrence is left."""
    return bool(_open(request, 0, 1))


def show(request: PageRequest, marked: Marked = NOTHING) -> Response:
    """The page after the task `first`; without that field, from the first occurrence that has no mark."""
    first = request.fields.number("first") if request.fields["first"] else _beginning(request)
    asked = [] if first is None else _after(request, first)
    later = asked[-1].id if len(asked) == SIZE and _open(request, asked[-1].id, 1) else None
    return marking.page(request, "uncertain", [_row(each) for each in asked], marked, {"first": first}, later=later)


def mark(request: PageRequest) -> Response:
    """Mark one occurrence, or all on the page that have no mark yet."""
    first = request.fields.number("first", 0)
    if request.fields["all"]:
        asked = _after(request, first)
    else:
        task = request.site.store.task(request.fields.number("task"))
        asked = [task] if task and task.task.purpose is Purpose.CONCORDANCE else []
    if not asked:
        raise FieldError("found no such occurrence")
    return show(request, marking.mark(request, [each.task for each in asked]))


def undo(request: PageRequest) -> Response:
    """Undo the last step."""
    request.fields.number("first", 0)  # refuses a form that is not ours before anything is undone
    return show(request, marking.undo(request))


def start(request: PageRequest) -> Response:
    """Show the page."""
    return show(request)


def _beginning(request: PageRequest) -> int | None:
    """The number before the first task that has no mark, if there is one."""
    tasks = _open(request, 0, 1)
    return tasks[0].id - 1 if tasks else None


def _after(request: PageRequest, first: int) -> list[Asked]:
    """The tasks of a page, including those with marks, so that marking moves none.

    Occurrences that were added by marking them in the concordance are left out: they have no uncertainty.
    """
    done = chain.from_iterable(_read(request, status, first, 4 * SIZE) for status in _DONE)
    tasks = [*_open(request, first, SIZE), *(each for each in done if each.task.uncertainty)]
    return sorted(tasks, key=lambda each: each.id)[:SIZE]


def _open(request: PageRequest, after: int, limit: int) -> list[Asked]:
    return _read(request, Status.OPEN, after, limit)


def _read(request: PageRequest, status: Status, after: int, limit: int) -> list[Asked]:
    return request.site.store.tasks(status, Purpose.CONCORDANCE, after, limit)


def _row(asked: Asked) -> Row:
    task = asked.task
    before, after = "".join(task.sentence.forms[: task.start]), "".join(task.sentence.forms[task.stop :])
    return Row(before[-CONTEXT:], task.focus, after[:CONTEXT], marking.answer_of(asked), {"task": asked.id})
