"""Sessions in signed cookies: who it is, and the token that forms must carry. The key is made once, in the store."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.responses import Response

from tagweave.annotate.people import Annotator
from tagweave.annotate.store import Store

COOKIE = "tagweave"
LONGEST = 14 * 24 * 3600
"""Seconds after which somebody must sign in again."""


class Session(NamedTuple):
    """What a cookie says.

    Attributes:
        annotator: number of who has signed in; `None` before.
        epoch: the annotator's at that time; sessions of an earlier one are over.
        token: stands in every form (`csrf`).
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
        """Set the cookie: not for scripts, not for requests from other sites; over https only, where it came so."""
        value = self._signer.dumps(list(session))
        response.set_cookie(COOKIE, value, LONGEST, httponly=True, samesite="lax", secure=is_secure)

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie; `None` where there is none, or it is forged or too old."""
        if not cookie:
            return None
        try:
            return Session(*self._signer.loads(cookie, max_age=LONGEST))
        except (BadSignature, TypeError):
            return None


def new(annotator: Annotator | None = None) -> Session:
    """A session of somebody who has just signed in, or of nobody, with a new token."""
    token = secrets.token_urlsafe(24)
    return Session(None, 0, token) if annotator is None else Session(annotator.id, annotator.session_epoch, token)
