"""The tokens of a conversion that a person should review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tagweave.conversion.labels import UncertainToken

_COLUMNS = ("probability", "word", "given", "chosen", "others", "context", "place", "token")


@dataclass
class ReviewList:
    """The least certain tokens of the sentences that have passed.

    Attributes:
        size: the maximum number of tokens.
        tokens: the tokens, the least certain first.
    """

    size: int = 0
    tokens: list[UncertainToken] = field(default_factory=list)

    def add(self, tokens: Iterable[UncertainToken]) -> None:
        """Add tokens, and keep the least certain."""
        self.tokens = nsmallest(self.size, [*self.tokens, *tokens], key=lambda each: each.probability)

    def lines(self) -> Iterator[str]:
        """A header and a row for each token, with fields separated by tabs."""
        yield "\t".join(_COLUMNS)
        for each in self.tokens:
            others = " ".join(f"{tag} {probability:.4f}" for tag, probability in each.alternatives)
            context = each.context
            given = "|".join(each.given or ("_",))
            texts = (context.word, given, each.chosen, others, str(context), context.source, str(context.position))
            yield "\t".join((f"{each.probability:.4f}", *texts))
