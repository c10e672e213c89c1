"""Loads the lexicons that plans name, with their digests; features use their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.training.errors import PlanError

if TYPE_CHECKING:
    from tagweave.harvest.lexicon import Lexicon


@dataclass(frozen=True)
class LexiconFiles:
    """Lexicons and the SHA-256 digests of their files."""

    lexicons: tuple[Lexicon, ...] = ()
    digests: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all lexicons."""
        return tuple(word for lexicon in self.lexicons for word in lexicon.words)


def read_lexicons(paths: Sequence[str], task: str) -> LexiconFiles:
    """Load lexicons for training.

    Raises:
        PlanError: a task of words, or standard input, which has no digest and cannot be read again.
        CorpusError, OSError: as `tagweave.harvest.lexicon.read`.
    """
    from tagweave.corpus.describe import digest
    from tagweave.corpus.text_file import STANDARD_STREAM
    from tagweave.harvest.lexicon import read

    if paths and task == "tag":
        raise PlanError("found --lexicon with the task tag, expected segment or segtag: its words are of characters")
    if STANDARD_STREAM in paths:
        raise PlanError("found standard input as a lexicon, expected a file: its digest identifies the training run")
    return LexiconFiles(tuple(map(read, paths)), tuple(map(digest, paths)))
