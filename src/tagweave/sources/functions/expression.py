"""A regular expression as a labelling function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tagweave.corpus.found_spans import FoundSpan, layer_of
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.corpus.token_offsets import TokenOffsets
from tagweave.sources.functions.function import FunctionError, digest_of


@dataclass(frozen=True)
class Expression:
    """Finds what a regular expression matches in the text of a sentence, whose tokens have a blank between them.

    A match counts if it begins where a token begins, and ends where one ends.

    Attributes:
        name: the name of its layer.
        pattern: in the syntax of Python's `re`.
        label: the label, or the type of the spans.
        group: the group of the pattern that is the span; 0 is all that it matches.
        ignore_case: whether upper and lower case are alike.
        outside: whether a token in no match is in no span.
        task: `spans` or `tags`.
    """

    name: str
    pattern: str
    label: str
    group: int | str = 0
    ignore_case: bool = False
    outside: bool = False
    task: str = "spans"

    def __post_init__(self) -> None:
        try:
            compiled = self._compiled()
        except re.error as error:
            raise FunctionError(f"{self.name}: found the pattern {self.pattern!r}, which fails: {error}") from None
        if self.group not in (*range(compiled.groups + 1), *compiled.groupindex):
            raise FunctionError(
                f"{self.name}: found no group {self.group!r} in the pattern, expected one of its groups"
            )

    def digest(self) -> str:
        """See `LabellingFunction.digest`."""
        return digest_of(self)

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Nothing to check: an expression fits any text."""

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """See `LabellingFunction.layers`."""
        return [layer_of(self._found(each), len(each), self.outside, self.task) for each in sentences]

    def _found(self, sentence: Sentence) -> Iterator[FoundSpan]:
        text = TokenOffsets.of(sentence.forms)
        for match in self._compiled().finditer(text.text):
            span = text.tokens(*match.span(self.group))
            if span is not None:
                yield FoundSpan(*span, (self.label,))

    def _compiled(self) -> re.Pattern[str]:
        return _compiled(self.pattern, re.IGNORECASE if self.ignore_case else 0)


@lru_cache(maxsize=1 << 8)
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)
