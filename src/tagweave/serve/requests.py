"""The JSON of requests and answers, and the sentences in requests: every line of a text is one.

msgspec checks requests, and describes requests and answers for OpenAPI.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec

from tagweave.corpus.documents import marks
from tagweave.corpus.sentence import Sentence
from tagweave.errors import RequestError
from tagweave.exchange.tokens import Offsets
from tagweave.front.label_model import CutLines, Tokenised, of_texts
from tagweave.serve.settings import Limits

Level = tuple[float | None, float | None]
"""Precision and recall, at most one of them."""
NO_LEVEL: Level = None, None
"""The best labels are said."""


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
    precision: Annotated[
        float | None,
        msgspec.Meta(description="Say only what is right with this probability; other labels are `null`."),
    ] = None
    recall: Annotated[
        float | None,
        msgspec.Meta(description="Say candidates, too, `A|B`, until this share of what is right is among them."),
    ] = None

    @property
    def level(self) -> Level:
        """The precision and the recall that are asked for."""
        return self.precision, self.recall


class SpanResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """A span: its label, its tokens first .. last - 1, its characters start .. end - 1 of a text."""

    label: str
    first: int
    last: int
    start: int | None = None
    end: int | None = None
    probability: float | None = None


class TextResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The annotation of a text. Lists have an entry for each token.

    Offsets are of code points, heads are indices of tokens, `null` for a root.
    """

    tokens: list[str]
    sentences: Annotated[
        list[tuple[int, int]], msgspec.Meta(description="The tokens first .. last - 1 of each sentence.")
    ]
    offsets: list[tuple[int, int]] | None = None
    labels: list[str | None] | None = None
    spans: list[SpanResult] | None = None
    heads: list[int | None] | None = None
    relations: list[str | None] | None = None
    columns: Annotated[
        dict[str, list[str | None]] | None, msgspec.Meta(description="What a parser was given, or got from a tagger.")
    ] = None
    probabilities: list[float | dict[str, float] | None] | None = None


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
    """Decode JSON. Raises RequestError: no JSON (400), or not of this kind (422)."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise RequestError(f"found another JSON than expected: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"found no JSON: {error}", 400) from None


Item = str | Tokenised
"""What a request holds: a text, which is still to be cut, or a document of tokens."""


def check(request: LabelRequest, limits: Limits) -> int:
    """Check a request, and return its number of characters.

    Raises RequestError for none or several kinds of input, a token without characters, or too much of anything.
    """
    inputs = [name for name in ("text", "texts", "tokens") if getattr(request, name) is not None]
    if len(inputs) != 1:
        raise RequestError(f"found {' and '.join(inputs) or 'none of them'}, expected one of text, texts, tokens")
    if request.columns is not None and request.tokens is None:
        raise RequestError(f"found columns with {inputs[0]}, expected tokens with them")
    rows = [request.text] if request.text is not None else request.texts or _rows(request)
    if len(rows) > limits.texts:
        raise RequestError(f"found {len(rows):,} texts, expected at most {limits.texts:,} a request", 413)
    characters = sum(map(len, rows)) if request.tokens is None else sum(len(form) for row in rows for form in row)
    if characters > limits.characters:
        raise RequestError(f"found {characters:,} characters, expected at most {limits.characters:,} a request", 413)
    return characters


def items_of(request: LabelRequest) -> list[Item]:
    """Return the texts of a request, or its lists of tokens as documents."""
    if request.text is not None:
        return [request.text]
    if request.texts is not None:
        return [*request.texts]
    rows = _rows(request)
    columns = {name: _column(name, values, rows, request) for name, values in (request.columns or {}).items()}
    sentences = [_sentence(row, {name: values[at] for name, values in columns.items()}) for at, row in enumerate(rows)]
    comments = marks()  # a request is a document
    return [
        Tokenised((replace(sentence, comments=next(comments)),) if sentence.forms else ()) for sentence in sentences
    ]


def refuse_level(level: Level, what: str) -> None:
    """Raise RequestError if precision or recall is asked of a model that cannot tell it in an answer."""
    if level != NO_LEVEL:
        raise RequestError(f"found precision or recall, expected it without for {what}; `tagweave tag` has it")


def in_tokens(items: Sequence[Item], cut: CutLines) -> list[Tokenised]:
    """Return all items as documents, with texts cut into tokens."""
    documents = iter(of_texts([item for item in items if isinstance(item, str)], cut))
    return [next(documents) if isinstance(item, str) else item for item in items]


def by_words(cut: Callable[[Sequence[str]], Sequence[Sequence[str]]]) -> CutLines:
    """Return a function from lines to the offsets of the words that a segmenter cuts them into."""
    return lambda several: [offsets(line, words) for line, words in zip(several, cut(several), strict=True)]


def offsets(line: str, words: Sequence[str]) -> list[Offsets]:
    """Return the offsets of words in a line that has only blanks beside them."""
    bounds = []
    at = 0
    for word in words:
        at = line.index(word, at)
        bounds.append((at, at + len(word)))
        at += len(word)
    return bounds


def _rows(request: LabelRequest) -> list[list[str]]:
    tokens = request.tokens or []
    plain = [token for token in tokens if isinstance(token, str)]
    if plain and len(plain) < len(tokens):
        raise RequestError("found tokens beside lists of tokens, expected one or the other")
    rows = [plain] if plain else [token for token in tokens if isinstance(token, list)]
    if any(not form or form.isspace() for row in rows for form in row):
        raise RequestError("found a token without a character, expected text in every token")
    return rows


def _column(
    name: str, values: Sequence[object], rows: Sequence[Sequence[str]], request: LabelRequest
) -> list[list[object]]:
    """Return the values of a column for each sentence."""
    one = bool(request.tokens) and isinstance((request.tokens or [""])[0], str)
    table = [list(values)] if one else [value if isinstance(value, list) else [value] for value in values]
    if list(map(len, table)) != list(map(len, rows)) or any(isinstance(value, list) for row in table for value in row):
        raise RequestError(f"found a column {name!r} of another shape, expected a value for each token")
    return table


def _sentence(row: Sequence[str], columns: dict[str, list[object]]) -> Sentence:
    """Return a sentence; models may call a column a layer or a column of the user, so it is put into both."""
    layers = {
        name: tuple(None if value is None else (str(value),) for value in values) for name, values in columns.items()
    }
    texts = {name: tuple("_" if value is None else str(value) for value in values) for name, values in columns.items()}
    return Sentence(tuple(row), layers, texts)
