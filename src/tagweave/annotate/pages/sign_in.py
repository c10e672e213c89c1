"""Signing in, by a password or a one-time link, and out."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from tagweave.annotate import sessions
from tagweave.annotate.forms import FieldError
from tagweave.annotate.passwords import hashed, is_right
from tagweave.annotate.people import Annotator
from tagweave.annotate.rate_limit import BY_ADDRESS, BY_NAME
from tagweave.annotate.task import Purpose
from tagweave.annotate.visit import Visit


def start(visit: Visit) -> Response:
    """To the work, or to the page where one signs in."""
    return RedirectResponse(_work(visit) if visit.person else "/sign-in", 303)


def show(visit: Visit) -> Response:
    """Name and password."""
    return visit.page("sign_in", name="")


def enter(visit: Visit) -> Response:
    """Sign in. A wrong name and a wrong password are told alike, and take as long."""
    name, limits = visit.fields["name"], _limits(visit)
    if not visit.site.attempts.take(limits):
        visit.refused(f"too many attempts for {name[:50]!r}")
        return visit.page("sign_in", 429, "Too many attempts. Please wait five minutes.", name=name)
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
    token = visit.fields["token"]
    try:
        password_hash = hashed(visit.fields["password"])
    except ValueError as error:
        visit.refused(error)
        return visit.page("invitation", 400, str(error), token=token)
    store = visit.site.store
    if not visit.site.attempts.take(_limits(visit)) or (person := store.redeem(token)) is None:
        raise FieldError("this link is used, too old, or none of ours")
    store.change_password(person.id, password_hash)
    found = store.annotator(person.id)
    assert found is not None  # noqa: S101  # annotators are never deleted
    return _signed_in(visit, found)


def leave(visit: Visit) -> Response:
    """Sign out, everywhere: a cookie that was copied is worth nothing afterwards."""
    visit.site.store.end_sessions(visit.me.id)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(sessions.COOKIE, httponly=True, samesite="lax")
    return response


def _limits(visit: Visit) -> dict[str, int]:
    address = visit.request.client.host if visit.request.client else ""
    return {f"name {visit.fields['name'][:200]}": BY_NAME, f"address {address}": BY_ADDRESS}


def _work(visit: Visit) -> str:
    """The page where there is something to do: that of tasks, unless only words of a list are asked for."""
    is_asked = any(purpose is not Purpose.CONCORDANCE for purpose, _ in visit.site.store.counts())
    return "/concordance" if visit.site.words and not is_asked else "/task"


def _signed_in(visit: Visit, person: Annotator) -> Response:
    response = RedirectResponse(_work(visit), 303)
    is_secure = visit.request.url.scheme == "https"
    visit.site.sessions.write(response, sessions.new(person), is_secure)
    return response
