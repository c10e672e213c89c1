"""Adjudication: a curator decides tasks on which annotators did not agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from starlette.responses import Response

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.draft import Draft, read_form
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.questions import Asked
from tagweave.annotate.record import Judgement, standing
from tagweave.annotate.task import AnnotationTask, Asks, Candidate, Status, span_votes
from tagweave.corpus.spans import Span

_DISPUTED = (Status.DROPPED, Status.ADJUDICATED)


def show(request: PageRequest, message: str = "", status: int = 200, decided: int | None = None) -> Response:
    """Show the next dropped task and its answers, or the decided task that the field `again` names."""
    if again := request.fields.number("again", 0):
        return _page(request, _disputed(request, again), message, status, decided)
    left = request.site.store.tasks(Status.DROPPED, after=request.fields.number("after", 0), limit=1)
    return _page(request, left[0] if left else None, message, status, decided)


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
            return _page(request, asked, submission.message, submission.status, draft=submission.draft)
        answer = submission.answer
    else:
        answer = request.fields.answer()
    request.site.store.adjudicate(request.me.id, asked.id, answer)
    about = f"{asked.task.focus} is" if asked.task.asks is Asks.LABEL else "there are"
    return show(request, f"Decided: {about} {asked.task.in_words(answer)}.", decided=asked.id)


def _page(
    request: PageRequest,
    asked: Asked | None,
    message: str,
    status: int,
    decided: int | None = None,
    draft: Draft | None = None,
) -> Response:
    store = request.site.store
    judgements = standing(store.judgements_of(asked.id)) if asked else []
    if asked and asked.task.asks is Asks.SPANS:
        draft = draft or _draft(request, asked, judgements)
    names: dict[str | Span, list[str]] = {}
    for each in judgements:
        for answer in each.answer.spans or (str(each.answer),):
            names.setdefault(answer, []).append(each.annotator)
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
    """Return a draft of what was decided, or else voted; disputed spans are proposed, most votes first."""
    votes = span_votes([each.answer for each in judgements], request.site.store.settings.rule.majority)
    chances = {each.span: each.probability for each in asked.task.candidates}
    given = Counter(span for each in judgements for span in each.answer.spans)
    spans = sorted(given, key=lambda span: (-given[span], -chances.get(span, 0.0), span))
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
    given = [each.answer.label for each in judgements if each.answer.label]
    chances = {each.label: each.probability for each in task.candidates}
    labels = dict.fromkeys([*sorted(given, key=lambda each: (-given.count(each), given.index(each))), *chances])
    return replace(task, candidates=tuple(Candidate(each, chances.get(each, 0.0)) for each in labels))
