"""From texts to sentences of tokens with their offsets: every line of a text is a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tagweave.corpus.sentence import Sentence
from tagweave.exchange.tokens import Offsets, Tokenizer, lines, tokenizer

Cut = Callable[[Sequence[str]], list[list[Offsets]]]
"""From lines to the offsets of their tokens; of many lines at once, since segmenters are faster so."""


@dataclass(frozen=True, slots=True)
class Tokenised:
    """A text or a list of tokens.

    Attributes:
        sentences: of tokens.
        offsets: of the tokens of each sentence in the text; `None`, where tokens were given.
    """

    sentences: tuple[Sentence, ...]
    offsets: tuple[tuple[Offsets, ...], ...] | None = None

    @property
    def tokens(self) -> int:
        """How many tokens."""
        return sum(map(len, self.sentences))


def of_texts(texts: Sequence[str], cut: Cut) -> list[Tokenised]:
    """Cut texts into lines and tokens."""
    bounds = [list(lines(text)) for text in texts]
    found = iter(cut([text[a:b] for text, own in zip(texts, bounds, strict=True) for a, b in own]))
    return [_of_text(text, [(start, next(found)) for start, _ in own]) for text, own in zip(texts, bounds, strict=True)]


def by_line(cut: Tokenizer) -> Cut:
    """Return a tokenizer of lines for many of them."""
    return lambda several: list(map(cut, several))


def cut_by(tokens: str) -> Callable[[str], Tokenised]:
    """Return how a text is cut into tokens, by the name of a tokenizer. Raises as `exchange.tokens.tokenizer`."""
    cut = by_line(tokenizer(tokens))
    return lambda text: of_texts([text], cut)[0]


def _of_text(text: str, cut: Sequence[tuple[int, list[Offsets]]]) -> Tokenised:
    own = tuple(tuple((start + a, start + b) for a, b in tokens) for start, tokens in cut if tokens)
    return Tokenised(tuple(Sentence(tuple(text[a:b] for a, b in each)) for each in own), own)
