"""Requests to pages: the site that pages share, the fields of forms, sessions in signed cookies, and refusals.

Pages are functions from a page request to a response.
"""

from __future__ import annotations

import hmac
import logging
import math
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from itsdangerous import BadSignature, URLSafeTimedSerializer
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.store import Annotator, Store
from tagweave.annotate.task import Answer, Kind, Purpose, Status, label
from tagweave.errors import TagweaveError
from tagweave.web import SECURITY, read_body

if TYPE_CHECKING:
    from tagweave.annotate.kwic import Concordance

LONGEST = 65_536
"""Bytes of a form."""
_MOST = 300  # fields
_LABEL = "label "


class FieldError(TagweaveError):
    """A field that none of our pages sends."""


class Fields(dict[str, str]):
    """Fields by name; the last one of those with the same name. Missing fields are empty."""

    def __missing__(self, name: str) -> str:
        return ""

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number from 0. Raises FieldError, also for an empty field without a default."""
        text = self[name]
        if not text and default is not None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise FieldError(f"found {name} {text[:50]!r}, expected a number")
        return int(text)

    def time(self, name: str) -> float | None:
        """Return seconds since 1970; `None` if the field is empty."""
        text = self[name]
        if not text:
            return None
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not math.isfinite(seconds):
            raise FieldError(f"found {name} {text[:50]!r}, expected a time")
        return seconds

    def answer(self) -> Answer:
        """Return an answer as buttons send it: `label NAME`, or the value of another kind."""
        text = self["answer"]
        try:
            return label(text[len(_LABEL) :]) if text.startswith(_LABEL) else Answer(Kind(text))
        except ValueError:
            raise FieldError(f"found the answer {text[:50]!r}, expected a label or one of the other keys") from None


def parse(encoded: bytes) -> Fields:
    """Parse an encoded form or query. Raises FieldError if it is not UTF-8, has NUL characters or too many fields."""
    try:
        pairs = parse_qsl(encoded.decode("ascii"), True, max_num_fields=_MOST, errors="strict")
    except ValueError as error:
        raise FieldError("found no form, expected one in UTF-8") from error
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise FieldError("found a NUL character, expected text")
    return Fields(pairs)


WINDOW = 300.0
"""Seconds."""


class Attempts:
    """Counts attempts by key in a sliding window of seconds, in memory of one process.

    An attempt counts before its success is known, so simultaneous ones gain nothing. Above `most_keys`, keys past the
    window are forgotten.
    """

    def __init__(
        self, window: float = WINDOW, clock: Callable[[], float] = time.monotonic, most_keys: int = 10_000
    ) -> None:
        self._window, self._clock, self._most_keys = window, clock, most_keys
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take(self, limits: Mapping[str, int]) -> bool:
        """Count an attempt and return True, or return False if a key has reached its number in `limits`."""
        with self._lock:
            now = self._clock()
            if len(self._times) > self._most_keys:
                self._times = {key: times for key, times in self._times.items() if times[-1] > now - self._window}
            if any(self._count(key, now) >= limit for key, limit in limits.items()):
                return False
            for key in limits:
                self._times.setdefault(key, deque()).append(now)
            return True

    def give_back(self, limits: Mapping[str, int]) -> None:
        """Do not count the last attempt after all: the password was right."""
        with self._lock:
            for key in limits:
                if times := self._times.get(key):
                    times.pop()
                    if not times:
                        del self._times[key]

    def _count(self, key: str, now: float) -> int:
        times = self._times.get(key)
        while times and times[0] <= now - self._window:
            times.popleft()
        if times is not None and not times:
            del self._times[key]
        return len(times or ())


COOKIE = "tagweave"
LONGEST_SESSION = 14 * 24 * 3600
"""Seconds after which a person must sign in again."""


class Session(NamedTuple):
    """The content of a cookie: who is signed in, their session epoch then, and the token that forms must carry."""

    annotator: int | None
    epoch: int
    token: str


class Sessions:
    """Writes and reads signed cookies; the store keeps the key."""

    def __init__(self, store: Store) -> None:
        key = store.keep("key of cookies", lambda: secrets.token_urlsafe(32))
        self._signer = URLSafeTimedSerializer(key, salt="session")

    def write(self, response: Response, session: Session, is_secure: bool) -> None:
        """Set the cookie: hidden from scripts and from other sites, and for HTTPS only if the request used it."""
        value = self._signer.dumps(list(session))
        response.set_cookie(COOKIE, value, LONGEST_SESSION, httponly=True, samesite="lax", secure=is_secure)

    def read(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie; `None` if there is no cookie, or it is forged or too old."""
        if not cookie:
            return None
        try:
            return Session(*self._signer.loads(cookie, max_age=LONGEST_SESSION))
        except (BadSignature, TypeError):
            return None


def new_session(annotator: Annotator | None = None) -> Session:
    """Return a session with a new token, for an annotator who has just signed in, or for nobody."""
    token = secrets.token_urlsafe(24)
    return Session(None, 0, token) if annotator is None else Session(annotator.id, annotator.session_epoch, token)


FIELD = "csrf"
HEADER = "x-csrf-token"


def is_ours(session: Session | None, fields: Mapping[str, str], headers: Mapping[str, str]) -> bool:
    """Return whether a form or its headers have the CSRF token of the session."""
    token = headers.get(HEADER) or fields.get(FIELD, "")
    return session is not None and hmac.compare_digest(session.token.encode(), token.encode())


HERE = Path(__file__).parent
_FRESH = 10.0  # seconds for which the number of open tasks is cached: counting them takes longer than an answer


class WordList(NamedTuple):
    """Words to be marked in a text, in the order in which they are offered; `path` is the file of the text."""

    concordance: Concordance
    words: tuple[str, ...]
    guideline: str
    path: str


@dataclass(frozen=True)
class Progress:
    """What the server was told about models: which measure says how good they are, and its options."""

    measure: str = "accuracy"  # or F of spans, of words
    trains_after: int | None = None  # judgements; None: without --train
    dev: str | None = None  # the corpus of --dev


@dataclass
class Site:
    """The state that all pages share."""

    store: Store
    address: str  # the public one, without a trailing slash; the host that a request names is not trusted
    words: WordList | None = None  # of the concordance, if there is one
    progress: Progress = field(default_factory=Progress)
    attempts: Attempts = field(default_factory=Attempts)  # to sign in

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.store)
        self._counted: tuple[float, Counter[Status]] = (-_FRESH, Counter())

    def counts(self) -> Counter[Status]:
        """Return the number of real tasks of each status, as of a few seconds ago."""
        when, counts = self._counted
        if time.monotonic() - when >= _FRESH:
            by_purpose = self.store.counts().items()
            counts = Counter({status: count for (purpose, status), count in by_purpose if purpose is Purpose.REAL})
            self._counted = time.monotonic(), counts
        return counts


@cache
def _templates() -> Environment:
    loader = FileSystemLoader(HERE / "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


LOG = logging.getLogger("tagweave.annotate")
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class PageRequest:
    """A request to a page."""

    site: Site
    http: Request
    session: Session  # from the cookie, or a new one
    person: Annotator | None  # who is signed in
    fields: Fields  # of the form or of the query

    @property
    def me(self) -> Annotator:
        """The annotator who is signed in, for pages that require one."""
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
        """Fill in a template, which also has this object, as `request`."""
        return _templates().get_template(template).render(request=self, **values)

    def page(self, name: str, /, status: int = 200, message: str = "", **values: Any) -> Response:
        """Return the page `name`: all of it, or for the script its main part and a message."""
        main = self.render(f"{name}_main.html", message=message, status=status, **values)
        if self.wants_json:
            return JSONResponse({"main": main, "message": message}, status)
        return HTMLResponse(self.render("base.html", title=name.replace("_", " "), main=main), status)

    def refused(self, reason: object) -> None:
        """Write a refusal to the log."""
        who = self.person.name if self.person else None
        LOG.warning("refused: %s %r by %r: %r", self.http.method, self.http.url.path, who, str(reason))


Page = Callable[[PageRequest], Response]


def endpoint(page: Page, role: str | None = "annotator") -> Callable[[Request], Awaitable[Response]]:
    """Return a page as an endpoint of Starlette, called in a thread, because the store waits for the disk.

    `role` says who may see it: `annotator` (everybody who is signed in), `curator`, or `None` (everybody).
    """

    async def answer(request: Request) -> Response:
        is_form = request.method == "POST"
        body = request.scope["query_string"]
        if is_form:
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
                raise HTTPException(415, "This is no form.")
            body = await read_body(request, LONGEST, "form")
        return await run_in_threadpool(_answer, page, role, request, is_form, body)

    return answer


def _answer(page: Page, role: str | None, request: Request, is_form: bool, body: bytes) -> Response:
    site: Site = request.app.state.site
    cookie, person = site.sessions.read(request.cookies.get(COOKIE)), None
    if cookie and cookie.annotator is not None:
        person = site.store.annotator(cookie.annotator)
        if person and person.session_epoch != cookie.epoch:  # their sessions have been ended since
            person = None
    session = cookie if cookie and (person or cookie.annotator is None) else new_session()
    page_request = PageRequest(site, request, session, person, Fields())
    try:
        page_request = PageRequest(site, request, session, person, parse(body))
        # before the token is checked, which belongs to a session that is over
        if role and person is None and (is_form or page_request.wants_json):
            raise HTTPException(401, "Please sign in.")
        if is_form and not is_ours(cookie and session, page_request.fields, request.headers):
            raise HTTPException(403, "This form is from another session. Go back, reload the page, and try again.")
        if role == "curator" and person and person.role != role:
            raise HTTPException(403, "This page is for curators.")
        response = RedirectResponse("/sign-in", 303) if role and person is None else page(page_request)
    except (HTTPException, RefusedError, FieldError) as error:
        other = 400 if isinstance(error, FieldError) else 409
        status, reason = (error.status_code, error.detail) if isinstance(error, HTTPException) else (other, str(error))
        page_request.refused(reason)
        response = page_request.page("refusal", status, reason)
    if cookie != session and "set-cookie" not in response.headers:
        site.sessions.write(response, session, page_request.is_secure)
    return response


def refusal_outside(request: Request, error: Exception) -> Response:
    """Respond where no page was reached: to an unknown path, an unsupported method, or a body that is too long."""
    status, headers = (error.status_code, error.headers) if isinstance(error, HTTPException) else (500, None)
    LOG.warning("refused: %s %r: %d", request.method, request.url.path, status)
    site: Site = request.app.state.site
    page_request = PageRequest(site, request, new_session(), None, Fields())
    reason = error.detail if isinstance(error, HTTPException) else "Something went wrong. Your last answer may be lost."
    response = page_request.page("refusal", status, reason)
    response.headers.update(headers or {})
    response.headers.update(SECURITY)  # the response to a defect bypasses the middleware that adds them
    return response
