"""The endpoints for programs: operations, health, metrics, and the description of all that."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tagweave import __version__
from tagweave.serve.access import has_token
from tagweave.serve.documents import check, items_of
from tagweave.serve.messages import Health, LabelRequest, decoded
from tagweave.serve.openapi import document
from tagweave.serve.page import page
from tagweave.serve.site import Endpoint, Site


def operation(name: str) -> Endpoint:
    """The endpoint of an operation."""

    async def answer(site: Site, _request: Request, body: bytes) -> Any:
        asked: LabelRequest = decoded(body, LabelRequest)
        served = site.models.that_can(name, asked.model)
        characters = check(asked, site.settings.limits)
        return await site.batches.response((name, served.name, asked.probabilities), items_of(asked), characters)

    return answer


async def health(site: Site, request: Request, _body: bytes) -> Health:
    """That the server is there, and to those who may ask, what it serves."""
    known = has_token(request, site.settings.token)
    return Health("UP", __version__, site.models.descriptions() if known else [])


async def metrics(site: Site, _request: Request, _body: bytes) -> Response:
    """The numbers for Prometheus."""
    return Response(site.metrics.text(), media_type=site.metrics.content_type)


async def openapi(_site: Site, _request: Request, _body: bytes) -> dict[str, Any]:
    """The description for programs."""
    return document()


async def description(site: Site, _request: Request, _body: bytes) -> Response:
    """The description for people."""
    return HTMLResponse(page(document(), site.models.descriptions()))
