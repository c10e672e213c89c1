"""Whether the text after a separator in words is labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.corpus.formats.first_lines import FEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.formats.first_lines import Labels

_MANY, _MOST = 0.5, 0.9  # shares of words with a tail
_WORDS = 10  # enough to recognise a corpus
_UPPER = re.compile(r"[^a-z]*[A-Z][^a-z]*")


@dataclass(frozen=True)
class Tails:
    """The tails of words, that is, the text after a separator inside a word.

    If nine of ten words have a tail, tails are labels. With fewer they are labels only if they look like it: if one of
    ten words has one and most are in capitals, or every second word has one and few of them are different.

    In text for a model, a tail is a label only if the model has it. Tails are labels if most of them are the model's
    and enough words have one, or if all are and look like labels; or if nearly all words have one and few of them are
    different.

    Attributes:
        separator: the character.
        words: the number of words.
        pairs: the text before and after the separator, for every word that has it inside.
    """

    separator: str
    words: int
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, tokens: Sequence[str], separator: str) -> Tails:
        """The tails of tokens."""
        split = (token.rpartition(separator) for token in tokens if separator in token[1:-1])
        return cls(separator, len(tokens), tuple((form, tail) for form, _, tail in split))

    @property
    def count(self) -> int:
        """How many words have a tail."""
        return len(self.pairs)

    @property
    def share(self) -> float:
        """The share of the words that have a tail."""
        return self.count / max(self.words, 1)

    def known(self, labels: Labels) -> int:
        """How many tails are labels of a model."""
        return sum(labels.among(tail) for _, tail in self.pairs)

    @property
    def are_labels_of_all(self) -> bool:
        """Whether this is a fully labelled corpus, whatever model it is for."""
        return self.words >= _WORDS and self.share >= _MOST and self._are_few

    @property
    def _are_few(self) -> bool:
        return 2 * len({tail for _, tail in self.pairs}) <= len(set(self.pairs))

    def are_labels(self, labels: Labels | None) -> bool:
        """Whether the tails count as labels."""
        if labels is None:
            return self.count > 0 and self._look_like_labels()
        known = self.known(labels)
        if known == self.count > 0 and self._look_like_labels():
            return True
        return known > 0 and known >= labels.share * self.words and 2 * known >= self.count

    def _look_like_labels(self) -> bool:
        """Whether all words have tails, or some have tails in capitals, or many have few different tails."""
        capitals = sum(_UPPER.fullmatch(tail) is not None for _, tail in self.pairs)
        some_in_capitals = self.share >= FEW and 2 * capitals >= self.count
        return self.share >= _MOST or some_in_capitals or (self.share >= _MANY and self._are_few)

    def note_on_labels(self, labels: Labels | None) -> str:
        """A note if tails count as labels, but not all tails are labels or not all words have one."""
        if labels is None:
            if self.share >= _MOST:
                return ""
            return f"read as words with labels, which {self.count} of its first {self.words} words have"
        strange = self.count - self.known(labels)
        kept = (
            f"{strange} of {self.count} words with a {self.separator} keep it, since no label of the model is behind it"
        )
        return f"read with labels: {kept}" if strange else ""

    def note_on_words(self, format_name: str, labels: Labels | None) -> str:
        """A note if tails do not count as labels, but many words have one."""
        if self.share < FEW and not (labels and self.known(labels)):
            return ""
        what = f"read as words: {self.count} of its first {self.words} have a {self.separator} in them"
        return f"{what}, and what is behind it is not taken for labels (`format={format_name}` does)"
