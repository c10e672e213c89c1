"""Training data made ready on workers: the counterpart of `Problem` whose sentences are in shards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from tagweave.cluster.executor import Executor, Failure
from tagweave.cluster.group import Group
from tagweave.cluster.shared_file import SharedFile, private_folder
from tagweave.corpus.errors import CorpusError
from tagweave.features.index import FeatureIndex
from tagweave.features.lookups import Lookups
from tagweave.labels.space import LabelSpace
from tagweave.learning.mixing import Mixing
from tagweave.learning.run import Run
from tagweave.learning.sharded import ShardedObjective
from tagweave.learning.trainer import Trainer
from tagweave.models.chain import ChainModel
from tagweave.models.layout import Layout
from tagweave.training.fit import empty_model, no_evidence
from tagweave.training.problem import pointwise_model, starts_pointwise
from tagweave.training.recipe import Recipe, in_batches
from tagweave.training.shard import CorpusPart, shards_of
from tagweave.training.summary import size_lines
from tagweave.training.training_shard import (
    Aspect,
    ShardContent,
    ShardSize,
    ShardTask,
    TrainingShard,
    content_of,
    parameters_of,
)

_LEAF = 1 << 19
"""Most characters of a block for batch learners, on average; a larger one saves time, a smaller one memory."""
_LEAVES = 4  # fewest blocks for batch learners: up to as many workers compute the same sums, bit for bit
_LONG = 1 << 20
"""Most characters of a block for online learners, which shuffle within a block."""


@dataclass(frozen=True)
class ShardedProblem:
    """Training data made ready on workers.

    Attributes:
        model: the model with its initial weights.
        objective: the loss on the training data.
        size: the size of all shards together.
    """

    model: ChainModel
    objective: ShardedObjective
    size: ShardSize

    @property
    def starts_pointwise(self) -> bool:
        """See `Problem.starts_pointwise`."""
        return starts_pointwise(self.model, self.size.known, self.size.tokens)

    def pointwise(self) -> ShardedProblem:
        """See `Problem.pointwise`."""
        objective = replace(self.objective, aspect=self.objective.aspect._replace(pointwise=True))
        return replace(self, model=pointwise_model(self.model), objective=objective)

    def with_weights(self, weights: NDArray[Any]) -> ShardedProblem:
        """See `Problem.with_weights`."""
        return replace(self, model=replace(self.model, weights=weights))

    def trainer(self, recipe: Recipe) -> Trainer:
        """See `Problem.trainer`: learners in batches are mixed."""
        trainer = recipe.trainer()
        return Mixing(trainer, self.objective) if in_batches(recipe.learner) else trainer

    def summary(self, recipe: Recipe) -> list[str]:
        """See `Problem.summary`."""
        size = self.size
        how = "whose weights are mixed after every iteration" if in_batches(recipe.learner) else "whose sums are added"
        return [
            *size_lines(self.model, size.sentences, size.tokens, size.evidence),
            f"{len(self.objective.group):,} shards, each on a worker, {how}",
        ]


@contextmanager
def sharded_problem(
    files: Sequence[CorpusPart], recipe: Recipe, lookups: Lookups, executor: Executor, workers: int, run: Run
) -> Iterator[ShardedProblem]:
    """The problem of corpora of one guideline, on workers until the end of the block.

    Args:
        files: whole corpora.
        recipe: how to fit.
        lookups: what templates look up.
        executor: runs the workers.
        workers: how many shards there are; fewer if the corpora have too few sentences.
        run: may cancel it.

    Raises:
        CorpusError: no label, no evidence, or contradictory evidence.
        OSError: a corpus that a worker cannot read.
    """
    shards = shards_of(files, block_count(files, recipe, workers), workers)
    tasks = [ShardTask(shard, recipe, lookups) for shard in shards]
    contents = _contents(executor, tasks)
    path = files[0].outline.corpus.path
    space = _space(contents, files[0].outline.corpus.guideline, recipe, path)
    codes = _codes(contents, recipe.minimum_count)
    encoder = recipe.encoder(lookups, FeatureIndex.of_codes(codes))
    with tempfile.TemporaryDirectory(dir=private_folder("features"), ignore_cleanup_errors=True) as folder:
        features = _shared(executor, Path(folder) / "features", {"codes": codes})
        made = [replace(task, space=space, features=features) for task in tasks]
        with executor.hold(TrainingShard, made) as group:
            size = ShardSize(*np.sum([reply for _, reply in group.call("size", {})], axis=0).tolist())
            if not size.evidence:
                raise no_evidence(space, path)
            layout = None if recipe.dense(len(space)) else _observed(executor, group, Path(folder) / "layout")
            aspect = Aspect(layout)
            model = empty_model(parameters_of(space, recipe, encoder, aspect), encoder, recipe)
            waiting = run.stop_if_cancelled
            objective = ShardedObjective(group, aspect, len(model.weights), recipe.dtype, size.sentences, waiting)
            yield ShardedProblem(model, objective, size)


def block_count(files: Sequence[CorpusPart], recipe: Recipe, workers: int) -> int:
    """How many blocks corpora are cut into.

    For batch learners a power of two that does not depend on the workers, since sums are formed by blocks; for online
    learners a multiple of the workers.
    """
    characters = sum(part.outline.characters for part in files)
    if in_batches(recipe.learner):
        return int(workers * -(-characters // (workers * _LONG)))
    count = _LEAVES
    while count * _LEAF < characters:
        count *= 2
    return count


def _contents(executor: Executor, tasks: Sequence[ShardTask]) -> list[ShardContent]:
    """The contents of shards, in their order."""
    contents: dict[int, ShardContent] = {}
    for task, content in executor.outcomes(content_of, tasks):
        if isinstance(content, Failure):
            raise content.error
        contents[task.shard.first] = content
    return [contents[task.shard.first] for task in tasks]


def _space(contents: Sequence[ShardContent], guideline: str, recipe: Recipe, path: str) -> LabelSpace:
    names = sorted({name for content in contents for name in content.names})
    if not names:
        raise CorpusError(f"no label in layer {guideline!r}", "an annotated training corpus", path)
    return LabelSpace.plain(guideline, recipe.task.labels(names))


def _codes(contents: Sequence[ShardContent], minimum_count: int) -> NDArray[np.uint64]:
    """The codes of all features, numbered as one encoder over all shards would."""
    index = FeatureIndex()
    for content in contents:
        index.add(*content.grams)
    for content in contents:
        index.add(*content.of_types)
    index.freeze(minimum_count)
    return index.codes()


def _observed(executor: Executor, group: Group, path: Path) -> SharedFile:
    """A file with the union of the layouts of all shards."""
    layouts = [Layout(arrays["ptr"], arrays["cell"]) for arrays, _ in group.call("observed", {})]
    layout = Layout.union(layouts)
    return _shared(executor, path, {"ptr": layout.ptr, "cell": layout.cell})


def _shared(executor: Executor, path: Path, arrays: dict[str, NDArray[Any]]) -> SharedFile:
    save_file(arrays, path)
    return executor.share(SharedFile.of(str(path)))
