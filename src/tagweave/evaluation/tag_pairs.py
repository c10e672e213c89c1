"""Counts of pairs of tags, the words that have them, and an example token for each word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.space import LabelSpace

Pair = tuple[str, str]
Token = tuple[int, int]
"""The number of a sentence and the position in it."""

_EXAMPLES = 5


@dataclass(slots=True)
class _Word:
    """How often a word has a pair, the token that is its example, and the probability of the pair there."""

    token: Token
    weight: float = 0.0
    best: float = 0.0


class TagPairs:
    """Counts of pairs of tags, and of the words that have them.

    Attributes:
        counts: how often each pair occurs; expected counts may be fractional.
    """

    def __init__(self) -> None:
        self.counts: dict[Pair, float] = defaultdict(float)
        self._words: dict[Pair, dict[str, _Word]] = defaultdict(dict)
        self._forms: dict[str, float] = defaultdict(float)
        self._total = 0.0

    def add(self, pair: Pair, form: str, token: Token) -> None:
        """Count a token that has a pair."""
        self.counts[pair] += 1
        self.show(pair, form, token)

    def show(self, pair: Pair, form: str, token: Token, probability: float = 1.0) -> None:
        """Add a possible example of a pair. For each word the most probable token is kept, of ties the first."""
        word = self._words[pair].setdefault(form, _Word(token))
        word.weight += probability
        if probability > word.best:
            word.best, word.token = probability, token
        self._forms[form] += probability
        self._total += probability

    def examples(self, pair: Pair) -> list[Token]:
        """Tokens of different words, those of the most typical words first.

        How typical a word is of a pair is n(word, pair) log (P(pair | word) / P(pair)): it has the pair often, and more
        often than other words do. Ties are sorted by name.
        """
        words = self._words.get(pair, {})
        average = sum(word.weight for word in words.values()) / (self._total or 1)
        typical = {form: word.weight * log(word.weight / self._forms[form] / average) for form, word in words.items()}
        best = sorted(words, key=lambda form: (-typical[form], form))[:_EXAMPLES]
        return [words[form].token for form in best]


@dataclass(frozen=True, eq=False)
class PairProjection:
    """From the Y labels of a model to the P pairs of tags of two of its guidelines.

    Attributes:
        pairs: the pairs that some label consists of.
        order: int64[Y], the labels in the order of their pairs.
        starts: int64[P], where the labels of each pair start in that order.
    """

    pairs: tuple[Pair, ...]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, space: LabelSpace, first: str, second: str) -> PairProjection:
        """The pairs of two views.

        Raises:
            KeyError: a guideline that the labels do not have.
        """
        one, other = space.view(first), space.view(second)
        numbers = one.projection.astype(np.int64) * len(other.names) + other.projection
        order = np.argsort(numbers, kind="stable")
        distinct, starts = np.unique(numbers[order], return_index=True)
        parts = (divmod(number, len(other.names)) for number in distinct.tolist())
        return cls(tuple((one.names[a], other.names[b]) for a, b in parts), order, starts)

    def add(
        self, pairs: TagPairs, forms: Sequence[str], number: int, positions: Sequence[int], table: NDArray[Any]
    ) -> None:
        """Add the expected pairs at some positions of a sentence.

        Args:
            pairs: where the counts go.
            forms: the L tokens of the sentence.
            number: the number of the sentence.
            positions: the positions that count.
            table: [L, Y], the probability of every label at every token.
        """
        if not positions:
            return
        by_pair = np.add.reduceat(table[positions][:, self.order], self.starts, axis=1, dtype=np.float64)
        for pair, count in zip(self.pairs, by_pair.sum(axis=0).tolist(), strict=True):
            pairs.counts[pair] += count
        best = by_pair.argmax(axis=1)
        probabilities = by_pair[np.arange(len(positions)), best].tolist()
        for at, which, probability in zip(positions, best.tolist(), probabilities, strict=True):
            pairs.show(self.pairs[which], forms[at], (number, at), probability)
