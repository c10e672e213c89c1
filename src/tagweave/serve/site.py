"""The state that all endpoints share, and the route of an endpoint: access, checks, errors, metrics."""

from __future__ import annotations

import base64
import hmac
import logging
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tagweave.errors import RequestError, ServeError
from tagweave.front.options import message
from tagweave.serve.batches import Batches, Metrics
from tagweave.serve.requests import ErrorResponse
from tagweave.serve.served_models import ServedModels
from tagweave.serve.settings import ServerSettings
from tagweave.web import read_body

if TYPE_CHECKING:
    from tagweave.serve.retraining import Retrainer

OPEN = frozenset({"/health"})
"""Paths that need no token: orchestrators ask whether the server is there."""


def has_token(request: Request, token: str | None) -> bool:
    """Return whether a request brings the token, as `Bearer TOKEN` or as the password of `Basic`, or needs none."""
    if token is None:
        return True
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    password = value.strip() if kind.lower() == "bearer" else ""
    if kind.lower() == "basic":
        with suppress(ValueError):  # not in the alphabet of Base64, or not even ASCII
            password = base64.b64decode(value, validate=True).decode("utf-8", "replace").partition(":")[2]
    return hmac.compare_digest(password.encode(), token.encode())


LOG = logging.getLogger("tagweave.serve")
Result = TypeVar("Result")
Endpoint = Callable[["ServerSite", Request, bytes], Awaitable[Any]]
"""From the body of a request to its answer: a `Response`, or a value that becomes JSON."""


@dataclass(frozen=True)
class ServerSite:
    """The state that endpoints share; `retrainers` are by the names of taggers."""

    settings: ServerSettings
    models: ServedModels
    batches: Batches
    metrics: Metrics
    retrainers: Mapping[str, Retrainer] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: ServerSettings) -> ServerSite:
        """Make the site of settings. Raises as `ServedModels`, and ServeError if a model cannot be trained again."""
        models, metrics = ServedModels(settings), Metrics()
        retrainers = {}
        if settings.retraining is not None:
            from tagweave.serve.retraining import Retrainer

            for name, tagger in models.taggers():
                try:
                    retrainers[name] = Retrainer(name, tagger, settings.retraining, models.line_cutter(name))
                except ValueError as error:
                    raise ServeError(f"{name}: {error}") from error
        return cls(settings, models, Batches(models, settings.limits, metrics), metrics, retrainers)

    def retrainer(self, name: str) -> Retrainer:
        """Return the retrainer of a model. Raises RequestError if there is none."""
        if name not in self.retrainers:
            raise RequestError(
                f"found no training of {name} on this server, expected one started by tagweave serve --models FOLDER"
            )
        return self.retrainers[name]

    def close(self) -> None:
        """End retraining and batches."""
        for retrainer in self.retrainers.values():
            retrainer.close()
        self.batches.close()


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in a thread that the end of the server does not wait for."""
    return await to_thread.run_sync(function, *arguments, abandon_on_cancel=True)


def json_response(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Respond with a value as JSON."""
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def route(site: ServerSite, path: str, method: str, endpoint: Endpoint) -> Route:
    """Return the route of an endpoint: its request is checked, errors become JSON, and it is counted."""

    async def answer(request: Request) -> Response:
        began = time.perf_counter()
        try:
            if path not in OPEN and not has_token(request, site.settings.token):
                expected = "Authorization: Bearer with the right one"
                raise RequestError(f"found no token or another one, expected {expected}", 401)
            body = b""
            if method == "POST":
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind != "application/json":  # which forms of other sites cannot say
                    raise RequestError(f"found the content type {kind[:50]!r}, expected application/json", 415)
                body = await read_body(request, site.settings.limits.bytes)
            outcome = await endpoint(site, request, body)
            response = outcome if isinstance(outcome, Response) else json_response(outcome)
        except (RequestError, HTTPException) as error:
            response = refusal(request, error)
        except CancelledError:  # by the server, which ends
            response = refusal(request, RequestError("found the end of the server, expected it later; try again", 503))
        except Exception as error:
            reason = message(error) if isinstance(error, ValueError) else None
            if reason is None:
                LOG.exception("%s %r failed", request.method, request.url.path)
            response = refusal(request, error if reason is None else RequestError(reason))
        site.metrics.request(path, response.status_code, time.perf_counter() - began)
        return response

    return Route(path, answer, methods=[method])


def refusal(request: Request, error: Exception) -> Response:
    """Respond to an error; defects of the server are not described."""
    status, reason, headers = 500, "something went wrong; the log of the server says what", {}
    if isinstance(error, RequestError):
        status, reason = error.status, str(error)
    elif isinstance(error, HTTPException):
        status, reason, headers = error.status_code, error.detail, dict(error.headers or {})
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers["Retry-After"] = "1"
    LOG.info("refused: %s %r: %d %s", request.method, request.url.path, status, reason)
    return json_response(ErrorResponse(reason), status, headers)
