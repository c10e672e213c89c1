"""The application: its endpoints for programs, and their description, as OpenAPI and as a page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tagweave import web
from tagweave.serve import label_studio
from tagweave.serve.requests import ErrorResponse, Health, LabelRequest, LabelResponse, check, decoded, items_of
from tagweave.serve.served_models import OPERATIONS
from tagweave.serve.settings import ServerSettings
from tagweave.serve.site import Endpoint, ServerSite, has_token, refusal, route
from tagweave.version import __version__


def application(settings: ServerSettings) -> Starlette:
    """Read the models and return the application that serves them."""
    return application_of(ServerSite.of(settings))


def application_of(site: ServerSite) -> Starlette:
    """Return the application of a site."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        site.close()

    routes = [
        *(route(site, f"/{name}", "POST", operation(name)) for name in OPERATIONS),
        route(site, "/metrics", "GET", metrics),
        route(site, "/openapi.json", "GET", openapi),
        route(site, "/", "GET", description),
    ]
    for prefix in ("", "/label-studio/{model}"):
        for name in ("setup", "predict", "webhook", "train"):
            routes.append(route(site, f"{prefix}/{name}", "POST", getattr(label_studio, name)))
        routes.append(route(site, f"{prefix}/health", "GET", health))
        routes.append(route(site, f"{prefix}/versions", "GET", label_studio.versions))
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[*site.settings.hosts] or ["*"], www_redirect=False)
    return web.application(site, routes, Path(__file__).parent / "static", refusal, lifespan, hosts)


_REF = "#/components/schemas/{name}"
_OPERATIONS = {
    "/tag": ("Label words", "Tags of words, entities and phrases; texts are cut into words."),
    "/segment": ("Cut text into words", "Words of text without blanks between them."),
    "/parse": ("Find trees", "Heads and relations; tags that the parser looks at come from a tagger, or in `columns`."),
}
_ERRORS = {
    "400": "No JSON",
    "401": "No token, or another one",
    "404": "No such model",
    "408": "The body did not arrive in time",
    "413": "Too many texts or characters, or too long a sentence",
    "415": "Not application/json",
    "422": "Another JSON than expected, or more than the model can do",
    "503": "Too many requests; try again later",
}


@cache
def _document() -> dict[str, Any]:
    """Return the OpenAPI document; its schemas are those by which msgspec checks requests."""
    _, schemas = msgspec.json.schema_components([LabelRequest, LabelResponse, Health, ErrorResponse], ref_template=_REF)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tagweave",
            "version": __version__,
            "description": "Taggers, segmenters and parsers. Offsets are of code points, from 0.",
        },
        "paths": {
            **{path: {"post": _operation(path, *texts)} for path, texts in _OPERATIONS.items()},
            "/health": {"get": _get("What is served", _json(Health))},
            "/metrics": {"get": _get("Numbers for Prometheus", {"text/plain": {"schema": {"type": "string"}}})},
        },
        "components": {"schemas": schemas},
    }


def _operation(path: str, summary: str, description: str) -> dict[str, Any]:
    return {
        "operationId": path[1:],
        "summary": summary,
        "description": description,
        "requestBody": {"required": True, "content": _json(LabelRequest)},
        "responses": {
            "200": {"description": "The results, one for each text", "content": _json(LabelResponse)},
            **{status: {"description": why, "content": _json(ErrorResponse)} for status, why in _ERRORS.items()},
        },
    }


def _get(summary: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": {"description": summary, "content": content}}}


def _json(kind: type) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(name=kind.__name__)}}}


def operation(name: str) -> Endpoint:
    """Return the endpoint of an operation."""

    async def answer(site: ServerSite, _request: Request, body: bytes) -> Any:
        asked: LabelRequest = decoded(body, LabelRequest)
        served = site.models.that_can(name, asked.model)
        characters = check(asked, site.settings.limits)
        return await site.batches.response(
            (name, served.name, asked.probabilities, asked.level), items_of(asked), characters
        )

    return answer


async def health(site: ServerSite, request: Request, _body: bytes) -> Health:
    """Tell that the server is there, and to those who may ask, what it serves."""
    may_ask = has_token(request, site.settings.token)
    return Health("UP", __version__, site.models.descriptions() if may_ask else [])


async def metrics(site: ServerSite, _request: Request, _body: bytes) -> Response:
    """Return the numbers for Prometheus."""
    return Response(site.metrics.text(), media_type=site.metrics.content_type)


async def openapi(_site: ServerSite, _request: Request, _body: bytes) -> dict[str, Any]:
    """Return the description for programs."""
    return _document()


async def description(site: ServerSite, _request: Request, _body: bytes) -> Response:
    """Return the description for people, a page without scripts, and nothing from elsewhere."""
    folder = FileSystemLoader(Path(__file__).parent / "templates")
    page = Environment(loader=folder, autoescape=True, trim_blocks=True).get_template("description.html")
    return HTMLResponse(page.render(document=_document(), models=site.models.descriptions()))
