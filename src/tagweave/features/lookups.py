"""What features of words and characters look up beside the corpus, as plain data; a model keeps what it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tagweave.corpus.gazetteer import Gazetteer


@dataclass(frozen=True, kw_only=True)
class Lookups:
    """What the templates of a model look up.

    Attributes:
        words: the words of lexicons, for templates over `LEXICON_COLUMNS`.
        gazetteer: phrases and their types, for templates over `GAZETTEER_COLUMNS`.
        clusters: words and the bit strings of their clusters, for templates over `CLUSTER_COLUMNS`.
    """

    words: tuple[str, ...] = ()
    gazetteer: Gazetteer = field(default_factory=Gazetteer)
    clusters: Mapping[str, str] = field(default_factory=dict)


NOTHING = Lookups()
"""For templates that look nothing up."""
