"""The worker's side of a training on shards: what its sentences contain, and the objective over them."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from tagweave.cluster.group import Arrays, Reply
from tagweave.cluster.mapped_arrays import MappedArrays
from tagweave.cluster.shared_file import SharedFile, private_folder
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.index import FeatureIndex
from tagweave.features.lookups import Lookups
from tagweave.kernels.blas import one_blas_thread
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, collect_names
from tagweave.learning.blocks import BlockObjective
from tagweave.learning.sharded import writable
from tagweave.learning.trainer import State, Trainer
from tagweave.models.layout import Layout
from tagweave.models.objective import ChainObjective
from tagweave.models.parameters import ChainParameters
from tagweave.training.fit import check_evidence, scheme_of, with_evidence
from tagweave.training.problem import count_known
from tagweave.training.recipe import Recipe
from tagweave.training.shard import Block, Shard, ShardReader

Codes = NDArray[np.uint64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class ShardContent:
    """What a shard contains, of which the driver makes the label space and the feature index.

    Attributes:
        names: its labels.
        grams, of_types: the codes of its features in order of first occurrence (`TemplateEncoder.grow`), with counts.
    """

    names: tuple[str, ...]
    grams: tuple[Codes, Counts]
    of_types: tuple[Codes, Counts]


@dataclass(frozen=True)
class ShardTask:
    """What a worker needs to know of a training.

    Attributes:
        shard: its sentences.
        recipe: how to fit.
        lookups: what templates look up.
        space: the labels; `None` while they are unknown.
        features: a file with the codes of all features, `codes`; `None` while they are unknown.
    """

    shard: Shard
    recipe: Recipe
    lookups: Lookups
    space: LabelSpace | None = None
    features: SharedFile | None = None


class Aspect(NamedTuple):
    """Which objective over the sentences is meant.

    Attributes:
        layout: a file with the layout of weights, `ptr` and `cell`; `None`: dense.
        pointwise: whether labels do not depend on their neighbours.
    """

    layout: SharedFile | None = None
    pointwise: bool = False


class ShardSize(NamedTuple):
    """The size of a shard.

    Attributes:
        sentences, tokens: those of sentences with evidence.
        evidence, known: tokens with evidence, and those of `count_known`.
    """

    sentences: int
    tokens: int
    evidence: int
    known: int


def content_of(task: ShardTask) -> ShardContent:
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
    """The encoded sentences of a shard, in files that are mapped into memory, and the objective over them: a `Shard` of
    `ShardedObjective`.

    Args:
        task: the shard, with the label space and the features of the whole training.

    Raises:
        CorpusError, OSError: as `content_of`; contradictory evidence.
    """

    def __init__(self, task: ShardTask) -> None:
        assert task.space is not None and task.features is not None  # noqa: S101 - known when a group is made
        self._task, self._recipe, self._space = task, task.recipe, task.space
        index = FeatureIndex.of_codes(load_file(task.features.local())["codes"])
        self._encoder = task.recipe.encoder(task.lookups, index)
        self._scheme, self._sets = scheme_of(task.recipe, task.space), LabelSets(task.space, task.recipe.soft_labels)
        reader = ShardReader(task.recipe.task)
        self._blocks = [_mapped(self._encoded(reader, block)) for block in task.shard.blocks]
        self._objective: tuple[Aspect, BlockObjective] | None = None

    def size(self, arrays: Arrays) -> Reply:
        """The `ShardSize`."""
        allow = [block.allow for block in self._blocks]
        sizes = (
            sum(map(len, self._blocks)),
            sum(map(len, allow)),
            sum(int(np.count_nonzero(each)) for each in allow),
            sum(count_known(self._sets, each) for each in allow),
        )
        return {}, ShardSize(*sizes)

    def observed(self, arrays: Arrays) -> Reply:
        """The layout of the pairs of features and labels that the evidence observes."""
        masks, windows = self._sets.projected(self._space.views[0]), self._encoder.windows
        layout = Layout.union([Layout.observed(block, windows, masks) for block in self._blocks])
        return {"ptr": layout.ptr, "cell": layout.cell}, None

    def parts(self, arrays: Arrays, aspect: Aspect) -> Reply:
        """See `learning.sharded.Shard`."""
        with one_blas_thread():
            parts = self._over(aspect).parts(np.array(arrays["weights"]), self._task.shard.first)
        gradients = {str(part.first): part.gradient for part in parts}
        return gradients, [(part.first, part.leaves, part.loss) for part in parts]

    def start(self, arrays: Arrays, aspect: Aspect, trainer: Trainer) -> Reply:
        """See `learning.sharded.Shard`."""
        state = trainer.start(self._over(aspect), np.array(arrays["weights"]))
        return state.arrays, state.numbers

    def epoch(
        self, arrays: Arrays, aspect: Aspect, trainer: Trainer, numbers: dict[str, float], iteration: int
    ) -> Reply:
        """See `learning.sharded.Shard`."""
        state = State(writable(arrays), dict(numbers), iteration)  # shards of one process are given one dict
        with one_blas_thread():
            trainer.step(self._over(aspect), state)
        return state.arrays, (state.numbers, state.loss, state.converged)

    def _over(self, aspect: Aspect) -> BlockObjective:
        """The objective; the last one is kept."""
        if self._objective is None or self._objective[0] != aspect:
            self._objective = aspect, self._block_objective(aspect)
        return self._objective[1]

    def _block_objective(self, aspect: Aspect) -> BlockObjective:
        recipe, masks = self._recipe, self._sets.masks
        posteriors, log_scales = self._sets.posteriors, self._sets.log_scales
        parameters = parameters_of(self._space, recipe, self._encoder, aspect)
        return BlockObjective(
            lambda b: ChainObjective(
                parameters,
                self._blocks[b],
                masks,
                recipe.threads,
                recipe.dtype,
                posteriors=posteriors,
                log_scales=log_scales,
            ),
            [len(block) for block in self._blocks],
            parameters.size,
            recipe.dtype,
            recipe.threads,
        )

    def _encoded(self, reader: ShardReader, block: Block) -> Encoded:
        """The sentences of a block that have evidence."""
        parts = [self._encoder.encode(())]
        for corpus in reader.slices(block):
            encoded = self._encoder.encode(corpus.sentences, self._recipe.threads)
            encoded = with_evidence(encoded, [corpus], self._sets, self._scheme)
            check_evidence(corpus.sentences, encoded, self._sets, self._scheme, self._recipe)
            parts.append(encoded.take(np.flatnonzero(encoded.informative())))
        return Encoded.joined(parts)


def parameters_of(space: LabelSpace, recipe: Recipe, encoder: TemplateEncoder, aspect: Aspect) -> ChainParameters:
    """The parameters of a plain label space."""
    if aspect.layout is None:
        layout = Layout.dense(encoder.windows, len(space))
    else:
        layout = Layout(**load_file(aspect.layout.local()))
    parameters = ChainParameters(space, (layout,), scheme_of(recipe, space), recipe.transitions, recipe.edges)
    return replace(parameters, transitions=False, edges=False) if aspect.pointwise else parameters


def _mapped(encoded: Encoded) -> Encoded:
    """The same sentences, in a file that is gone from its folder and lasts as long as this process."""
    handle, name = tempfile.mkstemp(dir=private_folder("blocks"))
    os.close(handle)
    try:
        # writable, since kernels are compiled for such arrays; nobody writes
        arrays: dict[str, Any] = MappedArrays.write(Path(name), encoded.arrays()).read("r+")
    finally:
        with suppress(PermissionError):  # Windows keeps a file that is mapped
            Path(name).unlink()
    return replace(encoded, **arrays)
