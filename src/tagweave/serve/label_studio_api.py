"""The annotations of a project in Label Studio, by its own API, at the address that the server was started with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tagweave.corpus.sentence import Location
from tagweave.exchange.json_values import Values
from tagweave.serve.errors import RefusedError

_SECONDS = 60
_LONGEST = 200_000_000  # bytes


class _NoRedirects(HTTPRedirectHandler):
    """Whoever is redirected to would get the key, too."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


def annotated_tasks(url: str, key: str, project: str) -> Sequence[Values]:
    """The tasks of a project that somebody has annotated, as they are exported.

    Args:
        url: of Label Studio.
        key: of one of its users: an access token, or a personal one, for which there is an access token to be had.
        project: its number.

    Raises:
        RefusedError: Label Studio cannot be reached, refuses, or answers something else (502).
    """
    if not project.isdecimal():
        raise RefusedError(f"found the project {project!r}, expected a number")
    authorization = f"Token {key}"
    if key.count(".") == 2:
        found = _answer(f"{url}/api/token/refresh", {"Content-Type": "application/json"}, _json({"refresh": key}))
        access = found.get("access") if isinstance(found, dict) else None
        if not isinstance(access, str):
            raise RefusedError(f"found no access token at {url}, expected one for LABEL_STUDIO_API_KEY", 502)
        authorization = f"Bearer {access}"
    export = f"{url}/api/projects/{project}/export?exportType=JSON"
    tasks = _answer(export, {"Authorization": authorization})
    if not isinstance(tasks, list) or not all(isinstance(each, dict) for each in tasks):
        raise RefusedError(f"found no tasks at {export}, expected a list of them", 502)
    return [Values(each, Location(url, number)) for number, each in enumerate(tasks, 1)]


def _answer(url: str, headers: dict[str, str], body: bytes | None = None) -> object:
    request = Request(url, body, headers)  # noqa: S310  # the command line takes no other scheme than HTTP
    try:
        with build_opener(_NoRedirects).open(request, timeout=_SECONDS) as answer:
            found = answer.read(_LONGEST + 1)
            if len(found) > _LONGEST:
                raise ValueError(f"more than {_LONGEST:,} bytes")
            return json.loads(found)
    except (OSError, ValueError, RecursionError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise RefusedError(f"{url}: {error}", 502) from None


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
