"""The text of tokens, and which tokens a part of it covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
