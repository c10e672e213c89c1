"""What all pages share: the store, sessions, templates, rate limits, and the words of a concordance."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tagweave.annotate.aggregation import Status
from tagweave.annotate.rate_limit import Attempts
from tagweave.annotate.sessions import Sessions
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose

if TYPE_CHECKING:
    from tagweave.annotate.kwic import Concordance

HERE = Path(__file__).parent
_FRESH = 10.0  # seconds for which the number of open tasks is cached: counting them takes longer than an answer


class WordList(NamedTuple):
    """Words to be marked in a text.

    Attributes:
        concordance: the concordance of the lines of the text.
        words: the words, in the order in which they are offered.
        guideline: the guideline of the answers.
        path: the file of the text, for the locations of answers.
    """

    concordance: Concordance
    words: tuple[str, ...]
    guideline: str
    path: str


@dataclass
class Site:
    """See the module.

    Attributes:
        store: the annotation store.
        address: the public address, without a trailing slash; the host that a request names is not trusted.
        words: the words of the concordance, if there is one.
        attempts: attempts to sign in.
    """

    store: Store
    address: str
    words: WordList | None = None
    attempts: Attempts = field(default_factory=Attempts)

    def __post_init__(self) -> None:
        self.sessions, self.templates = Sessions(self.store), _templates()
        self._counted: tuple[float, Counter[Status]] = (-_FRESH, Counter())

    def counts(self) -> Counter[Status]:
        """The number of real tasks of each status, as of a few seconds ago."""
        when, counts = self._counted
        if time.monotonic() - when >= _FRESH:
            by_purpose = self.store.counts().items()
            counts = Counter({status: count for (purpose, status), count in by_purpose if purpose is Purpose.REAL})
            self._counted = time.monotonic(), counts
        return counts


@cache
def _templates() -> Environment:
    """The templates of every site, each compiled when it is first used."""
    loader = FileSystemLoader(HERE / "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
