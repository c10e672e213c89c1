"""Access to the pages: passwords, limits on attempts to sign in, sessions in signed cookies, and CSRF tokens."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.responses import Response

from tagweave.annotate.store import Annotator, Store

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
WINDOW = 300.0
"""Seconds."""


def network(address: str) -> str:
    """Return the part of an address that a client cannot choose: in IPv6 the network of 64 bits."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed), 64), strict=False))


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


def new(annotator: Annotator | None = None) -> Session:
    """Return a session with a new token, for an annotator who has just signed in, or for nobody."""
    token = secrets.token_urlsafe(24)
    return Session(None, 0, token) if annotator is None else Session(annotator.id, annotator.session_epoch, token)


FIELD = "csrf"
HEADER = "x-csrf-token"


def is_ours(session: Session | None, fields: Mapping[str, str], headers: Mapping[str, str]) -> bool:
    """Return whether a form or its headers have the CSRF token of the session."""
    given = headers.get(HEADER) or fields.get(FIELD, "")
    return session is not None and hmac.compare_digest(session.token.encode(), given.encode())
