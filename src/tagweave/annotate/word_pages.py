"""Words of a list in their contexts, marked as word, not a word, or skipped (tsuboi-2008, Figure 2).

A page has rows of a concordance of one word. Every form is a step, and steps can be undone one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from unicodedata import bidirectional

from starlette.responses import Response

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.kwic import ORDERS, Occurrence
from tagweave.annotate.page_request import FieldError, PageRequest, WordList
from tagweave.annotate.questions import Asked
from tagweave.annotate.task import CANNOT_TELL, WORD, AnnotationTask, Answer, Purpose, Status
from tagweave.corpus.sentence import Location, Sentence

SIZE = 25
"""Rows on a page."""
CONTEXT = 20
"""Characters on either side of a word."""
_STEPS = 50  # the most that can be undone
_NEIGHBOURS = 100  # words of the list offered before and after the current one
_ORDER_NAMES = dict(zip(ORDERS, ("what follows", "what precedes", "the text"), strict=True))


class Row(NamedTuple):
    """An occurrence in its context, its answer, and the fields by which a form names it."""

    before: str
    word: str
    after: str
    answer: Answer | None
    fields: dict[str, Any]

    @property
    def direction(self) -> str:
        """The direction of the word, so that rows of a word are aligned, however their sentences begin."""
        strong = (bidirectional(character) for character in self.word)
        return "rtl" if next((direction for direction in strong if direction in "LRAL"), "L") in {"R", "AL"} else "ltr"


class Marked(NamedTuple):
    """The result of a form: a message, the number of answers in each step that can be undone, and the HTTP status."""

    message: str = ""
    steps: tuple[int, ...] = ()
    status: int = 200


NOTHING = Marked()
"""No form was sent."""


def concordance(request: PageRequest, marked: Marked = NOTHING) -> Response:
    """Show a page of the occurrences of a word."""
    listed = _listed(request)
    word, order, first = _chosen(request)
    page = listed.concordance.page(word, order, first, SIZE, CONTEXT)
    questions = request.site.store.look_up([_task(listed, occurrence) for occurrence in page.occurrences])
    rows = [
        Row(
            occurrence.before,
            word,
            occurrence.after,
            _answer_of(asked),
            {"sentence": occurrence.sentence, "start": occurrence.start},
        )
        for occurrence, asked in zip(page.occurrences, questions, strict=True)
    ]
    number = listed.words.index(word)
    near = listed.words[max(0, number - _NEIGHBOURS) : number + _NEIGHBOURS + 1]
    return _page(
        request,
        "concordance",
        rows,
        marked,
        {"word": word, "order": order, "first": first},
        counts=dict(zip(near, listed.concordance.counts(near).tolist(), strict=True)),
        is_whole=len(near) == len(listed.words),
        before=listed.words[number - 1] if number else None,
        after=listed.words[number + 1] if number + 1 < len(listed.words) else None,
        orders=_ORDER_NAMES,
        total=page.total,
    )


def mark_concordance(request: PageRequest) -> Response:
    """Mark one occurrence of a word, or all on the page that have no mark yet."""
    listed = _listed(request)
    word, order, first = _chosen(request)
    if request.fields["all"]:
        occurrences = listed.concordance.page(word, order, first, SIZE, 0).occurrences
    else:
        text = listed.concordance
        sentence = request.fields.number("sentence")
        start = request.fields.number("start")
        stop = start + len(word)
        if sentence >= len(text) or text.sentence(sentence)[start:stop] != word:
            raise FieldError(f"found no {word!r} at this place")
        occurrences = (Occurrence(sentence, start, stop, "", ""),)
    return concordance(request, _mark(request, [_task(listed, occurrence) for occurrence in occurrences]))


def undo_concordance(request: PageRequest) -> Response:
    """Undo the last step."""
    _chosen(request)  # refuses a form that is not ours before anything is undone
    return concordance(request, _undo(request))


def _listed(request: PageRequest) -> WordList:
    assert request.site.words is not None  # noqa: S101  # otherwise there is no such page
    return request.site.words


def _chosen(request: PageRequest) -> tuple[str, str, int]:
    """Return the word, the order, and the number of the first occurrence on the page."""
    words = _listed(request).words
    word = request.fields["find"].strip() or request.fields["word"] or words[0]
    order = request.fields["order"] or ORDERS[0]
    if word not in words or order not in ORDERS:
        raise FieldError(f"found the word {word[:50]!r} in the order {order[:50]!r}, expected those that are listed")
    return word, order, request.fields.number("first", 0)


def _task(listed: WordList, at: Occurrence) -> AnnotationTask:
    """Return the task of an occurrence; lines of the text are numbered from 1."""
    text = listed.concordance.sentence(at.sentence)
    sentence = Sentence(tuple(text), location=Location(listed.path, at.sentence + 1))
    return AnnotationTask(sentence, at.start, at.stop, listed.guideline, purpose=Purpose.CONCORDANCE)


def _answer_of(asked: Asked | None) -> Answer | None:
    """Return the standing answer to an occurrence; skipping it drops the task."""
    return CANNOT_TELL if asked and asked.status is Status.DROPPED else asked and asked.outcome


def _mark(request: PageRequest, tasks: Sequence[AnnotationTask]) -> Marked:
    """Give these tasks the answer of the form; or, with its field `all`, mark those without an answer as words."""
    steps = _steps(request)
    answers = [_answer_of(asked) for asked in request.site.store.look_up(tasks)]
    mark = WORD if request.fields["all"] else request.fields.answer()
    if request.fields["all"]:
        tasks = [task for task, answer in zip(tasks, answers, strict=True) if answer is None]
        answers = [None] * len(tasks)
    stands = request.site.store.mark(request.me.id, tasks, mark) if tasks else []
    lost = len(stands) - sum(stands)
    message = f"{sum(stands)} marked: {mark}." + (f" {lost} had been marked by somebody else." if lost else "")
    new = sum(is_new and before is None for is_new, before in zip(stands, answers, strict=True))
    return Marked(message, (*steps, new)[-_STEPS:] if new else steps)


def _undo(request: PageRequest) -> Marked:
    *steps, last = _steps(request) or (0,)
    try:
        if last:
            request.site.store.undo(request.me.id, request.fields.number("seen"), last)
    except RefusedError as error:
        request.refused(error)
        return Marked(f"Not undone: {error}.", tuple(steps), 409)
    return Marked(f"{last} undone.", tuple(steps))


def _page(
    request: PageRequest, name: str, rows: Sequence[Row], marked: Marked, where: dict[str, Any], **values: Any
) -> Response:
    """Return a page of rows; `where` are the fields by which every form on it identifies the page."""
    state = {"steps": ",".join(map(str, marked.steps)), "seen": request.site.store.progress(request.me.id).judgement}
    values |= {"rows": rows, "where": where | state, "last": marked.steps[-1:] or None, "size": SIZE}
    return request.page(name, marked.status, marked.message, **where, **values)


def _steps(request: PageRequest) -> tuple[int, ...]:
    """Return the steps that can be undone, which the page sends along."""
    steps = [step for step in request.fields["steps"].split(",") if step]
    is_ours = len(steps) <= _STEPS and all(step.isascii() and step.isdigit() and len(step) < 3 for step in steps)
    if not is_ours or any(not 0 < int(step) <= SIZE for step in steps):
        raise FieldError("found other steps than those of a page")
    return tuple(map(int, steps))
