"""Shards of training corpora: which sentences of which files a worker has, as plain data, and how they are read.

The worker's side of a training on shards: what its sentences contain, and the objective over them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from tagweave.cluster.executor import Arrays, Reply
from tagweave.cluster.shared_file import MappedArrays, SharedFile, private_folder
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import CorpusOutline
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import FeatureIndex, TemplateEncoder
from tagweave.features.lookups import Lookups
from tagweave.kernels.compiled_code import one_blas_thread
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, collect_names
from tagweave.learning.sharded import BlockObjective, writable
from tagweave.learning.trainer import Trainer, TrainerState
from tagweave.models.layout import Layout
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.objective import ChainObjective
from tagweave.training.chain_problem import Aspect, ProblemSize, count_known, scheme_of, weighted_sentence
from tagweave.training.consistency import check_evidence, with_evidence
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

_SLICE = 1 << 16  # characters of sentences that are objects at a time


@dataclass(frozen=True)
class CorpusPart:
    """Sentences first .. last - 1 of a corpus file; `scheme` codes the spans of the whole corpus, if it has any."""

    file: SharedFile
    outline: CorpusOutline
    first: int
    last: int
    own_layer: bool = False
    scheme: str | None = None


Block = tuple[CorpusPart, ...]
"""Consecutive sentences of one corpus or several, encoded as one."""


@dataclass(frozen=True)
class BlockRange:
    """The blocks of a worker."""

    first: int
    blocks: tuple[Block, ...]


def shards_of(files: Sequence[CorpusPart], blocks: int, workers: int) -> list[BlockRange]:
    """Cut corpora into blocks of about equally many sentences, and share them out among at most so many workers."""
    total = sum(part.last - part.first for part in files)
    bounds, cut = [total * b // blocks for b in range(blocks + 1)], []
    for first, last in pairwise(bounds):
        parts, begin = [], 0
        for part in files:
            low, high = max(first - begin, 0), min(last - begin, part.last)
            if low < high:
                parts.append(replace(part, first=low, last=high))
            begin += part.last
        cut.append(tuple(parts))
    ends = [blocks * w // workers for w in range(workers + 1)]
    return [BlockRange(first, tuple(cut[first:last])) for first, last in pairwise(ends) if first < last]


class ShardReader:
    """Reads the blocks of a shard one after the other, and every file once."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._open: tuple[SharedFile, int, Iterator[Sentence]] | None = None

    def slices(self, block: Block) -> Iterator[Corpus]:
        """Yield the block in corpora of the task's tokens, each small."""
        for part in block:
            sentences = islice(self._since(part), part.last - part.first)
            corpus = part.outline.corpus
            for some in _in_slices(sentences):
                own = [each.with_layers_of([corpus.guideline]) for each in some] if part.own_layer else some
                prepared = self._task.prepare(corpus.with_sentences(own), part.scheme)
                yield prepared.map(lambda sentence, by=corpus.weight: weighted_sentence(sentence, by))  # type: ignore[misc]

    def _since(self, part: CorpusPart) -> Iterator[Sentence]:
        """Yield the sentences of a file from those of a part on."""
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


Codes = NDArray[np.uint64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class ShardContent:
    """The labels and features of a shard, from which the driver makes the label space and the feature index."""

    names: tuple[str, ...]
    grams: tuple[Codes, Counts]
    of_types: tuple[Codes, Counts]


@dataclass(frozen=True)
class TrainingShardTask:
    """What a worker needs to know of a training."""

    shard: BlockRange
    recipe: Recipe
    lookups: Lookups
    space: LabelSpace | None = None  # the labels; `None` while they are unknown
    features: SharedFile | None = None  # a file with the codes of all features, `codes`; `None` while they are unknown


def content_of(task: TrainingShardTask) -> ShardContent:
    """What a shard contains. Raises CorpusError, OSError: as `ShardReader.slices`, `TemplateEncoder.encode`."""
    reader, encoder = ShardReader(task.recipe.task), task.recipe.encoder(task.lookups)
    names: set[str] = set()
    grams, of_types = FeatureIndex(), FeatureIndex()
    for block in task.shard.blocks:
        for corpus in reader.slices(block):
            names.update(collect_names(each.layers.get(corpus.guideline, ()) for each in corpus))
            encoder.grow(corpus.sentences, grams, of_types)
    return ShardContent(tuple(sorted(names)), _counted(grams), _counted(of_types))


def _counted(index: FeatureIndex) -> tuple[Codes, Counts]:
    return index.codes(), index.counts[: len(index)]


class TrainingShard:
    """The encoded sentences of a shard, in files that are mapped into memory, and the objective over them."""

    def __init__(self, task: TrainingShardTask) -> None:
        assert task.space is not None and task.features is not None  # noqa: S101 - known when a group is made
        self._task, self._recipe, self._space = task, task.recipe, task.space
        index = FeatureIndex.of_codes(load_file(task.features.local())["codes"])
        self._encoder = task.recipe.encoder(task.lookups, index)
        self._scheme, self._sets = scheme_of(task.recipe, task.space), LabelSets(task.space, task.recipe.soft_labels)
        reader = ShardReader(task.recipe.task)
        self._blocks = [self._mapped(reader, block) for block in task.shard.blocks]
        self._objective: tuple[Aspect, BlockObjective] | None = None

    def size(self, arrays: Arrays) -> Reply:
        """Return the `ProblemSize`."""
        allow = [block.evidence.sets for block in self._blocks]
        sizes = (
            sum(map(len, self._blocks)),
            sum(map(len, allow)),
            sum(int(np.count_nonzero(each)) for each in allow),
            sum(count_known(self._sets, each) for each in allow),
        )
        return {}, ProblemSize(*sizes)

    def observed(self, arrays: Arrays) -> Reply:
        """Return the layout of the pairs of features and labels that the evidence observes."""
        masks, windows = self._sets.projected(self._space.views[0]), self._encoder.windows
        layout = Layout.union([Layout.observed(block, windows, masks) for block in self._blocks])
        return {"ptr": layout.ptr, "cell": layout.cell}, None

    def parts(self, arrays: Arrays, aspect: Aspect) -> Reply:
        with one_blas_thread():
            parts = self._over(aspect).parts(np.array(arrays["weights"]), self._task.shard.first)
        gradients = {str(part.first): part.gradient for part in parts}
        return gradients, [(part.first, part.leaves, part.loss) for part in parts]

    def start(self, arrays: Arrays, aspect: Aspect, trainer: Trainer) -> Reply:
        state = trainer.start(self._over(aspect), np.array(arrays["weights"]))
        return state.arrays, state.numbers

    def epoch(
        self, arrays: Arrays, aspect: Aspect, trainer: Trainer, numbers: dict[str, float], iteration: int
    ) -> Reply:
        state = TrainerState(writable(arrays), dict(numbers), iteration)  # shards of one process are given one dict
        with one_blas_thread():
            trainer.step(self._over(aspect), state)
        return state.arrays, (state.numbers, state.loss, state.converged)

    def _over(self, aspect: Aspect) -> BlockObjective:
        """Make the objective; the last one is kept."""
        if self._objective is None or self._objective[0] != aspect:
            recipe, rows = self._recipe, self._sets.rows
            parameters = parameters_of(self._space, recipe, self._encoder, aspect)
            objective = BlockObjective(
                lambda b: ChainObjective(parameters, self._blocks[b].under(rows), recipe.threads, recipe.dtype),
                [len(block) for block in self._blocks],
                parameters.size,
                recipe.dtype,
                recipe.threads,
            )
            self._objective = aspect, objective
        return self._objective[1]

    def _mapped(self, reader: ShardReader, block: Block) -> Encoded:
        """Encode the sentences of a block that have evidence, in a file that is gone from its folder and lasts as long
        as this process."""
        parts = [self._encoder.encode(())]
        for corpus in reader.slices(block):
            encoded = self._encoder.encode(corpus.sentences, self._recipe.threads)
            encoded = with_evidence(encoded, [corpus], self._sets, self._scheme)
            check_evidence(corpus.sentences, encoded, self._sets, self._scheme, self._recipe)
            parts.append(encoded.take(np.flatnonzero(encoded.evidence.informative())))
        joined = Encoded.joined(parts)
        handle, name = tempfile.mkstemp(dir=private_folder("blocks"))
        os.close(handle)
        try:
            # writable, since kernels are compiled for such arrays; nobody writes
            arrays: dict[str, Any] = MappedArrays.write(Path(name), joined.arrays()).read("r+")
        finally:
            with suppress(PermissionError):  # Windows keeps a file that is mapped
                Path(name).unlink()
        return joined.with_arrays(arrays)


def parameters_of(space: LabelSpace, recipe: Recipe, encoder: TemplateEncoder, aspect: Aspect) -> ChainParameters:
    """Return the parameters of a plain label space."""
    if aspect.layout is None:
        layout = Layout.dense(encoder.windows, len(space))
    else:
        layout = Layout(**load_file(aspect.layout.local()))
    parameters = ChainParameters(space, (layout,), scheme_of(recipe, space), recipe.transitions, recipe.edges)
    return replace(parameters, transitions=False, edges=False) if aspect.pointwise else parameters
