"""The OpenAPI document as a page: no scripts, and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from tagweave.serve.messages import ModelDescription

_EXAMPLE = """curl {path} -H 'Content-Type: application/json' -d '{{"text": "..."}}'"""


def page(document: Mapping[str, Any], models: Sequence[ModelDescription]) -> str:
    """The page of a server."""
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
    """The type of a field, in few words."""
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
