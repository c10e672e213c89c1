"""From texts and tokens of requests to sentences: every line of a text is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tagweave.corpus.sentence import Sentence
from tagweave.exchange.tokens import Offsets
from tagweave.front.tokenised import Cut, Tokenised, of_texts
from tagweave.serve.errors import RefusedError
from tagweave.serve.messages import LabelRequest
from tagweave.serve.settings import Limits

Item = str | Tokenised
"""What a request holds: a text, which is still to be cut, or a document of tokens."""


def check(request: LabelRequest, limits: Limits) -> int:
    """The number of characters of a request.

    Raises:
        RefusedError: none or several of the three kinds of input, a token without characters, or too much of anything.
    """
    given = [name for name in ("text", "texts", "tokens") if getattr(request, name) is not None]
    if len(given) != 1:
        raise RefusedError(f"found {' and '.join(given) or 'none of them'}, expected one of text, texts, tokens")
    if request.columns is not None and request.tokens is None:
        raise RefusedError(f"found columns with {given[0]}, expected tokens with them")
    rows = [request.text] if request.text is not None else request.texts or _rows(request)
    if len(rows) > limits.texts:
        raise RefusedError(f"found {len(rows):,} texts, expected at most {limits.texts:,} a request", 413)
    characters = sum(map(len, rows)) if request.tokens is None else sum(len(form) for row in rows for form in row)
    if characters > limits.characters:
        raise RefusedError(f"found {characters:,} characters, expected at most {limits.characters:,} a request", 413)
    return characters


def items_of(request: LabelRequest) -> list[Item]:
    """The texts of a request, or its lists of tokens as documents.

    Raises:
        RefusedError: columns of other lengths.
    """
    if request.text is not None:
        return [request.text]
    return [*request.texts] if request.texts is not None else [*_with_tokens(request)]


def in_tokens(items: Sequence[Item], cut: Cut) -> list[Tokenised]:
    """All items as documents, with texts cut into tokens."""
    found = iter(of_texts([each for each in items if isinstance(each, str)], cut))
    return [next(found) if isinstance(each, str) else each for each in items]


def of_offsets(text: str, tokens: Sequence[Offsets], sentences: Sequence[Offsets]) -> Tokenised:
    """The document of a text whose tokens and sentences are known; a token in no sentence is left out."""
    own = [tuple(token for token in tokens if start <= token[0] < token[1] <= stop) for start, stop in sentences]
    kept = tuple(each for each in own if each)
    return Tokenised(tuple(Sentence(tuple(text[a:b] for a, b in each)) for each in kept), kept)


def by_words(cut: Callable[[Sequence[str]], Sequence[Sequence[str]]]) -> Cut:
    """The offsets of words that a segmenter cuts lines into."""
    return lambda several: [offsets(line, words) for line, words in zip(several, cut(several), strict=True)]


def offsets(line: str, words: Sequence[str]) -> list[Offsets]:
    """Where words stand in a line that has only blanks beside them."""
    found, at = [], 0
    for word in words:
        at = line.index(word, at)
        found.append((at, at + len(word)))
        at += len(word)
    return found


def _with_tokens(request: LabelRequest) -> Iterator[Tokenised]:
    rows = _rows(request)
    columns = {name: _column(name, values, rows, request) for name, values in (request.columns or {}).items()}
    for at, row in enumerate(rows):
        own = {name: values[at] for name, values in columns.items()}
        yield Tokenised((_sentence(row, own),) if row else ())


def _rows(request: LabelRequest) -> list[list[str]]:
    """The tokens of each sentence."""
    tokens = request.tokens or []
    plain = [each for each in tokens if isinstance(each, str)]
    if plain and len(plain) < len(tokens):
        raise RefusedError("found tokens beside lists of tokens, expected one or the other")
    rows = [plain] if plain else [each for each in tokens if isinstance(each, list)]
    if any(not form or form.isspace() for row in rows for form in row):
        raise RefusedError("found a token without a character, expected text in every token")
    return rows


def _column(
    name: str, values: Sequence[object], rows: Sequence[Sequence[str]], request: LabelRequest
) -> list[list[object]]:
    """The values of a column for each sentence."""
    one = bool(request.tokens) and isinstance((request.tokens or [""])[0], str)
    own = [list(values)] if one else [each if isinstance(each, list) else [each] for each in values]
    if list(map(len, own)) != list(map(len, rows)) or any(isinstance(each, list) for row in own for each in row):
        raise RefusedError(f"found a column {name!r} of another shape, expected a value for each token")
    return own


def _sentence(row: Sequence[str], columns: dict[str, list[object]]) -> Sentence:
    """A column is what models call a layer, or a column of the user: it is put into both."""
    layers = {
        name: tuple(None if value is None else (str(value),) for value in values) for name, values in columns.items()
    }
    texts = {name: tuple("_" if value is None else str(value) for value in values) for name, values in columns.items()}
    return Sentence(tuple(row), layers, texts)
