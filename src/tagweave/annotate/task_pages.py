"""The pages of tasks: annotators answer them, and a curator decides those on which annotators did not agree.

A page has one task with its candidates and the full list of labels, or the spans to be marked.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Any

from starlette.responses import RedirectResponse, Response

from tagweave.annotate.assignment import Lease, RefusedError
from tagweave.annotate.draft import Draft, read_form, read_steps, steps_to
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.questions import Asked
from tagweave.annotate.reasons import reasons
from tagweave.annotate.rules import span_votes
from tagweave.annotate.store import Judgement, standing
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, Purpose, Status
from tagweave.corpus.spans import Span
from tagweave.errors import TagweaveError


def show(request: PageRequest, message: str = "", status: int = 200) -> Response:
    """Show the task that the annotator holds, or a new one."""
    return _page(request, request.site.store.claim(request.me.id), message, status)


def answer(request: PageRequest) -> Response:
    """Take an answer, and show the next task; or take a step in marking spans, or show the reasons of the model.

    A refused step changes nothing.
    """
    number = request.fields.number("task")
    try:
        if request.fields["why"]:
            return _explain(request, _held(request, number))
        if "steps" not in request.fields:
            return _save(request, number, request.fields.answer())
        store = request.site.store
        if (asked := store.task(number)) is None:
            raise RefusedError("this task was not given to you")
        submission = read_form(request.fields, Draft(asked.task), store.labels(asked.task.guideline))
        if submission.answer is not None:
            return _save(request, number, submission.answer)
        lease = _held(request, number)
        if submission.status != 200:
            request.refused(submission.message)
        draft = Draft(lease.task, steps=submission.draft.steps)
        started = request.fields.time("started")
        return _page(request, lease, submission.message, submission.status, draft=draft, started=started)
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not taken: {error}.", 409)


def _held(request: PageRequest, number: int) -> Lease:
    """Return the task that the annotator holds. Raises RefusedError unless it has this number."""
    lease = request.site.store.claim(request.me.id)
    if lease is None or lease.task_id != number:
        raise RefusedError("this task is not yours, or no longer")
    return lease


def _explain(request: PageRequest, lease: Lease) -> Response:
    """Show the task with the reasons of its model; of the selected span, if words are selected."""
    fields, task = request.fields, lease.task
    token = fields.number("first") if fields["first"] else None if task.of_spans else task.start
    try:
        why = reasons(request.site.store, task, token)
    except TagweaveError as error:
        raise RefusedError(str(error)) from error
    message = "The reasons are below." if why else "No model is at hand that chose this task."
    draft = Draft(task, steps=read_steps(fields["steps"])) if task.of_spans else None
    return _page(request, lease, message, draft=draft, started=fields.time("started"), why=why)


def undo(request: PageRequest) -> Response:
    """Withdraw the last answer known to the page, and show its task again."""
    seen = request.fields.number("seen")
    try:
        (lease,) = request.site.store.undo(request.me.id, seen)
    except RefusedError as error:
        request.refused(error)
        return show(request, f"Not undone: {error}.", 409)
    message = "Your last answer was withdrawn."
    if request.wants_json and lease.task.of_spans:
        judgements = request.site.store.judgements_of(lease.task_id)
        last = [judgement for judgement in judgements if judgement.annotator == request.me.name][-1]
        withdrawn = Draft(lease.task, steps=tuple(steps_to(lease.task, last.answer)))
        return _page(request, lease, message, draft=withdrawn)
    return show(request, message) if request.wants_json else RedirectResponse("/task", 303)


def _save(request: PageRequest, number: int, answer: Answer) -> Response:
    store = request.site.store
    receipt, lease = store.answer_and_claim(request.me.id, number, answer, request.fields.time("started"))
    message = f"Saved: {answer}."
    gold = receipt.gold
    if gold and (asked := store.task(number)):
        message = f"You answered {asked.task.in_words(answer)}; the right answer is {asked.task.in_words(gold)}."
        if answer == gold:
            message = f"Right: {asked.task.in_words(gold)}."
    return _page(request, lease, message)


def _page(
    request: PageRequest,
    lease: Lease | None,
    message: str,
    status: int = 200,
    draft: Draft | None = None,
    started: float | None = None,
    why: str | None = None,
) -> Response:
    store = request.site.store
    if lease and lease.task.of_spans:
        draft = draft or Draft(lease.task)
    values: dict[str, Any] = {
        "lease": lease,
        "draft": draft,
        "why": why,
        "notes": store.labels(lease.task.guideline) if lease else {},
        "now": started or time.time(),
        "progress": store.progress(request.me.id),
        "training": None,
        "open_tasks": request.site.counts()[Status.OPEN],
    }
    if lease and lease.task.purpose is Purpose.TRAINING:
        admission = store.settings.admission
        results = store.training_results(request.me.id)
        last = results[-admission.questions :] if admission else results
        values["training"] = {
            "admission": admission,
            "answers": len(results),
            "right": sum(last),
            "last": len(last),
        }
    return request.page("task", status, message, **values)


_DISPUTED = (Status.DROPPED, Status.ADJUDICATED)


def show_dispute(request: PageRequest, message: str = "", status: int = 200, decided: int | None = None) -> Response:
    """Show the next dropped task and its answers, or the decided task that the field `again` names."""
    if again := request.fields.number("again", 0):
        return _dispute_page(request, _disputed(request, again), message, status, decided)
    left = request.site.store.tasks(Status.DROPPED, after=request.fields.number("after", 0), limit=1)
    return _dispute_page(request, left[0] if left else None, message, status, decided)


def decide(request: PageRequest) -> Response:
    """Store a decision, and show the next task; or take a step in deciding on spans."""
    asked = _disputed(request, request.fields.number("task"))
    if "steps" in request.fields:
        store = request.site.store
        shown = _draft(request, asked, standing(store.judgements_of(asked.id)))
        submission = read_form(request.fields, shown, store.labels(asked.task.guideline))
        if submission.status != 200:
            request.refused(submission.message)
        if submission.answer is None:
            return _dispute_page(request, asked, submission.message, submission.status, draft=submission.draft)
        answer = submission.answer
    else:
        answer = request.fields.answer()
    request.site.store.adjudicate(request.me.id, asked.id, answer)
    about = f"{asked.task.focus} is" if asked.task.asks is Asks.LABEL else "there are"
    return show_dispute(request, f"Decided: {about} {asked.task.in_words(answer)}.", decided=asked.id)


def _dispute_page(
    request: PageRequest,
    asked: Asked | None,
    message: str,
    status: int,
    decided: int | None = None,
    draft: Draft | None = None,
) -> Response:
    store = request.site.store
    judgements = standing(store.judgements_of(asked.id)) if asked else []
    if asked and asked.task.of_spans:
        draft = draft or _draft(request, asked, judgements)
    names: dict[str | Span, list[str]] = {}
    for judgement in judgements:
        for answer in judgement.answer.spans or (str(judgement.answer),):
            names.setdefault(answer, []).append(judgement.annotator)
    return request.page(
        "adjudication",
        status,
        message,
        asked=asked,
        task=asked and (draft.task if draft else _with_answers(asked.task, judgements)),
        draft=draft,
        judgements=judgements,
        names={answer: ", ".join(people) for answer, people in names.items()},
        notes=store.labels(asked.task.guideline) if asked else {},
        dropped=request.site.counts()[Status.DROPPED],
        decided=decided,
    )


def _draft(request: PageRequest, asked: Asked, judgements: list[Judgement]) -> Draft:
    """Return a draft of the decision, or else of the votes; disputed spans are proposed, most votes first."""
    votes = span_votes([judgement.answer for judgement in judgements], request.site.store.settings.rule.majority)
    chances = {candidate.span: candidate.probability for candidate in asked.task.candidates}
    votes_of = Counter(span for judgement in judgements for span in judgement.answer.spans)
    spans = sorted(votes_of, key=lambda span: (-votes_of[span], -chances.get(span, 0.0), span))
    candidates = tuple(Candidate(str(span.label), chances.get(span, 0.0), span.start, span.stop) for span in spans)
    first, left = (asked.outcome.spans, ()) if asked.outcome else (votes.agreed, votes.disputed)
    return Draft(replace(asked.task, candidates=candidates), first, frozenset(spans) - {*first, *left})


def _disputed(request: PageRequest, number: int) -> Asked:
    """Return a task that a curator is to decide or has decided. Raises RefusedError for any other."""
    asked = request.site.store.task(number)
    if asked is None or asked.status not in _DISPUTED:
        raise RefusedError("there is no such task to decide on")
    return asked


def _with_answers(task: AnnotationTask, judgements: list[Judgement]) -> AnnotationTask:
    """Return the task with the labels that annotators gave as its first candidates, the most frequent first."""
    answered = [judgement.answer.label for judgement in judgements if judgement.answer.label]
    chances = {candidate.label: candidate.probability for candidate in task.candidates}
    labels = dict.fromkeys(
        [*sorted(answered, key=lambda label: (-answered.count(label), answered.index(label))), *chances]
    )
    return replace(task, candidates=tuple(Candidate(label, chances.get(label, 0.0)) for label in labels))
