"""Tasks on which annotators differed to the end: a curator decides."""

from __future__ import annotations

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.questions import Asked
from tagweave.annotate.record import standing
from tagweave.annotate.task import Answer, Kind
from tagweave.annotate.visit import Visit


def show(visit: Visit, message: str = "", status: int = 200) -> Response:
    """The next task that was dropped, and who said what of it."""
    store = visit.site.store
    found = store.tasks(Status.DROPPED, after=visit.fields.number("after", 0), limit=1)
    asked = found[0] if found else None
    judgements = standing(store.judgements_of(asked.id)) if asked else []
    notes = store.labels(asked.task.guideline) if asked else {}
    dropped = visit.site.counts()[Status.DROPPED]
    return visit.page("adjudication", status, message, asked=asked, judgements=judgements, notes=notes, dropped=dropped)


def decide(visit: Visit) -> Response:
    """Keep a decision, and show the next task."""
    number, said = visit.fields.number("task"), visit.fields.answer()
    asked = visit.site.store.task(number)
    if asked is None or not _suits(visit, asked, said):
        raise RefusedError("there is no such task, or its guideline has no such label")
    visit.site.store.adjudicate(visit.me.id, number, said)
    return show(visit, f"Decided: {said}.")


def _suits(visit: Visit, asked: Asked, said: Answer) -> bool:
    if said.kind is not Kind.LABEL:
        return said.kind is not Kind.WORD
    offered = {each.label for each in asked.task.candidates}
    return said.label in offered or said.label in visit.site.store.labels(asked.task.guideline)
