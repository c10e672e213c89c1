"""The page of annotation: one task, its candidates, and the full list of labels; or the spans to be marked."""

from __future__ import annotations

import time
from typing import Any

from starlette.responses import RedirectResponse, Response

from tagweave.annotate.assignment import Lease, RefusedError
from tagweave.annotate.draft import Draft, read_form, steps_to
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.task import Answer, Asks, Purpose, Status


def start(_request: PageRequest) -> Response:
    """Redirect to the page."""
    return RedirectResponse("/task", 303)


def show(request: PageRequest, message: str = "", status: int = 200) -> Response:
    """Show the task that the annotator holds, or a new one."""
    return _page(request, request.site.store.claim(request.me.id), message, status)


def answer(request: PageRequest) -> Response:
    """Take an answer, and show the next task; or take a step in marking spans. What is refused changes nothing."""
    number = request.fields.number("task")
    try:
        if "steps" not in request.fields:
            return _save(request, number, request.fields.answer())
        store = request.site.store
        if (asked := store.task(number)) is None:
            raise RefusedError("this task was not given to you")
        submission = read_form(request.fields, Draft(asked.task), store.labels(asked.task.guideline))
        if submission.answer is not None:
            return _save(request, number, submission.answer)
        lease = store.claim(request.me.id)
        if lease is None or lease.task_id != number:
            raise RefusedError("this task is not yours, or no longer")
        if submission.status != 200:
            request.refused(submission.message)
        draft, started = Draft(lease.task, steps=submission.draft.steps), request.fields.time("started")
        return _page(request, lease, submission.message, submission.status, draft=draft, started=started)
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not taken: {error}.", 409)


def undo(request: PageRequest) -> Response:
    """Withdraw the last answer known to the page, and show its task again."""
    seen = request.fields.number("seen")
    try:
        (lease,) = request.site.store.undo(request.me.id, seen)
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not undone: {error}.", 409)
    message = "Your last answer was withdrawn."
    if request.wants_json and lease.task.asks is Asks.SPANS:
        own = [each for each in request.site.store.judgements_of(lease.task_id) if each.annotator == request.me.name]
        withdrawn = Draft(lease.task, steps=tuple(steps_to(lease.task, own[-1].answer)))
        return _page(request, lease, message, draft=withdrawn)
    return show(request, message) if request.wants_json else start(request)


def _save(request: PageRequest, number: int, given: Answer) -> Response:
    store = request.site.store
    receipt, lease = store.answer_and_claim(request.me.id, number, given, request.fields.time("started"))
    message, gold = f"Saved: {given}.", receipt.gold
    if gold and (asked := store.task(number)):
        message = f"You answered {asked.task.in_words(given)}; the right answer is {asked.task.in_words(gold)}."
        if given == gold:
            message = f"Right: {asked.task.in_words(gold)}."
    return _page(request, lease, message, receipt={"status": receipt.status.value, "gold": gold and str(gold)})


def _page(
    request: PageRequest,
    lease: Lease | None,
    message: str,
    status: int = 200,
    receipt: dict[str, Any] | None = None,
    draft: Draft | None = None,
    started: float | None = None,
) -> Response:
    store = request.site.store
    if lease and lease.task.asks is Asks.SPANS:
        draft = draft or Draft(lease.task)
    values: dict[str, Any] = {
        "lease": lease,
        "draft": draft,
        "notes": store.labels(lease.task.guideline) if lease else {},
        "now": started or time.time(),
        "progress": store.progress(request.me.id),
        "training": None,
        "open_tasks": request.site.counts()[Status.OPEN],
    }
    if lease and lease.task.purpose is Purpose.TRAINING:
        admission, results = store.settings.admission, store.training_results(request.me.id)
        last = results[-admission.questions :] if admission else results
        values["training"] = {
            "admission": admission,
            "answers": len(results),
            "right": sum(last),
            "last": len(last),
        }
    data = {"receipt": receipt, "task": lease and _described(lease)}
    return request.page("task", status, message, data, **values)


def _described(lease: Lease) -> dict[str, Any]:
    """Return a task as data, without its gold."""
    task = lease.task
    of_spans = task.asks is Asks.SPANS
    candidates = [each.span if of_spans else each.label for each in task.candidates]
    span = {"start": task.start, "stop": task.stop, "forms": task.sentence.forms}
    return {"id": lease.task_id, "asks": task.asks, **span, "guideline": task.guideline, "candidates": candidates}
