"""Tasks on which annotators differed to the end: a curator decides."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.questions import Asked
from tagweave.annotate.record import Judgement, standing
from tagweave.annotate.task import Candidate, Task
from tagweave.annotate.visit import Visit

_DISPUTED = (Status.DROPPED, Status.ADJUDICATED)


def show(visit: Visit, message: str = "", status: int = 200, decided: int | None = None) -> Response:
    """The next task that was dropped, and who said what of it; or one that is to be decided `again`."""
    store, again = visit.site.store, visit.fields.number("again", 0)
    asked = _disputed(visit, again) if again else _next(visit)
    judgements = standing(store.judgements_of(asked.id)) if asked else []
    return visit.page(
        "adjudication",
        status,
        message,
        asked=asked,
        task=asked and _with_answers(asked.task, judgements),
        judgements=judgements,
        said=_by_answer(judgements),
        notes=store.labels(asked.task.guideline) if asked else {},
        dropped=visit.site.counts()[Status.DROPPED],
        decided=decided,
    )


def decide(visit: Visit) -> Response:
    """Keep a decision, and show the next task."""
    number, said = visit.fields.number("task"), visit.fields.answer()
    asked = _disputed(visit, number)
    visit.site.store.adjudicate(visit.me.id, number, said)
    return show(visit, f"Decided: {asked.task.focus} is {said}.", decided=number)


def _next(visit: Visit) -> Asked | None:
    found = visit.site.store.tasks(Status.DROPPED, after=visit.fields.number("after", 0), limit=1)
    return found[0] if found else None


def _disputed(visit: Visit, number: int) -> Asked:
    """A task on which a curator decides, or has decided.

    Raises:
        RefusedError: any other one.
    """
    asked = visit.site.store.task(number)
    if asked is None or asked.status not in _DISPUTED:
        raise RefusedError("there is no such task to decide on")
    return asked


def _with_answers(task: Task, judgements: list[Judgement]) -> Task:
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
