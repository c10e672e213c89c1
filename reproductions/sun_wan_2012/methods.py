"""The methods that are compared, by the names that they have in the tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reproductions.sun_wan_2012.likeness import ALIKE, LIKENESS, RANDOM

LEVELS = ("characters", "guided", "pieces")
"""CTag, feature stacking (4.3), and sub-word tagging (4.4)."""


@dataclass(frozen=True)
class Method:
    """A model of the target guideline.

    Attributes:
        name: in the tables.
        level: one of `LEVELS`.
        characters: whether the tagger of characters, alone or below the pieces, learns from D', the source corpus as
            feature stacking relabels it (section 5), too.
        pieces: whether the model of pieces learns from D'', the source corpus as such a model relabels it, too.
        times: of D' and D'' an iteration visits so many times as many words as the target has; 0: all of them.
        like: of D' the share `kept` that is most like the target, by one of `reproductions.sun_wan_2012.likeness`.
        kept: of the sentences of D'.
        tags: whether the model of pieces sees the tags of the source tagger, or its words alone (6.2).
        target, source: the share of the sentences of each corpus.
        given: whether the source annotation of the test data is given (6.4) or predicted.
    """

    name: str
    level: str
    characters: bool = False
    pieces: bool = False
    times: float = 0.0
    like: str = ""
    kept: float = 1.0
    tags: bool = True
    target: float = 1.0
    source: float = 1.0
    given: bool = False


CHARACTERS = Method("CTag", "characters")
GUIDED = Method("feature stacking", "guided")
PIECES = Method("sub-word", "pieces")
UNTAGGED = Method("sub-word, boundaries only", "pieces", tags=False)

CHARACTERS_AGAIN = Method("CTag, D + D'", "characters", characters=True)
PIECES_ON_AGAIN = Method("sub-word, CTag of D + D'", "pieces", characters=True)
PIECES_AGAIN = Method("sub-word, D + D''", "pieces", pieces=True)
BOTH_AGAIN = Method("sub-word, D + D'', CTag of D + D'", "pieces", characters=True, pieces=True)
AGAIN = (CHARACTERS_AGAIN, PIECES_ON_AGAIN, PIECES_AGAIN, BOTH_AGAIN)
"""Re-training (Table 5)."""

GUIDED_GIVEN = replace(GUIDED, name="feature stacking, source given", given=True)
PIECES_GIVEN = replace(PIECES, name="sub-word, source given", given=True)

SOURCE_SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Of the source sentences (Table 3)."""
TIMES = 4.0
"""How much of D' and D'' a sample is."""
TARGET_SHARES = (0.25, 0.5)
"""Of the target sentences, beside all of the source; the paper has one half of both (Table 3)."""


def with_source(method: Method, share: float) -> Method:
    """The method with a share of the source corpus."""
    return method if share == 1 else replace(method, name=f"{method.name}, {share:.0%} of the source", source=share)


def with_target(method: Method, share: float) -> Method:
    """The method with a share of the target corpus."""
    return method if share == 1 else replace(method, name=f"{method.name}, {share:.0%} of the target", target=share)


def sampled(method: Method) -> Method:
    """The method, with samples of the relabelled source corpora."""
    return replace(method, name=f"{method.name}, sampled", times=TIMES)


def alike(method: Method, like: str, share: float) -> Method:
    """The method, with the share of D' that is most like the target."""
    return replace(method, name=f"{method.name}, {like} 1/{round(1 / share)}", like=like, kept=share)


LIKE_SHARES = (1 / 4, 1 / 2)
CHARACTERS_LIKE = (
    *(alike(CHARACTERS_AGAIN, like, LIKE_SHARES[0]) for like in (RANDOM, *LIKENESS)),
    *(alike(CHARACTERS_AGAIN, like, LIKE_SHARES[1]) for like in LIKENESS),
)
PIECES_LIKE = alike(PIECES_ON_AGAIN, ALIKE, LIKE_SHARES[0])
"""Sub-words above the best of these on development data."""
