"""The application: its endpoints for programs, and their description, as OpenAPI and as a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from tagweave import __version__
from tagweave.serve import inception, label_studio
from tagweave.serve.requests import (
    ErrorResponse,
    Health,
    LabelRequest,
    LabelResponse,
    ModelDescription,
    check,
    decoded,
    items_of,
)
from tagweave.serve.served_models import OPERATIONS
from tagweave.serve.serving import ServerSettings
from tagweave.serve.site import Endpoint, ServerSite, has_token, refusal_outside, route
from tagweave.web import SecurityHeaders


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
    routes.append(route(site, "/{model}/predict", "POST", inception.predict))
    routes.append(route(site, "/{model}/train", "POST", inception.train))
    static = Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[*site.settings.hosts] or ["*"], www_redirect=False)
    app = Starlette(
        routes=[*routes, static],
        middleware=[Middleware(SecurityHeaders), hosts],
        exception_handlers={HTTPException: refusal_outside, Exception: refusal_outside},
        lifespan=lifespan,
    )
    app.state.site = site
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    return app


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


_EXAMPLE = """curl {path} -H 'Content-Type: application/json' -d '{{"text": "..."}}'"""


def _page(document: Mapping[str, Any], models: Sequence[ModelDescription]) -> str:
    """Return the OpenAPI document as a page, without scripts, and nothing from elsewhere."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"><title>tagweave</title>',
            '<meta name="viewport" content="width=device-width">',
            '<link rel="stylesheet" href="/static/style.css"></head>',
            f"<body><h1>tagweave {escape(document['info']['version'])}</h1>",
            f"<p>{escape(document['info']['description'])} <a href='/openapi.json'>OpenAPI</a></p>",
            "<h2>Models</h2>",
            *_table(("name", "version", "operations", "guidelines", "tokens"), map(_model, models)),
            "<h2>Endpoints</h2>",
            *(line for path, methods in document["paths"].items() for line in _path(path, methods)),
            "<h2>JSON</h2>",
            *(line for name, schema in document["components"]["schemas"].items() for line in _schema(name, schema)),
            "</body></html>",
        ]
    )


def _model(model: ModelDescription) -> tuple[str, ...]:
    return model.name, model.version, ", ".join(model.operations), ", ".join(model.guidelines), model.tokens or ""


def _path(path: str, methods: Mapping[str, Any]) -> Iterator[str]:
    for method, found in methods.items():
        yield f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(found['summary'])}. "
        yield f"{escape(found.get('description', ''))}</p>"
        if "requestBody" in found:
            yield f"<pre>{escape(_EXAMPLE.format(path=path))}</pre>"
            yield from _table(
                ("status", ""), ((status, each["description"]) for status, each in found["responses"].items())
            )


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<h3 id="{escape(name)}"><code>{escape(name)}</code></h3><p>{escape(schema.get("description", ""))}</p>'
    rows = ((key, _kind(each), each.get("description", "")) for key, each in schema["properties"].items())
    yield from _table(("field", "type", ""), rows)


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a field, in few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f'"{each}"' for each in schema["enum"])
    if schema.get("type") == "array":
        inner = schema.get("items") or {"anyOf": schema.get("prefixItems", [])}
        return f"list of {_kind(inner)}"
    if schema.get("type") == "object":
        return f"object of {_kind(schema.get('additionalProperties') or {})}"
    return str(schema.get("type", "any"))


def _table(head: Sequence[str], rows: Any) -> Iterator[str]:
    yield "<table><tr>" + "".join(f"<th>{escape(each)}</th>" for each in head) + "</tr>"
    yield from ("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    yield "</table>"


def operation(name: str) -> Endpoint:
    """Return the endpoint of an operation."""

    async def answer(site: ServerSite, _request: Request, body: bytes) -> Any:
        asked: LabelRequest = decoded(body, LabelRequest)
        served = site.models.that_can(name, asked.model)
        characters = check(asked, site.settings.limits)
        return await site.batches.response((name, served.name, asked.probabilities), items_of(asked), characters)

    return answer


async def health(site: ServerSite, request: Request, _body: bytes) -> Health:
    """Tell that the server is there, and to those who may ask, what it serves."""
    known = has_token(request, site.settings.token)
    return Health("UP", __version__, site.models.descriptions() if known else [])


async def metrics(site: ServerSite, _request: Request, _body: bytes) -> Response:
    """Return the numbers for Prometheus."""
    return Response(site.metrics.text(), media_type=site.metrics.content_type)


async def openapi(_site: ServerSite, _request: Request, _body: bytes) -> dict[str, Any]:
    """Return the description for programs."""
    return _document()


async def description(site: ServerSite, _request: Request, _body: bytes) -> Response:
    """Return the description for people."""
    return HTMLResponse(_page(_document(), site.models.descriptions()))
