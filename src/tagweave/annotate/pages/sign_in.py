"""Signing in, by a password or a one-time link, and out."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from tagweave.annotate import sessions
from tagweave.annotate.forms import FieldError
from tagweave.annotate.passwords import hashed, is_right
from tagweave.annotate.people import Annotator
from tagweave.annotate.rate_limit import BY_ADDRESS, BY_NAME, network
from tagweave.annotate.task import Purpose
from tagweave.annotate.visit import Visit

_TOO_MANY = "Too many attempts. Please wait five minutes."
_NO_LINK = "this link is used, too old, or none of ours"


def start(visit: Visit) -> Response:
    """To the work, or to the page where one signs in."""
    return RedirectResponse(_work(visit) if visit.person else "/sign-in", 303)


def show(visit: Visit) -> Response:
    """Name and password."""
    return visit.page("sign_in", name="")


def enter(visit: Visit) -> Response:
    """Sign in. A wrong name and a wrong password are told alike, and take as long."""
    name = visit.fields["name"]
    limits = _limits(visit, f"name {name[:200]}")
    if not visit.site.attempts.take(limits):
        visit.refused(f"too many attempts for {name[:50]!r}")
        return visit.page("sign_in", 429, _TOO_MANY, name=name)
    person = visit.site.store.annotator(name)
    if not is_right(visit.fields["password"], person.password_hash if person else None) or person is None:
        visit.refused(f"wrong password for {name[:50]!r}")
        return visit.page("sign_in", 401, "This name and password do not go together.", name=name)
    visit.site.attempts.give_back(limits)
    return _signed_in(visit, person)


def invited(visit: Visit) -> Response:
    """Whoever opens a one-time link chooses a password; the link is used up only then."""
    return visit.page("invitation", token=visit.fields["token"])


def accept(visit: Visit) -> Response:
    """Redeem the link, keep the password, sign in."""
    token, store = visit.fields["token"], visit.site.store
    limits = _limits(visit, f"invitation {token[:200]}")
    if not visit.site.attempts.take(limits):
        visit.refused("too many attempts for an invitation")
        return visit.page("invitation", 429, _TOO_MANY, token=token)
    if not store.is_invited(token):
        raise FieldError(_NO_LINK)
    visit.site.attempts.give_back(limits)  # whoever has a link guesses nothing
    try:
        password_hash = hashed(visit.fields["password"])
    except ValueError as error:
        visit.refused(error)
        return visit.page("invitation", 400, str(error), token=token)
    if (person := store.redeem(token, password_hash)) is None:  # by another request, just now
        raise FieldError(_NO_LINK)
    return _signed_in(visit, person)


def leave(visit: Visit) -> Response:
    """Sign out, everywhere: a cookie that was copied is worth nothing afterwards."""
    visit.site.store.end_sessions(visit.me.id)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(sessions.COOKIE, httponly=True, samesite="lax")
    return response


def _limits(visit: Visit, tried: str) -> dict[str, int]:
    """How often this may be tried, and from one address."""
    client = visit.request.client
    return {tried: BY_NAME, f"address {network(client.host) if client else ''}": BY_ADDRESS}


def _work(visit: Visit) -> str:
    """The page where there is something to do: that of tasks, unless only words of a list are asked for."""
    is_asked = any(purpose is not Purpose.CONCORDANCE for purpose, _ in visit.site.store.counts())
    return "/concordance" if visit.site.words and not is_asked else "/task"


def _signed_in(visit: Visit, person: Annotator) -> Response:
    response = RedirectResponse(_work(visit), 303)
    visit.site.sessions.write(response, sessions.new(person), visit.is_secure)
    return response
