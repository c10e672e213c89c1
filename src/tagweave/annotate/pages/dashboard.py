"""The curator's dashboard: people, agreement, progress and models; invitations and notes of labels."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import RedirectResponse, Response

from tagweave.annotate import accuracy_plot, agreement
from tagweave.annotate.aggregation import Status
from tagweave.annotate.forms import FieldError
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.people import Annotator
from tagweave.annotate.task import Asks, Purpose

_SHOWN = 12  # open tasks
_INVITATION = 7 * 24 * 3600.0  # seconds


def start(_request: PageRequest) -> Response:
    """Redirect to the page."""
    return RedirectResponse("/dashboard", 303)


def show(request: PageRequest, message: str = "", link: str = "", noted: str = "") -> Response:
    """The dashboard, computed from the store; the notes of the guideline `noted` are unfolded."""
    store = request.site.store
    models, counts = store.models(), store.counts()
    return request.page(
        "dashboard",
        message=message,
        link=link,
        people=[(each, store.progress(each.id)) for each in store.annotators()],
        counts=counts,
        purposes=[each for each in Purpose if any(purpose is each for purpose, _ in counts)],
        statuses=list(Status),
        models=models,
        plot=accuracy_plot.plot(models),
        width=accuracy_plot.WIDTH,
        height=accuracy_plot.HEIGHT,
        guidelines={name: store.labels(name) for name in store.guidelines()},
        noted=noted,
        **_agreement(request),
        **_posteriors(request),
    )


def invite(request: PageRequest) -> Response:
    """Show a one-time link, for a new person or, with the field `again`, for one who has forgotten their password."""
    token = secrets.token_urlsafe(24)
    person = _invited_again(request) if request.fields["again"] else _new(request)
    request.site.store.invite(person.id, token, _INVITATION)
    link = f"{request.site.address}/invited?token={token}"
    return show(request, f"{person.name} can use the link below once, within a week.", link)


def note(request: PageRequest) -> Response:
    """Change the note of a label."""
    guideline, label = request.fields["guideline"], request.fields["label"]
    if label not in request.site.store.labels(guideline):
        raise FieldError("found a label that the guideline does not have")
    request.site.store.change_note(guideline, label, request.fields["note"])
    return show(request, f"The note of {label} was changed.", noted=guideline)


def _new(request: PageRequest) -> Annotator:
    try:
        return request.site.store.add_annotator(request.fields["name"], request.fields["role"])
    except ValueError as error:
        raise FieldError(str(error)) from error


def _invited_again(request: PageRequest) -> Annotator:
    person = request.site.store.annotator(request.fields.number("again"))
    if person is None:
        raise FieldError("found nobody of this number")
    return person


def _agreement(request: PageRequest) -> dict[str, Any]:
    """Agreement of the first annotators of each task; those asked because the first differ would count it twice."""
    store = request.site.store
    votes = agreement.of_first(store.votes(Purpose.REAL), store.settings.rule)
    of_spans = agreement.of_first(store.votes(Purpose.REAL, Asks.SPANS), store.settings.rule)
    return {
        "span_f": agreement.all_span_f(of_spans),
        "span_fs": agreement.span_fs(of_spans),
        "raw": agreement.raw_agreement(votes),
        "alpha": agreement.krippendorffs_alpha(votes),
        "kappas": agreement.cohens_kappas(votes),
    }


def _posteriors(request: PageRequest) -> dict[str, Any]:
    """How reliable people are, and the open tasks of which another answer is expected to gain most."""
    store = request.site.store
    rule = store.settings.posterior
    return {
        "posterior_rule": rule,
        "reliabilities": store.reliabilities() if rule else [],
        "open_tasks": store.most_gain(_SHOWN) if rule else [],
    }
