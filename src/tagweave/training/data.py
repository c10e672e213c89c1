"""Training data: corpora with their guidelines, and which of them follow the target guideline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.training.corpora import CorpusFile


@dataclass(frozen=True)
class TrainingData:
    """Corpora and the method to train on them.

    Attributes:
        files: the corpora in the order of the arguments; the first follows the target guideline.
        method: the name of the method.
        own: how many of the files are TRAIN; the others are `--source`.
        is_asked_for: whether the user named the method.
        notes: the assumptions made, to report.
    """

    files: tuple[CorpusFile, ...]
    method: str
    own: int = 1
    is_asked_for: bool = False
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The target guideline."""
        return self.files[0].guideline

    @property
    def guidelines(self) -> tuple[str, ...]:
        """All guidelines, the target first."""
        return tuple(dict.fromkeys(file.guideline for file in self.files))

    @property
    def corpora(self) -> list[Corpus]:
        """All corpora."""
        return [file.corpus for file in self.files]

    @property
    def targets(self) -> list[Corpus]:
        """The corpora of the target guideline."""
        return [corpus for corpus in self.corpora if corpus.guideline == self.target]

    @property
    def sources(self) -> list[Corpus]:
        """The corpora of other guidelines."""
        return [corpus for corpus in self.corpora if corpus.guideline != self.target]

    @property
    def has_sources(self) -> bool:
        """Whether there is a `--source`."""
        return self.own < len(self.files)

    def alone(self, method: str) -> TrainingData:
        """TRAIN alone, for a method for one guideline."""
        return replace(self, files=self.files[: self.own], method=method)

    def incomparable(self, dev: Corpus | None) -> str:
        """Why a model is not compared with one of TRAIN alone: no source, or no suitable development data; or ""."""
        if not self.has_sources:
            return "no `sources`"
        if dev is None:
            return "no `dev`"
        return "" if dev.guideline == self.target else f"`dev` of {dev.guideline}, not {self.target}"
