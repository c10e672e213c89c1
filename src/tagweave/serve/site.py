"""What all endpoints share, and how an endpoint becomes one of Starlette: checks, errors, numbers."""

from __future__ import annotations

import logging
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tagweave.front.errors import message
from tagweave.serve.access import check_token, check_type
from tagweave.serve.batches import Batches
from tagweave.serve.errors import RefusedError
from tagweave.serve.messages import ErrorResponse
from tagweave.serve.metrics import Metrics
from tagweave.serve.served_models import ServedModels
from tagweave.serve.settings import Settings
from tagweave.web.body_limit import read_body

if TYPE_CHECKING:
    from tagweave.serve.retraining import Retrainer

LOG = logging.getLogger("tagweave.serve")
Result = TypeVar("Result")
Endpoint = Callable[["Site", Request, bytes], Awaitable[Any]]
"""From the body of a request to its answer: a `Response`, or a value that becomes JSON."""


@dataclass(frozen=True)
class Site:
    """What endpoints share.

    Attributes:
        settings: of the server.
        models: that are served.
        batches: compute requests.
        metrics: count them.
        retrainers: train taggers again, by the names of these.
    """

    settings: Settings
    models: ServedModels
    batches: Batches
    metrics: Metrics
    retrainers: Mapping[str, Retrainer] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Site:
        """The site of settings. Raises as `ServedModels`, and ServeError for models that cannot be trained again."""
        models, metrics = ServedModels(settings), Metrics()
        retrainers = {}
        if settings.retraining is not None:
            from tagweave.serve.retraining import retrainer

            cut = models.cut_line
            for name, tagger in models.taggers():
                retrainers[name] = retrainer(name, tagger, settings.retraining, cut)
        return cls(settings, models, Batches(models, settings.limits, metrics), metrics, retrainers)

    def retrainer(self, name: str) -> Retrainer:
        """What trains a model again. Raises RefusedError if nothing does."""
        if name not in self.retrainers:
            raise RefusedError(
                f"found no training of {name} on this server, expected one started by tagweave serve --models FOLDER"
            )
        return self.retrainers[name]

    def close(self) -> None:
        """End what runs beside the requests."""
        for each in self.retrainers.values():
            each.close()
        self.batches.close()


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in a thread that the end of the server does not wait for."""
    return await to_thread.run_sync(function, *arguments, abandon_on_cancel=True)


def json_response(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def route(site: Site, path: str, method: str, endpoint: Endpoint) -> Route:
    """An endpoint as a route: its request is checked, errors become JSON, and it is counted."""

    async def answer(request: Request) -> Response:
        began = time.perf_counter()
        try:
            check_token(request, site.settings.token)
            body = b""
            if method == "POST":
                check_type(request)
                body = await read_body(request, site.settings.limits.bytes)
            found = await endpoint(site, request, body)
            response = found if isinstance(found, Response) else json_response(found)
        except (RefusedError, HTTPException) as error:
            response = refusal(request, error)
        except CancelledError:  # by the server, which ends
            response = refusal(request, RefusedError("found the end of the server, expected it later; try again", 503))
        except Exception as error:
            reason = message(error) if isinstance(error, ValueError) else None
            if reason is None:
                LOG.exception("%s %r failed", request.method, request.url.path)
            response = refusal(request, error if reason is None else RefusedError(reason))
        site.metrics.request(path, response.status_code, time.perf_counter() - began)
        return response

    return Route(path, answer, methods=[method])


async def refusal_outside(request: Request, error: Exception) -> Response:
    """The response where no endpoint was reached: an unknown path, or a method that it does not have."""
    return refusal(request, error)


def refusal(request: Request, error: Exception) -> Response:
    """The response to an error; what was not the client's fault is not described."""
    status, reason, headers = 500, "something went wrong; the log of the server says what", {}
    if isinstance(error, RefusedError):
        status, reason = error.status, str(error)
    elif isinstance(error, HTTPException):
        status, reason, headers = error.status_code, error.detail, dict(error.headers or {})
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers["Retry-After"] = "1"
    LOG.info("refused: %s %r: %d %s", request.method, request.url.path, status, reason)
    return json_response(ErrorResponse(reason), status, headers)
