"""What the curator sees: people, how far they agree, what is done, what models learned; and what may be changed."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import RedirectResponse, Response

from tagweave.annotate import accuracy_plot, agreement
from tagweave.annotate.forms import FieldError
from tagweave.annotate.task import Purpose
from tagweave.annotate.visit import Visit

_INVITATION = 7 * 24 * 3600.0  # seconds


def start(_visit: Visit) -> Response:
    """To the page."""
    return RedirectResponse("/dashboard", 303)


def show(visit: Visit, message: str = "", link: str = "") -> Response:
    """Everything, computed from what is in the store now."""
    store = visit.site.store
    models = store.models()
    people = [(each, store.progress(each.id)) for each in store.annotators()]
    return visit.page(
        "dashboard",
        message=message,
        link=link,
        people=people,
        counts=store.counts(),
        models=models,
        plot=accuracy_plot.plot(models),
        width=accuracy_plot.WIDTH,
        height=accuracy_plot.HEIGHT,
        guidelines={name: store.labels(name) for name in store.guidelines()},
        **_agreement(visit),
    )


def invite(visit: Visit) -> Response:
    """Enter somebody new, and show a link that lets them in once."""
    token = secrets.token_urlsafe(24)
    try:
        added = visit.site.store.add_annotator(visit.fields["name"], visit.fields["role"])
    except ValueError as error:
        raise FieldError(str(error)) from error
    visit.site.store.invite(added.id, token, _INVITATION)
    link = f"{visit.request.url.scheme}://{visit.request.url.netloc}/invited?token={token}"
    return show(visit, f"{added.name} may come in by the link below, once, for a week.", link)


def note(visit: Visit) -> Response:
    """Another guideline note of a label."""
    guideline, label = visit.fields["guideline"], visit.fields["label"]
    if label not in visit.site.store.labels(guideline):
        raise FieldError("found a label that the guideline does not have")
    visit.site.store.change_note(guideline, label, visit.fields["note"])
    return show(visit, f"The note of {label} is changed.")


def _agreement(visit: Visit) -> dict[str, Any]:
    """Of the first annotators of each task; those who were asked because they differed would count twice."""
    votes = agreement.of_first(visit.site.store.votes(Purpose.REAL), visit.site.store.settings.rule)
    return {
        "raw": agreement.raw_agreement(votes),
        "alpha": agreement.krippendorffs_alpha(votes),
        "kappas": agreement.cohens_kappas(votes),
    }
