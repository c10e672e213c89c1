"""Ways to cut a text into tokens, each a pair of offsets; places in a text; which tokens a part of a text covers."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO

import regex

from tagweave.corpus.word_boundaries import clusters, next_visible, runs, words
from tagweave.errors import ExchangeError

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
    if not isinstance(name, str):
        raise ExchangeError(f"found the tokens {name!r}, expected one of {', '.join(TOKENIZERS)}")
    if name in _TOKENIZERS:
        return _TOKENIZERS[name]
    if not name.startswith("spacy:"):
        expected = f"one of {', '.join(TOKENIZERS)}, or a segmenter's model file"
        raise ExchangeError(f"found the tokens {name!r}, expected {expected}")
    import spacy

    language = name.partition(":")[2]
    try:
        pipeline = spacy.blank(language)
    except ImportError as error:
        raise ExchangeError(f"found the language {language!r}, expected one that spaCy knows, such as en") from error
    return lambda text: [(each.idx, each.idx + len(each)) for each in pipeline.make_doc(text) if not each.is_space]


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


class Places:
    """The places of a text: bisection finds the text without blanks between two of them, and units of UTF-16."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _runs(self) -> tuple[array[int], array[int]]:
        starts, stops = array("l"), array("l")
        for run in regex.finditer(r"[^\s\p{Grapheme_Cluster_Break=Control}]+", self.text):
            starts.append(run.start())
            stops.append(run.end())
        return starts, stops

    @cached_property
    def _wide(self) -> array[int]:
        """The places in UTF-16 of the characters that take two units."""
        wide = re.finditer("[\U00010000-\U0010ffff]", self.text)
        return array("l", (each.start() + at for at, each in enumerate(wide)))

    def stripped(self, start: int, stop: int) -> tuple[int, int]:
        """Return the characters from start to stop without blanks at their ends; (stop, start) if all are blank."""
        starts, stops = self._runs
        first, last = bisect_right(stops, start), bisect_left(starts, stop) - 1
        return (max(start, starts[first]), min(stop, stops[last])) if first <= last else (stop, start)

    def is_blank(self, start: int, stop: int) -> bool:
        first, last = self.stripped(start, stop)
        return first >= last

    def of_unit(self, unit: int) -> int:
        """Return the character at which a unit of UTF-16 stands; -1 inside of one and behind the text."""
        wide = bisect_left(self._wide, unit)
        inside = wide > 0 and self._wide[wide - 1] == unit - 1
        return -1 if inside or unit < 0 or unit - wide > len(self.text) else unit - wide


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """A text and its tokens: the token that begins at an offset, and the token after the one that ends at an offset."""

    text: str
    starts: Mapping[int, int]
    stops: Mapping[int, int]

    @classmethod
    def of(cls, forms: Sequence[str]) -> TokenOffsets:
        """Join tokens with a blank between them, or without one if all are single characters."""
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
        """Find tokens in a text that may have other blanks between and inside them; `None` if it has other tokens."""
        starts: dict[int, int] = {}
        stops: dict[int, int] = {}
        offset = 0
        for number, form in enumerate(forms):
            for at, character in enumerate(without_blanks(form)):
                end = offset
                if not at:
                    end = next_visible(text, offset)
                else:
                    while end < len(text) and text[end].isspace():
                        end += 1
                offset = text.find(character, offset, end + 1)
                if offset < 0:
                    return None
                if not at:
                    starts[offset] = number
                offset += 1
            stops[offset] = number + 1
        return cls(text, starts, stops) if next_visible(text, offset) == len(text) else None

    def tokens(self, start: int, stop: int) -> tuple[int, int] | None:
        """Return the tokens start .. stop - 1 of some characters; `None` if these are not whole tokens."""
        if start not in self.starts or stop not in self.stops or self.starts[start] >= self.stops[stop]:
            return None
        return self.starts[start], self.stops[stop]

    def around(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the tokens start .. stop - 1 that overlap each place, whose first character is no blank."""
        starts, stops = [*self.starts], [*self.stops]
        for start, stop in places:
            first = bisect_right(starts, start) - 1
            yield first, max(bisect_left(stops, stop), first) + 1


def without_blanks(text: str) -> str:
    """Return a text without blanks, to compare texts that were cut into tokens differently."""
    return "".join(text.split())
