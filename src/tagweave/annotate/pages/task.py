"""The page of annotation: one task, its candidates, and the full list of labels."""

from __future__ import annotations

import time
from typing import Any

from starlette.responses import RedirectResponse, Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import Lease, RefusedError
from tagweave.annotate.task import Answer, Purpose
from tagweave.annotate.visit import Visit


def start(_visit: Visit) -> Response:
    """To the page."""
    return RedirectResponse("/task", 303)


def show(visit: Visit, message: str = "", status: int = 200) -> Response:
    """The task that somebody holds, or a new one."""
    return _shown(visit, visit.site.store.claim(visit.me.id), message, status)


def answer(visit: Visit) -> Response:
    """Take an answer, and show the next task. What is refused leaves everything as it was."""
    store, number, said = visit.site.store, visit.fields.number("task"), visit.fields.answer()
    try:
        receipt, lease = store.answer_and_claim(visit.me.id, number, said, visit.fields.time("started"))
    except RefusedError as error:
        visit.refused(error)
        return show(visit, f"Not taken: {error}.", 409)
    gold = str(receipt.gold) if receipt.gold else None
    return _shown(visit, lease, _told(said, receipt.gold), receipt={"status": receipt.status.value, "gold": gold})


def undo(visit: Visit) -> Response:
    """Withdraw the last answer that the page knew of, and show its task again."""
    seen = visit.fields.number("seen")
    try:
        visit.site.store.undo(visit.me.id, seen)
    except RefusedError as error:
        visit.refused(error)
        return show(visit, f"Not undone: {error}.", 409)
    return show(visit, "Your last answer is withdrawn.") if visit.wants_json else start(visit)


def _shown(
    visit: Visit, lease: Lease | None, message: str, status: int = 200, receipt: dict[str, Any] | None = None
) -> Response:
    store = visit.site.store
    values = {
        "lease": lease,
        "notes": store.labels(lease.task.guideline) if lease else {},
        "now": time.time(),
        "progress": store.progress(visit.me.id),
        "training": None if lease is None or lease.task.purpose is not Purpose.TRAINING else _training(visit),
        "open_tasks": visit.site.counts()[Status.OPEN],
    }
    data = {"receipt": receipt, "task": lease and _described(lease)}
    return visit.page("task", status, message, data, **values)


def _told(said: Answer, gold: Answer | None) -> str:
    if gold is None:
        return f"Saved: {said}."
    return f"Right: {gold}." if said == gold else f"You said {said}; right would be {gold}."


def _training(visit: Visit) -> dict[str, Any]:
    """How far somebody is on the way to be admitted."""
    admission = visit.site.store.settings.admission
    results = visit.site.store.training_results(visit.me.id)
    last = results[-admission.questions :] if admission else results
    return {"admission": admission, "answers": len(results), "right": sum(last), "last": len(last)}


def _described(lease: Lease) -> dict[str, Any]:
    """A task as data, without its gold."""
    task = lease.task
    candidates = [each.label for each in task.candidates]
    span = {"start": task.start, "stop": task.stop, "forms": task.sentence.forms}
    return {"id": lease.task_id, **span, "guideline": task.guideline, "candidates": candidates}
