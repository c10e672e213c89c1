"""A request to a page: its sender, session and fields. Pages are functions from a page request to a response."""

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
from tagweave.annotate.forms import LONGEST, FieldError, Fields, parse
from tagweave.annotate.people import Annotator
from tagweave.annotate.sessions import COOKIE, Session
from tagweave.annotate.site import Site
from tagweave.web.body_limit import read_body
from tagweave.web.headers import SECURITY

LOG = logging.getLogger("tagweave.annotate")
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class PageRequest:
    """What a page gets to see.

    Attributes:
        site: what all pages share.
        http: the request as Starlette passes it on.
        session: that of the cookie, or a new one.
        person: the annotator who is signed in, if any.
        fields: those of the form or of the query.
    """

    site: Site
    http: Request
    session: Session
    person: Annotator | None
    fields: Fields

    @property
    def me(self) -> Annotator:
        """The annotator who is signed in; pages that are open to everybody do not ask."""
        assert self.person is not None  # noqa: S101
        return self.person

    @property
    def is_secure(self) -> bool:
        """Whether it came by HTTPS, at least as far as the server in front of this one."""
        return "https" in (self.http.url.scheme, urlsplit(self.site.address).scheme)

    @property
    def wants_json(self) -> bool:
        """Whether the script sent it, rather than the browser."""
        return "application/json" in self.http.headers.get("accept", "")

    def render(self, template: str, **values: Any) -> str:
        """A template filled in; it also has this object, as `request`."""
        return self.site.templates.get_template(template).render(request=self, **values)

    def page(self, name: str, /, status: int = 200, message: str = "", data: Any = None, **values: Any) -> Response:
        """The page `name`: all of it, or for the script its main part, a message for screen readers, and data."""
        main = self.render(f"{name}_main.html", message=message, status=status, **values)
        if self.wants_json:
            return JSONResponse({"main": main, "message": message, **(data or {})}, status)
        return HTMLResponse(self.render("base.html", title=name.replace("_", " "), main=main), status)

    def refused(self, reason: object) -> None:
        """Write a refusal to the log."""
        who = self.person.name if self.person else None
        LOG.warning("refused: %s %r by %r: %r", self.http.method, self.http.url.path, who, str(reason))


Page = Callable[[PageRequest], Response]


def endpoint(page: Page, role: str | None = "annotator") -> Callable[[Request], Awaitable[Response]]:
    """A page as an endpoint of Starlette.

    Args:
        page: called in a thread, because the store waits for the disk.
        role: who may see it: `annotator` (everybody who is signed in), `curator`, or `None` (everybody).
    """

    async def answer(request: Request) -> Response:
        is_form = request.method == "POST"
        body = await _form(request) if is_form else request.scope["query_string"]
        return await run_in_threadpool(_answer, page, role, request, is_form, body)

    return answer


def _answer(page: Page, role: str | None, request: Request, is_form: bool, body: bytes) -> Response:
    site: Site = request.app.state.site
    cookie = site.sessions.read(request.cookies.get(COOKIE))
    person = _person(site, cookie)
    session = cookie if cookie and (person or cookie.annotator is None) else sessions.new()
    page_request = PageRequest(site, request, session, person, Fields())
    try:
        page_request = PageRequest(site, request, session, person, parse(body))
        if is_form and role and person is None:  # before the token is checked, which belongs to a session that is over
            raise HTTPException(401, "Please sign in.")
        if is_form and not csrf.is_ours(cookie and session, page_request.fields, request.headers):
            raise HTTPException(403, "This form is from another session. Go back, reload the page, and try again.")
        response = _checked(page, role, page_request)
    except (HTTPException, RefusedError, FieldError) as error:
        response = _refusal(page_request, error)
    if cookie != session and "set-cookie" not in response.headers:
        site.sessions.write(response, session, page_request.is_secure)
    return response


def _checked(page: Page, role: str | None, page_request: PageRequest) -> Response:
    if role and page_request.person is None:
        if page_request.wants_json:
            raise HTTPException(401, "Please sign in.")
        return RedirectResponse("/sign-in", 303)
    if role == "curator" and page_request.me.role != role:
        raise HTTPException(403, "This page is for curators.")
    return page(page_request)


def _refusal(page_request: PageRequest, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400 if isinstance(error, FieldError) else 409
    reason = error.detail if isinstance(error, HTTPException) else str(error)
    page_request.refused(reason)
    return page_request.page("refusal", status, reason)


def refusal_outside(request: Request, error: Exception) -> Response:
    """The response where no page was reached: an unknown path, an unsupported method, or a body that is too long."""
    status, headers = (error.status_code, error.headers) if isinstance(error, HTTPException) else (500, None)
    LOG.warning("refused: %s %r: %d", request.method, request.url.path, status)
    site: Site = request.app.state.site
    page_request = PageRequest(site, request, sessions.new(), None, Fields())
    reason = error.detail if isinstance(error, HTTPException) else "Something went wrong. Your last answer may be lost."
    response = page_request.page("refusal", status, reason)
    response.headers.update(headers or {})
    response.headers.update(SECURITY)  # the response to a defect bypasses the middleware that adds them
    return response


async def _form(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise HTTPException(415, "This is no form.")
    return await read_body(request, LONGEST, "form")


def _person(site: Site, session: Session | None) -> Annotator | None:
    """The annotator of the session, unless their sessions have been ended since."""
    if session is None or session.annotator is None:
        return None
    person = site.store.annotator(session.annotator)
    return person if person and person.session_epoch == session.epoch else None
