"""The description of the endpoints as OpenAPI has it; schemas are those by which msgspec checks requests."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from tagweave import __version__
from tagweave.serve.messages import ErrorResponse, Health, LabelRequest, LabelResponse

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
def document() -> dict[str, Any]:
    """The OpenAPI document."""
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
