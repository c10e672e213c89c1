"""Shards of training corpora: which sentences of which files a worker has, as plain data, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import CorpusOutline
from tagweave.corpus.sentence import Sentence
from tagweave.training.fit import weighted_sentence
from tagweave.training.task import Task

_SLICE = 1 << 16  # characters of sentences that are objects at a time


@dataclass(frozen=True)
class CorpusPart:
    """Sentences first .. last - 1 of a corpus file.

    Attributes:
        file: the file.
        outline: the corpus without its sentences; its weight is that of every sentence.
        own_layer: whether no other layer is evidence.
        scheme: how the whole corpus codes spans; `None` if it has none.
    """

    file: SharedFile
    outline: CorpusOutline
    first: int
    last: int
    own_layer: bool = False
    scheme: str | None = None


Block = tuple[CorpusPart, ...]
"""Consecutive sentences of one corpus or several, encoded as one."""


@dataclass(frozen=True)
class Shard:
    """The blocks of a worker.

    Attributes:
        first: the number of the first block.
        blocks: the blocks, in the order of the corpora.
    """

    first: int
    blocks: tuple[Block, ...]


def shards_of(files: Sequence[CorpusPart], blocks: int, workers: int) -> list[Shard]:
    """Blocks of about equally many sentences, shared out in their order among at most as many workers."""
    total = sum(part.last - part.first for part in files)
    bounds = [total * b // blocks for b in range(blocks + 1)]
    cut = [_between(files, first, last) for first, last in pairwise(bounds)]
    ends = [blocks * w // workers for w in range(workers + 1)]
    return [Shard(first, tuple(cut[first:last])) for first, last in pairwise(ends) if first < last]


def _between(files: Sequence[CorpusPart], first: int, last: int) -> Block:
    """Sentences first .. last - 1 of all files."""
    parts, begin = [], 0
    for part in files:
        low, high = max(first - begin, 0), min(last - begin, part.last)
        if low < high:
            parts.append(replace(part, first=low, last=high))
        begin += part.last
    return tuple(parts)


class ShardReader:
    """Reads the blocks of a shard one after the other, and every file once.

    Args:
        task: makes the tokens.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._open: tuple[SharedFile, int, Iterator[Sentence]] | None = None

    def slices(self, block: Block) -> Iterator[Corpus]:
        """The block in corpora of the task's tokens, each small.

        Raises:
            CorpusError, OSError: as `load`.
        """
        for part in block:
            sentences = islice(self._since(part), part.last - part.first)
            corpus = part.outline.corpus
            for some in _in_slices(sentences):
                own = [each.with_layers_of([corpus.guideline]) for each in some] if part.own_layer else some
                prepared = self._task.prepare(corpus.with_sentences(own), part.scheme)
                yield prepared.map(lambda sentence, by=corpus.weight: weighted_sentence(sentence, by))  # type: ignore[misc]

    def _since(self, part: CorpusPart) -> Iterator[Sentence]:
        """The sentences of a file from those of a part on."""
        if self._open is None or self._open[:2] != (part.file, part.first):
            self._open = part.file, part.first, part.outline.since(part.file.local(), part.first)
        file, _, sentences = self._open
        self._open = file, part.last, sentences
        return sentences


def _in_slices(sentences: Iterator[Sentence]) -> Iterator[list[Sentence]]:
    some: list[Sentence] = []
    characters = 0
    for sentence in sentences:
        some.append(sentence)
        characters += sum(map(len, sentence.forms))
        if characters >= _SLICE:
            yield some
            some, characters = [], 0
    if some:
        yield some
