"""Ways to cut a text into tokens, each a pair of offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import StringIO

from tagweave.corpus.word_boundaries import clusters, runs, words
from tagweave.errors import ExchangeError
from tagweave.exchange.offsets import TokenOffsets

Offsets = tuple[int, int]
Tokenizer = Callable[[str], list[Offsets]]
"""From a line of text to its tokens."""

_TOKENIZERS: dict[str, Tokenizer] = {"blanks": runs, "words": words, "characters": clusters}
TOKENIZERS = (*_TOKENIZERS, "spacy:LANGUAGE")
"""What is between blanks; words and signs in any script; characters, that is, grapheme clusters; spaCy's."""


def text_lines(text: str) -> list[str]:
    """Return the lines of a text as those of a file: other characters that Python's `splitlines` takes are blanks."""
    return [line.rstrip("\n") for line in StringIO(text, newline=None)]


def tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer by its name."""
    if isinstance(name, str) and name in _TOKENIZERS:
        return _TOKENIZERS[name]
    if not isinstance(name, str) or not name.startswith("spacy:"):
        expected = f"one of {', '.join(TOKENIZERS)}, or a segmenter's model file"
        raise ExchangeError(f"found the tokens {name!r}, expected {expected}")
    import spacy

    language = name.partition(":")[2]
    try:
        pipeline = spacy.blank(language)
    except ImportError as error:
        raise ExchangeError(f"found the language {language!r}, expected one that spaCy knows, such as en") from error
    return lambda text: [(token.idx, token.idx + len(token)) for token in pipeline.make_doc(text) if not token.is_space]


def of_words(cut: Callable[[str], list[str]]) -> Tokenizer:
    """Return the tokenizer of a function from a line of text to its words, such as a segmenter."""

    def tokens(text: str) -> list[Offsets]:
        words = cut(text)
        offsets = TokenOffsets.in_text(text, words)
        if offsets is None:
            raise ExchangeError(f"found the words {' '.join(words)!r}, expected those of the text {text!r}")
        return list(zip(offsets.starts, offsets.stops, strict=True))

    return tokens


def lines(text: str) -> Iterator[Offsets]:
    """Return the lines of a text that are not blank."""
    return (match.span() for match in re.finditer(r"[^\r\n]*\S[^\r\n]*", text))
