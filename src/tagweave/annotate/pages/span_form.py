"""The form in which spans are marked: a step in it, or the answer that it sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.draft import Draft, Step, read_step, read_steps
from tagweave.annotate.forms import FieldError, Fields
from tagweave.annotate.task import CANNOT_TELL, Answer, Asks
from tagweave.corpus.spans import Span

_ANSWERS = {"all marked": True, "some marked": False}


class Submission(NamedTuple):
    """What a form says.

    Attributes:
        draft: the spans that are marked now.
        answer: the answer that it sends; `None`: it takes a step.
        message: for the annotator.
        status: the HTTP status of the response.
    """

    draft: Draft
    answer: Answer | None = None
    message: str = ""
    status: int = 200


def is_submitted(fields: Fields) -> bool:
    """Whether fields are those of this form."""
    return "steps" in fields


def read(fields: Fields, shown: Draft, types: Mapping[str, str]) -> Submission:
    """The form of a draft that was shown before any step; a step that is refused changes nothing.

    Raises:
        FieldError: fields that none of our pages sends.
        RefusedError: steps that cannot have been taken in this task.
    """
    if shown.task.asks is not Asks.SPANS:
        raise FieldError("found spans, expected another answer to this task")
    draft = replace(shown, steps=read_steps(fields["steps"]))
    try:
        return (
            _step(fields, draft, types)
            if fields["step"] or fields["type"] or fields["back"]
            else _answer(fields, draft)
        )
    except RefusedError as error:
        return Submission(draft, None, f"Not taken: {error}.", 409)


def _answer(fields: Fields, draft: Draft) -> Submission:
    if fields["answer"] in _ANSWERS:
        return Submission(draft, draft.answer(_ANSWERS[fields["answer"]]))
    if fields["answer"] != CANNOT_TELL.kind:
        raise FieldError(f"found the answer {fields['answer'][:50]!r}, expected one of the keys")
    return Submission(draft, CANNOT_TELL)


def _step(fields: Fields, draft: Draft, types: Mapping[str, str]) -> Submission:
    if fields["back"]:
        return Submission(draft.back(), message="The last step was undone.")
    step = read_step(fields["step"]) if fields["step"] else _chosen(fields)
    known = {*types, *(each.label for each in draft.task.candidates)}
    if step.action == "mark" and step.span.label not in known:
        raise RefusedError(f"the guideline {draft.task.guideline} has no such label")
    after, name = draft.then(step), "Marked" if step.action == "mark" else "Rejected"
    return Submission(after, message=f"{name}: {draft.task.words(step.span)}, {step.span.label}.")


def _chosen(fields: Fields) -> Step:
    """The words that are selected, in either direction, get a type."""
    if not (fields["first"] and fields["last"]):
        raise RefusedError("no words are selected")
    first, last = sorted((fields.number("first"), fields.number("last")))
    return Step("mark", Span(first, last + 1, fields["type"]))
