"""The first lines of a file, by which formats recognise their files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.corpus.alternatives import parse_candidates
from tagweave.corpus.blanks import BLANKS, split_blanks
from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FEW = 0.1
"""The share of words above which a pattern in them is not a coincidence."""

_UNKNOWN = ("_", "?", "-X-", "")  # fields that mean an unknown label in one format or another


@dataclass(frozen=True)
class Labels:
    """The labels of the model that text is for, which distinguish words with labels from words with a slash.

    Attributes:
        known: whether a candidate is one of the labels.
        share: the share of words with a label above which the text counts as labelled.
    """

    known: Callable[[str], bool]
    share: float = FEW

    def among(self, field: str) -> bool:
        """Whether a field consists of these labels only."""
        try:
            return bool(field) and all(map(self.known, parse_candidates(field)))
        except CorpusError:
            return False

    def fill(self, fields: Iterable[str]) -> bool:
        """Whether at least half of the fields are these labels, or mean that the label is unknown."""
        fits = [field in _UNKNOWN or self.among(field) for field in fields]
        return 2 * sum(fits) >= len(fits)


@dataclass(frozen=True)
class FirstLines:
    """The first lines of a file.

    Attributes:
        lines: the lines, without line breaks.
        labels: those of a model of words that the text is for; `None` if it is not for a model.
    """

    lines: Sequence[str]
    labels: Labels | None = None

    @cached_property
    def rows(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.lines if line.strip(BLANKS)]

    @cached_property
    def tabbed(self) -> list[list[str]]:
        """The fields of the rows with tabs."""
        return [row.split("\t") for row in self.rows if "\t" in row]

    @cached_property
    def fields(self) -> list[list[str]]:
        """The fields of all rows, separated by tabs or else by blanks."""
        return [row.split("\t") if "\t" in row else split_blanks(row) for row in self.rows]

    @cached_property
    def tokens(self) -> list[str]:
        """The texts between blanks."""
        return [token for row in self.rows for token in split_blanks(row)]
