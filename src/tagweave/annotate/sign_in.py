"""Signing in, by a password or a one-time link, and signing out."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from tagweave.annotate import access
from tagweave.annotate.access import BY_ADDRESS, BY_NAME, hashed, is_right, network
from tagweave.annotate.page_request import FieldError, PageRequest
from tagweave.annotate.store import Annotator
from tagweave.annotate.task import Purpose

_TOO_MANY = "Too many attempts. Please wait five minutes."
_NO_LINK = "this link is invalid, too old, or has been used"


def start(request: PageRequest) -> Response:
    """Redirect to the work, or to the sign-in page."""
    return RedirectResponse(_work(request) if request.person else "/sign-in", 303)


def show(request: PageRequest) -> Response:
    """Show the form for name and password."""
    return request.page("sign_in", name="")


def enter(request: PageRequest) -> Response:
    """Sign in. A wrong name and a wrong password give the same message, after the same time."""
    name = request.fields["name"]
    limits = _limits(request, f"name {name[:200]}")
    if not request.site.attempts.take(limits):
        request.refused(f"too many attempts for {name[:50]!r}")
        return request.page("sign_in", 429, _TOO_MANY, name=name)
    person = request.site.store.annotator(name)
    if not is_right(request.fields["password"], person.password_hash if person else None) or person is None:
        request.refused(f"wrong password for {name[:50]!r}")
        return request.page("sign_in", 401, "Wrong name or password.", name=name)
    request.site.attempts.give_back(limits)
    return _signed_in(request, person)


def invited(request: PageRequest) -> Response:
    """Show the form of a one-time link, where its owner chooses a password. Only sending it uses up the link."""
    return request.page("invitation", token=request.fields["token"])


def accept(request: PageRequest) -> Response:
    """Redeem the link, store the password, sign in."""
    token, store = request.fields["token"], request.site.store
    limits = _limits(request, f"invitation {token[:200]}")
    if not request.site.attempts.take(limits):
        request.refused("too many attempts for an invitation")
        return request.page("invitation", 429, _TOO_MANY, token=token)
    if not store.is_invited(token):
        raise FieldError(_NO_LINK)
    request.site.attempts.give_back(limits)  # the owner of a link does not guess
    try:
        password_hash = hashed(request.fields["password"])
    except ValueError as error:
        request.refused(error)
        return request.page("invitation", 400, str(error), token=token)
    if (person := store.redeem(token, password_hash)) is None:  # by another request, just now
        raise FieldError(_NO_LINK)
    return _signed_in(request, person)


def leave(request: PageRequest) -> Response:
    """Sign out everywhere, so that a copied cookie becomes worthless."""
    request.site.store.end_sessions(request.me.id)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(access.COOKIE, httponly=True, samesite="lax")
    return response


def _limits(request: PageRequest, tried: str) -> dict[str, int]:
    """Return the limits on attempts, for the name that is tried and for the address."""
    client = request.http.client
    return {tried: BY_NAME, f"address {network(client.host) if client else ''}": BY_ADDRESS}


def _work(request: PageRequest) -> str:
    """Return the path of the page with work to do: tasks, unless only words of a list are asked for."""
    is_asked = any(purpose is not Purpose.CONCORDANCE for purpose, _ in request.site.store.counts())
    return "/concordance" if request.site.words and not is_asked else "/task"


def _signed_in(request: PageRequest, person: Annotator) -> Response:
    response = RedirectResponse(_work(request), 303)
    request.site.sessions.write(response, access.new(person), request.is_secure)
    return response
