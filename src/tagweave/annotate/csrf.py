"""Protection against cross-site request forgery: a request that changes something carries its session's token."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from tagweave.annotate.sessions import Session

FIELD = "csrf"
HEADER = "x-csrf-token"


def is_ours(session: Session | None, fields: Mapping[str, str], headers: Mapping[str, str]) -> bool:
    """Whether a form or its headers have the token of the session."""
    given = headers.get(HEADER) or fields.get(FIELD, "")
    return session is not None and hmac.compare_digest(session.token.encode(), given.encode())
