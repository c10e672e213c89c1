"""Which of the harvested sentences are kept: those that matter to a target text, and of these a sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import STANDARD_STREAM, read_lines
from tagweave.harvest.options import HarvestError
from tagweave.harvest.select import sampled, selected


@dataclass(frozen=True)
class Selection:
    """What is kept of a harvest. Without a choice sentences pass one by one, else all are held.

    Args:
        like: files of raw text; none: every sentence is kept.
        size: how many sentences are drawn; `None`: no sample.
        seed: of the sample.
        inputs: what the sentences are harvested from.

    Raises:
        HarvestError: standard input is to be read twice.
        OSError: raw text that cannot be opened; it is read only when all sentences have come.
    """

    like: tuple[str, ...]
    size: int | None
    seed: int
    inputs: tuple[str, ...]

    def __post_init__(self) -> None:
        if (*self.like, *self.inputs).count(STANDARD_STREAM) > 1:
            raise HarvestError("found - several times, expected it once: standard input is read once")
        for path in self.like:
            if path != STANDARD_STREAM:
                Path(path).open("rb").close()

    def of(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Those that are kept, in their order. Raises CorpusError, OSError as `read_lines` of the raw text."""
        yield from self._selected(sentences) if self._chooses else sentences

    @property
    def _chooses(self) -> bool:
        return bool(self.like) or self.size is not None

    def _selected(self, sentences: Iterable[Sentence]) -> Iterable[Sentence]:
        corpus = Corpus(tuple(sentences), SEGMENTATION, "character")
        if self.like:
            corpus = selected(corpus, (line for path in self.like for line in read_lines(path)))
        return corpus if self.size is None else sampled(corpus, self.size, self.seed)
