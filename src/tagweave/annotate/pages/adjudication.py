"""Tasks on which annotators differed to the end: a curator decides."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.questions import Asked
from tagweave.annotate.record import Judgement, standing
from tagweave.annotate.task import AnnotationTask, Candidate

_DISPUTED = (Status.DROPPED, Status.ADJUDICATED)


def show(request: PageRequest, message: str = "", status: int = 200, decided: int | None = None) -> Response:
    """The next task that was dropped, and who said what of it; or one that is to be decided `again`."""
    store, again = request.site.store, request.fields.number("again", 0)
    asked = _disputed(request, again) if again else _next(request)
    judgements = standing(store.judgements_of(asked.id)) if asked else []
    return request.page(
        "adjudication",
        status,
        message,
        asked=asked,
        task=asked and _with_answers(asked.task, judgements),
        judgements=judgements,
        said=_by_answer(judgements),
        notes=store.labels(asked.task.guideline) if asked else {},
        dropped=request.site.counts()[Status.DROPPED],
        decided=decided,
    )


def decide(request: PageRequest) -> Response:
    """Keep a decision, and show the next task."""
    number, said = request.fields.number("task"), request.fields.answer()
    asked = _disputed(request, number)
    request.site.store.adjudicate(request.me.id, number, said)
    return show(request, f"Decided: {asked.task.focus} is {said}.", decided=number)


def _next(request: PageRequest) -> Asked | None:
    found = request.site.store.tasks(Status.DROPPED, after=request.fields.number("after", 0), limit=1)
    return found[0] if found else None


def _disputed(request: PageRequest, number: int) -> Asked:
    """A task on which a curator decides, or has decided.

    Raises:
        RefusedError: any other one.
    """
    asked = request.site.store.task(number)
    if asked is None or asked.status not in _DISPUTED:
        raise RefusedError("there is no such task to decide on")
    return asked


def _with_answers(task: AnnotationTask, judgements: list[Judgement]) -> AnnotationTask:
    """The task with what annotators said as the first candidates, the most frequent first."""
    said = [each.answer.label for each in judgements if each.answer.label]
    chances = {each.label: each.probability for each in task.candidates}
    labels = dict.fromkeys([*sorted(said, key=lambda each: (-said.count(each), said.index(each))), *chances])
    return replace(task, candidates=tuple(Candidate(each, chances.get(each, 0.0)) for each in labels))


def _by_answer(judgements: list[Judgement]) -> dict[str, str]:
    """Who gave each answer."""
    names: dict[str, list[str]] = {}
    for each in judgements:
        names.setdefault(str(each.answer), []).append(each.annotator)
    return {answer: ", ".join(people) for answer, people in names.items()}
