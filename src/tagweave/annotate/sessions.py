"""Sessions in signed cookies: the annotator, and the token that forms must carry. The store keeps the signing key."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.responses import Response

from tagweave.annotate.people import Annotator
from tagweave.annotate.store import Store

COOKIE = "tagweave"
LONGEST = 14 * 24 * 3600
"""Seconds after which a person must sign in again."""


class Session(NamedTuple):
    """The content of a cookie.

    Attributes:
        annotator: number of the annotator who is signed in, if any.
        epoch: the annotator's session epoch at sign-in; sessions of an earlier one are over.
        token: part of every form (`csrf`).
    """

    annotator: int | None
    epoch: int
    token: str


class Sessions:
    """Writes and reads cookies."""

    def __init__(self, store: Store) -> None:
        key = store.keep("key of cookies", lambda: secrets.token_urlsafe(32))
        self._signer = URLSafeTimedSerializer(key, salt="session")

    def write(self, response: Response, session: Session, is_secure: bool) -> None:
        """Set the cookie: hidden from scripts and from other sites, and for HTTPS only if the request used it."""
        value = self._signer.dumps(list(session))
        response.set_cookie(COOKIE, value, LONGEST, httponly=True, samesite="lax", secure=is_secure)

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie; `None` if there is no cookie, or it is forged or too old."""
        if not cookie:
            return None
        try:
            return Session(*self._signer.loads(cookie, max_age=LONGEST))
        except (BadSignature, TypeError):
            return None


def new(annotator: Annotator | None = None) -> Session:
    """A session with a new token, for an annotator who has just signed in, or for nobody."""
    token = secrets.token_urlsafe(24)
    return Session(None, 0, token) if annotator is None else Session(annotator.id, annotator.session_epoch, token)
