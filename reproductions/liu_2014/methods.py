"""The methods that are compared, by the names that they have in the tables."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Source:
    """Where partial annotation comes from.

    Attributes:
        kind: one of those of `reproductions.liu_2014.partial.KINDS`.
        share: of the sentences that there are of this kind, drawn by the seed.
        phrases: entries of a lexicon of so many characters and more may be several words (`LexiconMatcher`); 0: none.
        confidence: in what is marked.
    """

    kind: str
    share: float = 1.0
    phrases: int = 0
    confidence: float = 1.0


@dataclass(frozen=True)
class Method:
    """A way to use free annotation beside the fully annotated corpus.

    Attributes:
        name: in the tables.
        partial: the partially annotated sentences that are trained on as well.
        columns: whether the lexicon's words are looked for by features (5.1.3).
        incomplete: how that is treated which they leave open, as in `tagweave.training.incomplete`.
        weight: how often one of them counts.
        chosen: of these methods, development data choose one, and nothing else is trained.
    """

    name: str
    partial: tuple[Source, ...] = ()
    columns: bool = False
    incomplete: str = "marginal"
    weight: float = 1.0
    chosen: tuple[Method, ...] = ()


def posterior(method: Method) -> Method:
    """The method, with the probabilities of a first model for what is left open."""
    return replace(method, name=f"{method.name}, posterior", incomplete="posterior")


def weighted(method: Method, weight: float) -> Method:
    """The method, whose partially annotated sentences count that much."""
    return method if weight == 1 else replace(method, name=f"{method.name}, weight {weight:g}", weight=weight)


SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Of the sentences, in Figures 3 and 4."""


def lexicon_share(share: float) -> Method:
    """Partial annotation of a share of the raw sentences."""
    source = Source("lexicon", share, _PHRASE)
    return PHRASES if share == 1 else Method(f"+ PA (lexicon, phrases), 1/{round(1 / share)}", (source,))


def natural_share(share: float) -> Method:
    """A share of the sentences of pages."""
    return ALL if share == 1 else Method(f"+ PA (all), 1/{round(1 / share)}", (Source("all", share),))


_PHRASE = 4  # characters: names of people have two or three, of things often several words

BASELINE = Method("baseline")
COLUMNS = Method("+ lexicon features", columns=True)
LEXICON = Method("+ PA (lexicon)", (Source("lexicon"),))
PHRASES = Method("+ PA (lexicon, phrases)", (Source("lexicon", phrases=_PHRASE),))
BOTH = Method("+ PA (lexicon, phrases) + lexicon features", (Source("lexicon", phrases=_PHRASE),), columns=True)
ALL = Method("+ PA (all)", (Source("all"),))
RANDOM = Method("+ PA (random)", (Source("random"),))
SELECTED = Method("+ PA (selected)", (Source("selected"),))
COMBINED = Method("+ PA (lexicon, phrases + selected)", (Source("lexicon", phrases=_PHRASE), Source("selected")))

EDGES = Method("+ PA (boundaries alone)", (Source("edges"),))
UNENDED = Method("+ PA (titles and items of lists)", (Source("unended"),))
BELIEVED = Method("+ PA (all), believed 0.5", (Source("all", confidence=0.5),))

OWN = Method("+ own words", (Source("lexicon"),))
"""The lexicon has the words of the target's training data, and no others."""
UNAMBIGUOUS = Method("+ own words, unambiguous", (Source("unambiguous"),))
"""Without entries that occur in the training data as parts of words, or across several."""
NEW = Method("+ new words", (Source("new"),))
"""It has the words that the raw sentences have beyond these; nobody has such a list."""
RAW = Method("+ raw sentences, posterior", (Source("raw"),), incomplete="posterior")
OWN_LIGHT = tuple(weighted(OWN, weight) for weight in (0.03, 0.1))
OWN_CHOSEN = Method("+ own words, weight chosen on dev", OWN.partial, chosen=(*OWN_LIGHT, OWN))
