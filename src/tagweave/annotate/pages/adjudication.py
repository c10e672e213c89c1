"""Adjudication: a curator decides tasks on which annotators did not agree."""

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
    """The next dropped task and its answers, or the decided task that the field `again` names."""
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
        names=_names_by_answer(judgements),
        notes=store.labels(asked.task.guideline) if asked else {},
        dropped=request.site.counts()[Status.DROPPED],
        decided=decided,
    )


def decide(request: PageRequest) -> Response:
    """Store a decision, and show the next task."""
    number, answer = request.fields.number("task"), request.fields.answer()
    asked = _disputed(request, number)
    request.site.store.adjudicate(request.me.id, number, answer)
    return show(request, f"Decided: {asked.task.focus} is {answer}.", decided=number)


def _next(request: PageRequest) -> Asked | None:
    tasks = request.site.store.tasks(Status.DROPPED, after=request.fields.number("after", 0), limit=1)
    return tasks[0] if tasks else None


def _disputed(request: PageRequest, number: int) -> Asked:
    """A task that a curator is to decide or has decided.

    Raises:
        RefusedError: any other task.
    """
    asked = request.site.store.task(number)
    if asked is None or asked.status not in _DISPUTED:
        raise RefusedError("there is no such task to decide on")
    return asked


def _with_answers(task: AnnotationTask, judgements: list[Judgement]) -> AnnotationTask:
    """The task with the labels that annotators gave as its first candidates, the most frequent first."""
    given = [each.answer.label for each in judgements if each.answer.label]
    chances = {each.label: each.probability for each in task.candidates}
    labels = dict.fromkeys([*sorted(given, key=lambda each: (-given.count(each), given.index(each))), *chances])
    return replace(task, candidates=tuple(Candidate(each, chances.get(each, 0.0)) for each in labels))


def _names_by_answer(judgements: list[Judgement]) -> dict[str, str]:
    """The names of those who gave each answer."""
    names: dict[str, list[str]] = {}
    for each in judgements:
        names.setdefault(str(each.answer), []).append(each.annotator)
    return {answer: ", ".join(people) for answer, people in names.items()}
