"""Who may ask: requests have to name the server by a name that it has, and to bring the token, if there is one."""

from __future__ import annotations

import base64
import hmac

from starlette.requests import Request

from tagweave.serve.errors import RefusedError

OPEN = frozenset({"/health"})
"""Paths that need no token: orchestrators ask whether the server is there."""


def check_token(request: Request, token: str | None) -> None:
    """Raise unless a request brings the token, as `Bearer TOKEN`, or as the password of `Basic`.

    Raises:
        RefusedError: 401.
    """
    if request.url.path not in OPEN and not has_token(request, token):
        raise RefusedError("found no token or another one, expected Authorization: Bearer with the right one", 401)


def has_token(request: Request, token: str | None) -> bool:
    """Whether a request brings the token, or needs none."""
    if token is None:
        return True
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    given = value.strip() if kind.lower() == "bearer" else _password(value) if kind.lower() == "basic" else ""
    return hmac.compare_digest(given.encode(), token.encode())


def check_type(request: Request) -> None:
    """Raise unless a request says that it is JSON: forms of other sites in a browser cannot say so.

    Raises:
        RefusedError: 415.
    """
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != "application/json":
        raise RefusedError(f"found the content type {found[:50]!r}, expected application/json", 415)


def _password(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8", "replace").partition(":")[2]
    except ValueError:  # not in the alphabet of Base64, or not even ASCII
        return ""
