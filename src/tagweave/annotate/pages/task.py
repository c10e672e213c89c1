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
    """To the page."""
    return RedirectResponse("/task", 303)


def show(request: PageRequest, message: str = "", status: int = 200) -> Response:
    """The task that somebody holds, or a new one."""
    return _shown(request, request.site.store.claim(request.me.id), message, status)


def answer(request: PageRequest) -> Response:
    """Take an answer, and show the next task. What is refused leaves everything as it was."""
    store, number, said = request.site.store, request.fields.number("task"), request.fields.answer()
    try:
        receipt, lease = store.answer_and_claim(request.me.id, number, said, request.fields.time("started"))
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not taken: {error}.", 409)
    gold = str(receipt.gold) if receipt.gold else None
    return _shown(request, lease, _told(said, receipt.gold), receipt={"status": receipt.status.value, "gold": gold})


def undo(request: PageRequest) -> Response:
    """Withdraw the last answer that the page knew of, and show its task again."""
    seen = request.fields.number("seen")
    try:
        request.site.store.undo(request.me.id, seen)
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not undone: {error}.", 409)
    return show(request, "Your last answer is withdrawn.") if request.wants_json else start(request)


def _shown(
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


def _told(said: Answer, gold: Answer | None) -> str:
    if gold is None:
        return f"Saved: {said}."
    return f"Right: {gold}." if said == gold else f"You said {said}; right would be {gold}."


def _training(request: PageRequest) -> dict[str, Any]:
    """How far somebody is on the way to be admitted."""
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
