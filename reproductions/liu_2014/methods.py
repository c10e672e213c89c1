"""The methods that are compared, by the names that they have in the tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Words of the lexicon in raw sentences (2.1).

    Attributes:
        share: of the raw sentences, drawn by the seed.
        phrases: entries of a lexicon of so many characters and more may be several words (`LexiconMatcher`); 0: none.
    """

    share: float = 1.0
    phrases: int = 0


@dataclass(frozen=True)
class Method:
    """A way to use free annotation beside the fully annotated corpus.

    Attributes:
        name: in the tables.
        partial: the partially annotated sentences that are trained on as well.
    """

    name: str
    partial: tuple[Source, ...] = ()


SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Of the sentences, in Figure 3."""


def lexicon_share(share: float) -> Method:
    """Partial annotation of a share of the raw sentences."""
    source = Source(share, _PHRASE)
    return PHRASES if share == 1 else Method(f"+ PA (lexicon, phrases), 1/{round(1 / share)}", (source,))


_PHRASE = 4  # characters: names of people have two or three, of things often several words

BASELINE = Method("baseline")
PHRASES = Method("+ PA (lexicon, phrases)", (Source(phrases=_PHRASE),))
