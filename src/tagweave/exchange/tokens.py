"""Ways to cut a text into tokens, each as pairs of offsets.

Places in a text: what is not blank between two of them, and units of UTF-16, in time that does not depend on it.

The text of tokens, and which tokens a part of it covers.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tagweave.errors import ExchangeError

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


_RUN = re.compile(r"\S+")
_WIDE = re.compile("[\U00010000-\U0010ffff]")


class Places:
    """The places of a text. Nothing is computed before it is asked for.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _runs(self) -> tuple[array[int], array[int]]:
        """Where runs of characters that are not blank begin, and where they end."""
        starts, stops = array("l"), array("l")
        for each in _RUN.finditer(self.text):
            starts.append(each.start())
            stops.append(each.end())
        return starts, stops

    @cached_property
    def _wide(self) -> array[int]:
        """The places in UTF-16 of the characters that take two units."""
        return array("l", (each.start() + at for at, each in enumerate(_WIDE.finditer(self.text))))

    def stripped(self, start: int, stop: int) -> tuple[int, int]:
        """Return the characters from start to stop without blanks at their ends; (stop, start) if all are blank."""
        starts, stops = self._runs
        first, last = bisect_right(stops, start), bisect_left(starts, stop) - 1
        return (max(start, starts[first]), min(stop, stops[last])) if first <= last else (stop, start)

    def is_blank(self, start: int, stop: int) -> bool:
        """Return whether there are only blanks from start to stop."""
        first, last = self.stripped(start, stop)
        return first >= last

    def is_at(self, start: int, stop: int, text: str) -> bool:
        """Return whether a text stands there, without copying what is longer."""
        return stop - start == len(text) and self.text[start:stop] == text

    def of_unit(self, unit: int) -> int:
        """Return the character at which a unit of UTF-16 stands; -1 inside of one and behind the text."""
        wide = bisect_left(self._wide, unit)
        inside = wide > 0 and self._wide[wide - 1] == unit - 1
        return -1 if inside or unit < 0 or unit - wide > len(self.text) else unit - wide


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """A text and its tokens.

    Attributes:
        text: the text.
        starts: the token that begins at each offset.
        stops: the token after the one that ends at each offset.
    """

    text: str
    starts: Mapping[int, int]
    stops: Mapping[int, int]

    @classmethod
    def of(cls, forms: Sequence[str]) -> TokenOffsets:
        """Tokens with a blank between them, or without one if all are single characters."""
        gap = "" if all(len(form) == 1 for form in forms) else " "
        starts: dict[int, int] = {}
        stops: dict[int, int] = {}
        offset = 0
        for number, form in enumerate(forms):
            starts[offset] = number
            stops[offset + len(form)] = number + 1
            offset += len(form) + len(gap)
        return cls(gap.join(forms), starts, stops)

    @classmethod
    def in_text(cls, text: str, forms: Sequence[str]) -> TokenOffsets | None:
        """Tokens in a text that may have other blanks between and inside them; `None` if they are not its tokens."""
        starts: dict[int, int] = {}
        stops: dict[int, int] = {}
        offset = 0
        for number, form in enumerate(forms):
            for at, character in enumerate(without_blanks(form)):
                while offset < len(text) and text[offset].isspace():
                    offset += 1
                if offset == len(text) or text[offset] != character:
                    return None
                if not at:
                    starts[offset] = number
                offset += 1
            stops[offset] = number + 1
        return cls(text, starts, stops) if not text[offset:].strip() else None

    def tokens(self, start: int, stop: int) -> tuple[int, int] | None:
        """The tokens start .. stop - 1 of the characters start .. stop - 1; `None` if these are not whole tokens."""
        if start not in self.starts or stop not in self.stops or self.starts[start] >= self.stops[stop]:
            return None
        return self.starts[start], self.stops[stop]


def without_blanks(text: str) -> str:
    """The text without any blanks, by which texts are compared that were cut into tokens differently."""
    return "".join(text.split())
