"""Ways to cut a text into tokens, each as pairs of offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tagweave.corpus.token_offsets import TokenOffsets
from tagweave.exchange.errors import ExchangeError

Offsets = tuple[int, int]
Tokenizer = Callable[[str], list[Offsets]]
"""From a line of text to its tokens."""

_PATTERNS = {"blanks": r"\S+", "words": r"\w+|[^\w\s]", "characters": r"\S"}
TOKENIZERS = (*_PATTERNS, "spacy:LANGUAGE")
"""What is between blanks; the same without punctuation, which is a token for each character; characters; spaCy's."""


def tokenizer(name: str) -> Tokenizer:
    """A tokenizer by its name.

    Raises:
        ExchangeError: another name, or a language that spaCy does not know.
        ModuleNotFoundError: spaCy is not installed.
    """
    if not isinstance(name, str):
        raise ExchangeError(f"found the tokens {name!r}, expected one of {', '.join(TOKENIZERS)}")
    if name in _PATTERNS:
        pattern = re.compile(_PATTERNS[name])
        return lambda text: [match.span() for match in pattern.finditer(text)]
    if name.startswith("spacy:"):
        return _of_spacy(name.partition(":")[2])
    raise ExchangeError(
        f"found the tokens {name!r}, expected one of {', '.join(TOKENIZERS)}, or a segmenter's model file"
    )


def _of_spacy(language: str) -> Tokenizer:
    import spacy

    try:
        pipeline = spacy.blank(language)
    except ImportError as error:
        raise ExchangeError(f"found the language {language!r}, expected one that spaCy knows, such as en") from error
    return lambda text: [(each.idx, each.idx + len(each)) for each in pipeline.make_doc(text) if not each.is_space]


def of_words(cut: Callable[[str], list[str]]) -> Tokenizer:
    """The tokenizer of a function from a line of text to its words, such as a segmenter."""

    def tokens(text: str) -> list[Offsets]:
        words = cut(text)
        offsets = TokenOffsets.in_text(text, words)
        if offsets is None:
            raise ExchangeError(f"found the words {' '.join(words)!r}, expected those of the text {text!r}")
        return list(zip(offsets.starts, offsets.stops, strict=True))

    return tokens


def lines(text: str) -> Iterator[Offsets]:
    """The lines of a text that are not blank."""
    return (match.span() for match in re.finditer(r"[^\r\n]*\S[^\r\n]*", text))
