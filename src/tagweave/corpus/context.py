"""A word in context, as lists of examples and of uncertain words show it."""

from __future__ import annotations

from dataclasses import dataclass

from tagweave.corpus.sentence import Location, Sentence

WIDTH = 4
"""How many tokens are shown on either side of the word."""
_LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class Context:
    """A token and its neighbours.

    Attributes:
        left: the tokens before it, `…` for tokens left out.
        word: the token.
        right: the tokens after it.
        position: its number in the sentence; 1 is the first token.
        location: where the sentence was read.
        note: a remark on the token, shown in brackets after its context.
    """

    left: tuple[str, ...]
    word: str
    right: tuple[str, ...]
    position: int
    location: Location = Location()
    note: str = ""

    @classmethod
    def of(cls, sentence: Sentence, at: int, width: int = WIDTH, note: str = "") -> Context:
        """The token `at` (0 is the first) with up to `width` tokens on either side."""
        forms, start, stop = sentence.forms, max(0, at - width), at + 1 + width
        left, right = forms[start:at], forms[at + 1 : stop]
        before, after = (_LEFT_OUT,) * (start > 0), (_LEFT_OUT,) * (stop < len(forms))
        return cls((*before, *left), forms[at], (*right, *after), at + 1, sentence.location, note)

    def __str__(self) -> str:
        return " ".join((*self.left, f"[{self.word}]", *self.right, *([f"({self.note})"] if self.note else [])))

    @property
    def source(self) -> str:
        """`PATH:LINE` of the sentence, as far as it is known."""
        path, line = self.location
        return f"{path}:{line}" if line else path
