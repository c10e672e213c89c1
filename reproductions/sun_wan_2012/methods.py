"""The methods that are compared, by the names that they have in the tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A model of the target guideline.

    Attributes:
        name: in the tables.
        level: `characters` (CTag), `guided` (feature stacking, 4.3) or `pieces` (sub-word tagging, 4.4).
        tags: whether the model of pieces sees the tags of the source tagger, or its words alone (6.2).
    """

    name: str
    level: str
    tags: bool = True


CHARACTERS = Method("CTag", "characters")
GUIDED = Method("feature stacking", "guided")
PIECES = Method("sub-word", "pieces")
UNTAGGED = Method("sub-word, boundaries only", "pieces", tags=False)
