"""What the curator sees: people, how far they agree, what is done, what models learned; and what may be changed."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import RedirectResponse, Response

from tagweave.annotate import accuracy_plot, agreement
from tagweave.annotate.aggregation import Status
from tagweave.annotate.forms import FieldError
from tagweave.annotate.people import Annotator
from tagweave.annotate.task import Purpose
from tagweave.annotate.visit import Visit

_INVITATION = 7 * 24 * 3600.0  # seconds


def start(_visit: Visit) -> Response:
    """To the page."""
    return RedirectResponse("/dashboard", 303)


def show(visit: Visit, message: str = "", link: str = "", noted: str = "") -> Response:
    """Everything, computed from what is in the store now; the notes of the guideline `noted` are open."""
    store = visit.site.store
    models, counts = store.models(), store.counts()
    return visit.page(
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
        **_agreement(visit),
    )


def invite(visit: Visit) -> Response:
    """Show a link that lets somebody in once: somebody new, or `again` who has forgotten their password."""
    token = secrets.token_urlsafe(24)
    person = _known(visit) if visit.fields["again"] else _new(visit)
    visit.site.store.invite(person.id, token, _INVITATION)
    link = f"{visit.site.address}/invited?token={token}"
    return show(visit, f"{person.name} may come in by the link below, once, for a week.", link)


def note(visit: Visit) -> Response:
    """Another guideline note of a label."""
    guideline, label = visit.fields["guideline"], visit.fields["label"]
    if label not in visit.site.store.labels(guideline):
        raise FieldError("found a label that the guideline does not have")
    visit.site.store.change_note(guideline, label, visit.fields["note"])
    return show(visit, f"The note of {label} is changed.", noted=guideline)


def _new(visit: Visit) -> Annotator:
    try:
        return visit.site.store.add_annotator(visit.fields["name"], visit.fields["role"])
    except ValueError as error:
        raise FieldError(str(error)) from error


def _known(visit: Visit) -> Annotator:
    person = visit.site.store.annotator(visit.fields.number("again"))
    if person is None:
        raise FieldError("found nobody of this number")
    return person


def _agreement(visit: Visit) -> dict[str, Any]:
    """Of the first annotators of each task; those who were asked because they differed would count twice."""
    votes = agreement.of_first(visit.site.store.votes(Purpose.REAL), visit.site.store.settings.rule)
    return {
        "raw": agreement.raw_agreement(votes),
        "alpha": agreement.krippendorffs_alpha(votes),
        "kappas": agreement.cohens_kappas(votes),
    }
