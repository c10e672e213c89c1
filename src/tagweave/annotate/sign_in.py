"""Signing in, by a password or a one-time link, and signing out."""

from __future__ import annotations

import ipaddress

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.responses import RedirectResponse, Response

from tagweave.annotate.page_request import COOKIE, FieldError, PageRequest, new_session
from tagweave.annotate.store import Annotator
from tagweave.annotate.task import Purpose

SHORTEST, LONGEST_PASSWORD = 8, 1024
"""Characters of a password. There is an upper limit because hashing takes time."""

_HASHER = PasswordHasher()  # argon2id with the defaults of the library, which RFC 9106 recommends for low memory
_NOBODY = _HASHER.hash("nobody has this password")


def hashed(password: str) -> str:
    """Hash a password. Raises ValueError if it is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST_PASSWORD:
        raise ValueError(f"found a password of {len(password)} characters, expected {SHORTEST} to {LONGEST_PASSWORD}")
    return _HASHER.hash(password)


def is_right(password: str, kept: str | None) -> bool:
    """Return whether a password has this hash. It takes as long if there is none, so that timing reveals no names."""
    if len(password) > LONGEST_PASSWORD:
        return False
    try:
        return _HASHER.verify(_NOBODY if kept is None else kept, password) and kept is not None
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False


BY_NAME, BY_ADDRESS = 10, 100
"""Failed attempts per name or link, and per address, within `WINDOW`. Many annotators may share an address."""


def network(address: str) -> str:
    """Return the part of an address that a client cannot choose: in IPv6 the network of 64 bits."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed), 64), strict=False))


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
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
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
    request.site.sessions.write(response, new_session(person), request.is_secure)
    return response
