"""One request: who it is from, what it says, and whether it may be. Pages are functions from a visit to a response."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from tagweave.annotate import csrf, sessions
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.body_limit import read_body
from tagweave.annotate.forms import FieldError, Fields, parse
from tagweave.annotate.headers import SECURITY
from tagweave.annotate.people import Annotator
from tagweave.annotate.sessions import COOKIE, Session
from tagweave.annotate.site import Site

LOG = logging.getLogger("tagweave.annotate")
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Visit:
    """A request that may be.

    Attributes:
        site: what all pages share.
        request: the request.
        session: of the cookie, or a new one.
        person: who has signed in, if somebody has.
        fields: of the form, or of the query.
    """

    site: Site
    request: Request
    session: Session
    person: Annotator | None
    fields: Fields

    @property
    def me(self) -> Annotator:
        """Who has signed in; pages for everybody do not ask."""
        assert self.person is not None  # noqa: S101
        return self.person

    @property
    def is_secure(self) -> bool:
        """Whether it came by https, at least to the server in front of this one."""
        return "https" in (self.request.url.scheme, urlsplit(self.site.address).scheme)

    @property
    def wants_json(self) -> bool:
        """Whether the script asks, not the browser."""
        return "application/json" in self.request.headers.get("accept", "")

    def render(self, template: str, **values: Any) -> str:
        """A template, which also knows the visit as `visit`."""
        return self.site.templates.get_template(template).render(visit=self, **values)

    def page(self, name: str, /, status: int = 200, message: str = "", data: Any = None, **values: Any) -> Response:
        """The page `name`: whole; or for the script what is inside, with a message for who cannot see, and data."""
        inside = self.render(f"{name}_main.html", message=message, status=status, **values)
        if self.wants_json:
            return JSONResponse({"main": inside, "message": message, **(data or {})}, status)
        return HTMLResponse(self.render("base.html", title=name.replace("_", " "), main=inside), status)

    def refused(self, reason: object) -> None:
        """Write a refusal to the log."""
        who = self.person.name if self.person else None
        LOG.warning("refused: %s %r by %r: %r", self.request.method, self.request.url.path, who, str(reason))


Page = Callable[[Visit], Response]


def endpoint(page: Page, role: str | None = "annotator") -> Callable[[Request], Awaitable[Response]]:
    """A page as Starlette has it.

    Args:
        page: called in a thread, since the store waits for the disk.
        role: who may: `annotator`: everybody who has signed in; `curator`; `None`: everybody.
    """

    async def answer(request: Request) -> Response:
        is_form = request.method == "POST"
        body = await _form(request) if is_form else request.scope["query_string"]
        return await run_in_threadpool(_answer, page, role, request, is_form, body)

    return answer


def _answer(page: Page, role: str | None, request: Request, is_form: bool, body: bytes) -> Response:
    site: Site = request.app.state.site
    found = site.sessions.read(request.cookies.get(COOKIE))
    person = _person(site, found)
    session = found if found and (person or found.annotator is None) else sessions.new()
    visit = Visit(site, request, session, person, Fields())
    try:
        visit = Visit(site, request, session, person, parse(body))
        if is_form and role and person is None:  # before its token, which is of a session that is over
            raise HTTPException(401, "Please sign in.")
        if is_form and not csrf.is_ours(found and session, visit.fields, request.headers):
            raise HTTPException(403, "This form is from another session. Go back, reload the page, and try again.")
        response = _checked(page, role, visit)
    except (HTTPException, RefusedError, FieldError) as error:
        response = _refusal(visit, error)
    if found != session and "set-cookie" not in response.headers:
        site.sessions.write(response, session, visit.is_secure)
    return response


def _checked(page: Page, role: str | None, visit: Visit) -> Response:
    if role and visit.person is None:
        if visit.wants_json:
            raise HTTPException(401, "Please sign in.")
        return RedirectResponse("/sign-in", 303)
    if role == "curator" and visit.me.role != role:
        raise HTTPException(403, "This page is for curators.")
    return page(visit)


def _refusal(visit: Visit, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400 if isinstance(error, FieldError) else 409
    reason = error.detail if isinstance(error, HTTPException) else str(error)
    visit.refused(reason)
    return visit.page("refusal", status, reason)


def refusal_outside(request: Request, error: Exception) -> Response:
    """The answer where no page was reached: an unknown path, a method that it has not, a body that is too long."""
    status, headers = (error.status_code, error.headers) if isinstance(error, HTTPException) else (500, None)
    LOG.warning("refused: %s %r: %d", request.method, request.url.path, status)
    site: Site = request.app.state.site
    visit = Visit(site, request, sessions.new(), None, Fields())
    reason = error.detail if isinstance(error, HTTPException) else "Something went wrong. Your last answer may be lost."
    response = visit.page("refusal", status, reason)
    response.headers.update(headers or {})
    response.headers.update(SECURITY)  # a defect is answered outside of what adds them
    return response


async def _form(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise HTTPException(415, "This is no form.")
    return await read_body(request)


def _person(site: Site, session: Session | None) -> Annotator | None:
    """Who has signed in, unless their sessions have been ended since."""
    if session is None or session.annotator is None:
        return None
    person = site.store.annotator(session.annotator)
    return person if person and person.session_epoch == session.epoch else None
