"""The JSON of requests and answers; msgspec checks the first and describes both for OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Columns = dict[str, list[str | None] | list[list[str | None]]]


class LabelRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Texts or tokens to be labelled: exactly one of `text`, `texts` and `tokens`."""

    text: Annotated[str | None, msgspec.Meta(description="A text; each of its lines is a sentence.")] = None
    texts: Annotated[list[str] | None, msgspec.Meta(description="Several texts.")] = None
    tokens: Annotated[
        list[str | list[str]] | None, msgspec.Meta(description="The tokens of a sentence, or those of several.")
    ] = None
    columns: Annotated[
        dict[str, list[str | list[str | None] | None]] | None,
        msgspec.Meta(description="With `tokens`: values that the model looks at, such as tags, by column and token."),
    ] = None
    model: Annotated[str | None, msgspec.Meta(description="The name of a model; by default the first that can.")] = None
    probabilities: Annotated[
        bool | Literal["all"],
        msgspec.Meta(
            description="Whether to add the probability of every label, span, word or head; `all`: of all labels."
        ),
    ] = False


class SpanResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """A span: its label, its tokens first .. last - 1, its characters start .. end - 1 of a text."""

    label: str
    first: int
    last: int
    start: int | None = None
    end: int | None = None
    probability: float | None = None


class TextResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found in a text. Lists have an entry for each token.

    Offsets are of code points, heads are indices of tokens, `null` for a root.
    """

    tokens: list[str]
    sentences: Annotated[
        list[tuple[int, int]], msgspec.Meta(description="The tokens first .. last - 1 of each sentence.")
    ]
    offsets: list[tuple[int, int]] | None = None
    labels: list[str] | None = None
    spans: list[SpanResult] | None = None
    heads: list[int | None] | None = None
    relations: list[str | None] | None = None
    columns: Annotated[
        dict[str, list[str | None]] | None, msgspec.Meta(description="What a parser was given, or got from a tagger.")
    ] = None
    probabilities: list[float | dict[str, float]] | None = None


class LabelResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of a request, one for each text."""

    model: str
    version: str
    results: list[TextResult]
    guideline: str | None = None
    missing: Annotated[
        list[str] | None, msgspec.Meta(description="Columns that a parser looks at, and nobody gave: it is worse.")
    ] = None


class ErrorResponse(msgspec.Struct, frozen=True):
    """Why a request was refused."""

    error: str


class ModelDescription(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model: what it can do, and with which labels."""

    name: str
    version: str
    operations: list[str]
    guidelines: list[str]
    labels: list[str] | None = None
    tokens: str | None = None


class Health(msgspec.Struct, frozen=True):
    """That the server is there; the name of the field is Label Studio's."""

    status: str
    version: str
    models: list[ModelDescription]


def decoded(body: bytes, kind: type[Any]) -> Any:
    """A request from its JSON.

    Raises:
        RefusedError: no JSON (400), or not of this kind (422).
    """
    from tagweave.serve.errors import RefusedError

    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise RefusedError(f"found another JSON than expected: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(f"found no JSON: {error}", 400) from None
