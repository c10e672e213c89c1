"""How many sentences of each corpus an iteration visits if one corpus is far larger (li-2015, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

from tagweave.corpus.corpus import Corpus


def by_words(targets: Sequence[Corpus], others: Sequence[Corpus], times: float = 1.0) -> tuple[int, ...]:
    """All sentences of the targets, and of each other corpus about `times` as many words as the targets have.

    Returns:
        the number of sentences of every corpus, the targets first: a `Recipe.sample`.
    """
    words = times * sum(corpus.tokens() for corpus in targets)
    return (
        *map(len, targets),
        *(min(len(each), int(-(-len(each) * words // max(1, each.tokens())))) for each in others),
    )
