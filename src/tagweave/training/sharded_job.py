"""Jobs whose training sentences are on the workers of a cluster.

First the worker's side: its files and sentences, as plain data, and the objective over them. Then the
driver's: which plans workers can carry out, and their problem.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from tagweave.cluster.executor import Arrays, Executor, Reply, executor_at, results
from tagweave.cluster.shared_file import MappedArrays, SharedFile, private_folder
from tagweave.corpus.chunk_schemes import Gaps, gaps_in, readable
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import CorpusOutline
from tagweave.corpus.named import located
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import FeatureIndex, TemplateEncoder
from tagweave.labels import SPANS
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, collect_names
from tagweave.learning.run import Run
from tagweave.learning.sharded import PairwiseSum, PartialSum, writable
from tagweave.learning.trainer import Trainer, TrainerState
from tagweave.models.blocks import BlockObjective
from tagweave.models.layout import Layout
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.objective import ChainObjective
from tagweave.structures import CHAIN, STRUCTURES
from tagweave.training.chain_problem import (
    Aspect,
    ChainProblem,
    ProblemSize,
    ShardedChainObjective,
    empty_model,
    scheme_of,
    weighted_sentence,
)
from tagweave.training.consistency import check_evidence, no_evidence, with_evidence
from tagweave.training.corpora import CorpusFile, names_own_layer, read_outline
from tagweave.training.incomplete import leaves_out_spans
from tagweave.training.inspection import stray_labels
from tagweave.training.job import Job
from tagweave.training.methods import SINGLE
from tagweave.training.methods.method import Options
from tagweave.training.plan import TrainingPlan
from tagweave.training.recipe import LEARNERS, Recipe, in_batches
from tagweave.training.resolve import Corpora, checked, job_of, read
from tagweave.training.task import Task

_SLICE = 1 << 16  # characters of sentences that are objects at a time


@dataclass(frozen=True)
class CorpusPart:
    """Sentences first .. last - 1 of a corpus file, which is read each time that they are iterated.

    `scheme`, `gaps`: of the spans of the whole corpus, if any.
    """

    file: SharedFile
    outline: CorpusOutline
    first: int
    last: int
    own_layer: bool = False
    scheme: str | None = None
    gaps: Gaps | None = None

    def __iter__(self) -> Iterator[Sentence]:
        return islice(self.on(), self.last - self.first)

    def on(self) -> Iterator[Sentence]:
        """Yield the sentences of the file from the first on."""
        return self.outline.since(self.file.local(), self.first)


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
        self._open: dict[tuple[SharedFile, int], Iterator[Sentence]] = {}  # of one file, by the next sentence

    def slices(self, block: Block) -> Iterator[Corpus]:
        for part in block:
            sentences = self._open.get((part.file, part.first)) or part.on()
            self._open, corpus = {(part.file, part.last): sentences}, part.outline.corpus
            for some in _in_slices(islice(sentences, part.last - part.first)):
                own = [each.with_layers_of([corpus.guideline]) for each in some] if part.own_layer else some
                prepared = replace(self._task, gaps=part.gaps).prepare(corpus.with_sentences(own), part.scheme)
                yield prepared.map(lambda sentence, by=corpus.weight: weighted_sentence(sentence, by))  # type: ignore[misc]


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


Counts = tuple[NDArray[np.uint64], NDArray[np.int64]]
"""The codes of features, and how often each occurs."""


@dataclass(frozen=True)
class TrainingShardTask:
    """What a worker needs to know of a training."""

    shard: BlockRange
    recipe: Recipe
    space: LabelSpace | None = None  # the labels; `None` while they are unknown
    features: SharedFile | None = None  # a file with the codes of all features, `codes`; `None` while they are unknown


def content_of(task: TrainingShardTask) -> tuple[set[str], Counts, Counts]:
    """Return the labels of a shard, its grams, and its features of word types.

    Raises CorpusError, OSError: as `ShardReader.slices`, `TemplateEncoder.encode`.
    """
    reader, encoder = ShardReader(task.recipe.task), task.recipe.encoder()
    names: set[str] = set()
    grams, of_types = FeatureIndex(), FeatureIndex()
    for block in task.shard.blocks:
        for corpus in reader.slices(block):
            names.update(collect_names(each.layers.get(corpus.guideline, ()) for each in corpus))
            encoder.grow(corpus.sentences, grams, of_types)
    counts = [(index.codes(), index.counts[: len(index)]) for index in (grams, of_types)]
    return names, counts[0], counts[1]


class TrainingShard:
    """The encoded sentences of a shard, in files that are mapped into memory, and the objective over them."""

    def __init__(self, task: TrainingShardTask) -> None:
        assert task.space is not None and task.features is not None  # noqa: S101 - known when a group is made
        self._task, self._recipe, self._space = task, task.recipe, task.space
        index = FeatureIndex.of_codes(load_file(task.features.local())["codes"])
        self._encoder = task.recipe.encoder(index)
        self._scheme, self._sets = scheme_of(task.recipe, task.space), LabelSets(task.space, task.recipe.soft_labels)
        reader = ShardReader(task.recipe.task)
        self._blocks = [self._mapped(reader, block) for block in task.shard.blocks]
        self._objective: tuple[Aspect, BlockObjective] | None = None

    def size(self, arrays: Arrays) -> Reply:
        return {}, [ProblemSize.of(block, self._sets) for block in self._blocks]

    def observed(self, arrays: Arrays) -> Reply:
        """Return the layout of the pairs of features and labels that the evidence observes."""
        masks, windows = self._sets.projected(self._space.views[0]), self._encoder.windows
        layout = Layout.union([Layout.observed(block, windows, masks) for block in self._blocks])
        return {"ptr": layout.ptr, "cell": layout.cell}, None

    def parts(self, arrays: Arrays, aspect: Aspect) -> Reply:
        total = PairwiseSum()
        for leaf, own in enumerate(self._over(aspect).by_block(np.array(arrays["weights"])), self._task.shard.first):
            total.add(PartialSum(leaf, 1, *own))
        gradients = {str(part.first): part.gradient for part in total.parts}
        return gradients, [(part.first, part.leaves, part.loss) for part in total.parts]

    def start(self, arrays: Arrays, aspect: Aspect, trainer: Trainer) -> Reply:
        state = trainer.start(self._over(aspect), np.array(arrays["weights"]))
        return state.arrays, state.numbers

    def part_of_iteration(
        self,
        arrays: Arrays,
        aspect: Aspect,
        trainer: Trainer,
        numbers: dict[str, float],
        iteration: int,
        part: tuple[int, int],
    ) -> Reply:
        state = TrainerState(writable(arrays), dict(numbers), iteration)  # shards of one process are given one dict
        objective = self._over(aspect)
        objective.part = part
        trainer.step(objective, state)
        return state.arrays, (state.numbers, state.loss, state.converged)

    def _over(self, aspect: Aspect) -> BlockObjective:
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


_LEAF = 1 << 19
"""Most characters of a block for batch learners, on average; a larger one saves time, a smaller one memory."""
_LEAVES = 4  # fewest blocks for batch learners: up to as many workers compute the same sums, bit for bit
_LONG = 1 << 20
"""Most characters of a block for online learners, which shuffle within a block."""


def block_count(files: Sequence[CorpusPart], recipe: Recipe, workers: int) -> int:
    """Return how many blocks corpora are cut into.

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


_CARRIED = 1 << 28  # bytes of a corpus from which it has to be at the same path on all machines


@dataclass(frozen=True)
class Shards:
    """Corpora of one guideline on workers; fewer of these have a shard if there are too few sentences."""

    executor: Executor
    workers: int
    parts: tuple[CorpusPart, ...]  # whole corpora

    @contextmanager
    def problem(self, recipe: Recipe, run: Run) -> Iterator[ChainProblem]:
        """Open the problem of all corpora, on workers until the end of the block."""
        blocks, first = block_count(self.parts, recipe, self.workers), self.parts[0].outline.corpus
        tasks = [TrainingShardTask(shard, recipe) for shard in shards_of(self.parts, blocks, self.workers)]
        names, index = self._content(tasks)
        if not names:
            raise CorpusError(f"no label in layer {first.guideline!r}", "an annotated training corpus", first.path)
        space = LabelSpace.plain(first.guideline, recipe.task.labels(names))
        index.freeze(recipe.minimum_count)
        encoder = recipe.encoder(FeatureIndex.of_codes(index.codes()))
        with tempfile.TemporaryDirectory(dir=private_folder("features"), ignore_cleanup_errors=True) as folder:
            features = self._shared(f"{folder}/features", {"codes": index.codes()})
            made = [replace(task, space=space, features=features) for task in tasks]
            with self.executor.hold(TrainingShard, made) as group:
                sizes = [size for _, of_blocks in group.call("size", {}) for size in of_blocks]
                size, aspect = ProblemSize(*np.sum(sizes, axis=0).tolist()), Aspect()
                if not size.evidence:
                    raise no_evidence(space, first.path)
                if not recipe.dense(len(space)):
                    layout = Layout.union([Layout(**arrays) for arrays, _ in group.call("observed", {})])
                    aspect = Aspect(self._shared(f"{folder}/layout", {"ptr": layout.ptr, "cell": layout.cell}))
                model = empty_model(parameters_of(space, recipe, encoder, aspect), encoder, recipe)
                objective = ShardedChainObjective(
                    group, aspect, len(model.weights), recipe.dtype, size.sentences, run.stop_if_cancelled
                )
                yield ChainProblem(model, objective, LabelSets(space, recipe.soft_labels), size)

    def _content(self, tasks: Sequence[TrainingShardTask]) -> tuple[list[str], FeatureIndex]:
        """Return the labels of all shards, and their features, numbered as one encoder over all shards would."""
        found = sorted(results(self.executor, content_of, tasks), key=lambda pair: pair[0].shard.first)
        names, grams, of_types = zip(*(content for _, content in found), strict=True)
        index = FeatureIndex()
        for counts in (*grams, *of_types):
            index.add(*counts)
        return sorted(set[str]().union(*names)), index

    def _shared(self, path: str, arrays: dict[str, NDArray[Any]]) -> SharedFile:
        save_file(arrays, path)
        return self.executor.share(SharedFile.of(path))


@contextmanager
def opened_job(
    plan: TrainingPlan,
    run: Run,
    cluster: str | None = None,
    workers: int | None = None,
    corpora: Corpora | None = None,
) -> Iterator[Job]:
    """The job of a plan, on this process or on the workers of a cluster until the end of the block.

    Workers hold the sentences of a plan of one guideline; of a method with folds, they train the models of the folds.
    `cluster`: the address of the cluster (`cluster.executor_at`); `None`: this process.
    """
    if cluster is None:
        if workers is not None:
            raise PlanError("found `workers` without `cluster`, expected it with `cluster`")
        yield job_of(plan, run, corpora)
        return
    plan = checked(plan if plan.method else replace(plan, method=SINGLE))
    has_folds = isinstance(plan.options, Options) and plan.options.has_folds
    if not has_folds:
        _check(plan)
    with executor_at(cluster, workers, plan.threads) as executor:
        if has_folds:
            yield job_of(plan, replace(run, executor=executor), corpora)
        else:
            yield _sharded_job(plan, run, executor, workers or executor.workers)


def _check(plan: TrainingPlan) -> None:
    """Raise PlanError unless workers can carry out a plan."""
    if STRUCTURES[plan.task] != CHAIN:
        raise PlanError(f"found the task {plan.task}, expected tag, segment, segtag or spans with `cluster`")
    if plan.folder:
        raise PlanError("found a network, expected `encoder=features` with `cluster`")
    if plan.method != SINGLE or plan.sources:
        found = "`sources`" if plan.method == SINGLE else f"the method {plan.method}"
        expected = f"corpora of one guideline and the method {SINGLE} with `cluster`, or a method with folds"
        raise PlanError(f"found {found}, expected {expected} (subword, coupled with `prune`)")
    for name, value in plan.options.chosen().items():  # they take all sentences to one place
        if name == "incomplete":
            raise PlanError(f"found `incomplete={value}`, expected marginal with `cluster`")
        raise PlanError(f"found `{name}`, expected it without `cluster`, or with `incomplete=folds`")
    if any(each.sample is not None for each in plan.corpora):
        raise PlanError("found `sample`, expected all sentences with `cluster`")
    if not LEARNERS[plan.learner].mixes:
        others = ", ".join(name for name, learner in LEARNERS.items() if learner.mixes)
        raise PlanError(f"found the learner {plan.learner}, expected one of {others} with `cluster`")


def _sharded_job(plan: TrainingPlan, run: Run, executor: Executor, workers: int) -> Job:
    outlines = [read_outline(each, plan.task) for each in plan.corpora]
    job = job_of(plan, run, Corpora([file for file, _ in outlines], read(replace(plan, target=())).dev))
    parts = [_whole(file, outline, executor) for file, outline in outlines]
    target = tuple(replace(each, size=part.last) for each, part in zip(job.plan.target, parts, strict=True))
    schedule = job.run.schedule
    if in_batches(plan.learner):  # batch learners may go on with another number of workers
        schedule = replace(schedule, identity=f"{schedule.identity} {workers} workers")
        if workers > 1:
            run.tell(
                f"{workers} workers average their weights, which may cost some tenths of a point (docs/distributed.md):"
                " `learner=lbfgs` gives the same model for any number of workers"
            )
    if plan.task == SPANS:
        parts = _with_schemes(parts, plan.gaps, job.run)
    shards = Shards(executor, workers, tuple(parts))
    return replace(job, plan=replace(job.plan, target=target), run=replace(job.run, schedule=schedule), shards=shards)


def _with_schemes(parts: Sequence[CorpusPart], gaps: Gaps | None, run: Run) -> list[CorpusPart]:
    """Return the parts with the schemes of their spans, and tell what `single` and `resolve` tell of whole corpora."""
    whole = [(part, part.outline.corpus.guideline) for part in parts]
    for part, name in whole:
        if note := stray_labels(part, name, part.outline.corpus.path):
            run.tell(note)
    if leaves_out_spans(whole):
        found = "spans, and no token beside them that is known to be outside spans, with `cluster`"
        raise PlanError(f"found {found}, expected some: workers cannot keep to a share of tokens inside spans")
    return [replace(part, scheme=readable(part, name), gaps=gaps or gaps_in(part, name)) for part, name in whole]


def _whole(file: CorpusFile, outline: CorpusOutline, executor: Executor) -> CorpusPart:
    """Return the whole of a corpus file, which travels to the machines that lack it unless it is large."""
    path = located(file.corpus.path)
    shared = SharedFile.of(path)
    shared = executor.share(shared) if Path(path).stat().st_size < _CARRIED else shared
    return CorpusPart(shared, outline, 0, outline.sentences, names_own_layer(file.argument, file.corpus))
