"""The page of annotation: one task, its candidates, and the full list of labels."""

from __future__ import annotations

import time
from typing import Any

from starlette.responses import RedirectResponse, Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import Lease, RefusedError
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.task import Answer, Purpose


def start(_request: PageRequest) -> Response:
    """Redirect to the page."""
    return RedirectResponse("/task", 303)


def show(request: PageRequest, message: str = "", status: int = 200) -> Response:
    """The task that the annotator holds, or a new one."""
    return _page(request, request.site.store.claim(request.me.id), message, status)


def answer(request: PageRequest) -> Response:
    """Take an answer, and show the next task. A refused answer changes nothing."""
    store, number, given = request.site.store, request.fields.number("task"), request.fields.answer()
    try:
        receipt, lease = store.answer_and_claim(request.me.id, number, given, request.fields.time("started"))
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not taken: {error}.", 409)
    gold = str(receipt.gold) if receipt.gold else None
    return _page(request, lease, _message(given, receipt.gold), receipt={"status": receipt.status.value, "gold": gold})


def undo(request: PageRequest) -> Response:
    """Withdraw the last answer known to the page, and show its task again."""
    seen = request.fields.number("seen")
    try:
        request.site.store.undo(request.me.id, seen)
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not undone: {error}.", 409)
    return show(request, "Your last answer was withdrawn.") if request.wants_json else start(request)


def _page(
    request: PageRequest, lease: Lease | None, message: str, status: int = 200, receipt: dict[str, Any] | None = None
) -> Response:
    store = request.site.store
    values = {
        "lease": lease,
        "notes": store.labels(lease.task.guideline) if lease else {},
        "now": time.time(),
        "progress": store.progress(request.me.id),
        "training": None if lease is None or lease.task.purpose is not Purpose.TRAINING else _training(request),
        "open_tasks": request.site.counts()[Status.OPEN],
    }
    data = {"receipt": receipt, "task": lease and _described(lease)}
    return request.page("task", status, message, data, **values)


def _message(given: Answer, gold: Answer | None) -> str:
    if gold is None:
        return f"Saved: {given}."
    return f"Right: {gold}." if given == gold else f"You answered {given}; the right answer is {gold}."


def _training(request: PageRequest) -> dict[str, Any]:
    """Progress through the training phase."""
    admission = request.site.store.settings.admission
    results = request.site.store.training_results(request.me.id)
    last = results[-admission.questions :] if admission else results
    return {"admission": admission, "answers": len(results), "right": sum(last), "last": len(last)}


def _described(lease: Lease) -> dict[str, Any]:
    """A task as data, without its gold."""
    task = lease.task
    candidates = [each.label for each in task.candidates]
    span = {"start": task.start, "stop": task.stop, "forms": task.sentence.forms}
    return {"id": lease.task_id, **span, "guideline": task.guideline, "candidates": candidates}
