"""What all pages share: the store, cookies, templates, attempts to sign in, and the words of a concordance."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tagweave.annotate.aggregation import Status
from tagweave.annotate.forms import written
from tagweave.annotate.rate_limit import Attempts
from tagweave.annotate.sessions import Sessions
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose

if TYPE_CHECKING:
    from tagweave.annotate.kwic import Concordance

HERE = Path(__file__).parent
_FRESH = 10.0  # seconds for which the number of open tasks is kept: counting them all takes longer than an answer


class WordList(NamedTuple):
    """Words to ask for in a text.

    Attributes:
        concordance: of the lines of the text.
        words: in the order in which they are offered.
        guideline: of the answers.
        path: of the text, for the places of answers.
    """

    concordance: Concordance
    words: tuple[str, ...]
    guideline: str
    path: str


@dataclass
class Site:
    """See the module.

    Attributes:
        store: see there.
        address: where people reach it, without a slash at its end; what a request says of that is not believed.
        words: of the concordance, if there is one.
        attempts: to sign in.
    """

    store: Store
    address: str
    words: WordList | None = None
    attempts: Attempts = field(default_factory=Attempts)

    def __post_init__(self) -> None:
        self.sessions, self.templates = Sessions(self.store), _templates()
        self._counted: tuple[float, Counter[Status]] = (-_FRESH, Counter())

    def counts(self) -> Counter[Status]:
        """How many real tasks there are of each status, a few seconds ago."""
        when, counts = self._counted
        if time.monotonic() - when >= _FRESH:
            found = self.store.counts().items()
            counts = Counter({status: count for (purpose, status), count in found if purpose is Purpose.REAL})
            self._counted = time.monotonic(), counts
        return counts


@cache
def _templates() -> Environment:
    """Those of every site, each compiled when it is first filled in."""
    loader = FileSystemLoader(HERE / "templates")
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    found.filters["written"] = written
    return found
