"""Jobs whose training sentences are on the workers of a cluster: which plans they can carry out, and their problem."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from tagweave.cluster.executor import Executor, executor_at, results
from tagweave.cluster.shared_file import SharedFile, private_folder
from tagweave.corpus.chunk_schemes import readable
from tagweave.corpus.load import CorpusOutline
from tagweave.corpus.named.name import located
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.features.encoder import FeatureIndex
from tagweave.features.lookups import Lookups
from tagweave.labels import SPANS
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.learning.run import Run
from tagweave.models.layout import Layout
from tagweave.structures import CHAIN, STRUCTURES
from tagweave.training.chain_problem import Aspect, ChainProblem, ProblemSize, ShardedChainObjective, empty_model
from tagweave.training.consistency import no_evidence
from tagweave.training.corpora import CorpusFile, names_own_layer, read_corpus, read_outline
from tagweave.training.entity_ratio import nothing_outside
from tagweave.training.inspection import stray_labels
from tagweave.training.job import Job
from tagweave.training.methods import SINGLE
from tagweave.training.methods.single import SingleOptions
from tagweave.training.options import Options
from tagweave.training.plan import TrainingPlan
from tagweave.training.recipe import LEARNERS, Recipe, in_batches
from tagweave.training.resolve import Corpora, checked, job_of
from tagweave.training.shard import (
    CorpusPart,
    TrainingShard,
    TrainingShardTask,
    content_of,
    parameters_of,
    shards_of,
)

_LEAF = 1 << 19
"""Most characters of a block for batch learners, on average; a larger one saves time, a smaller one memory."""
_LEAVES = 4  # fewest blocks for batch learners: up to as many workers compute the same sums, bit for bit
_LONG = 1 << 20
"""Most characters of a block for online learners, which shuffle within a block."""


@contextmanager
def sharded_problem(
    files: Sequence[CorpusPart], recipe: Recipe, lookups: Lookups, executor: Executor, workers: int, run: Run
) -> Iterator[ChainProblem]:
    """Open the problem of corpora of one guideline, on workers until the end of the block.

    `files` are whole corpora; there are fewer shards than `workers` if the corpora have too few sentences.
    """
    shards, first = shards_of(files, block_count(files, recipe, workers), workers), files[0].outline.corpus
    tasks = [TrainingShardTask(shard, recipe, lookups) for shard in shards]
    found = {task.shard.first: content for task, content in results(executor, content_of, tasks)}
    contents = [found[task.shard.first] for task in tasks]
    names = sorted({name for content in contents for name in content.names})
    if not names:
        raise CorpusError(f"no label in layer {first.guideline!r}", "an annotated training corpus", first.path)
    space, index = LabelSpace.plain(first.guideline, recipe.task.labels(names)), FeatureIndex()
    for grams in (*(content.grams for content in contents), *(content.of_types for content in contents)):
        index.add(*grams)  # numbered as one encoder over all shards would
    index.freeze(recipe.minimum_count)
    codes = index.codes()
    encoder = recipe.encoder(lookups, FeatureIndex.of_codes(codes))
    with tempfile.TemporaryDirectory(dir=private_folder("features"), ignore_cleanup_errors=True) as folder:

        def shared(name: str, arrays: dict[str, NDArray[Any]]) -> SharedFile:
            save_file(arrays, Path(folder) / name)
            return executor.share(SharedFile.of(str(Path(folder) / name)))

        features = shared("features", {"codes": codes})
        made = [replace(task, space=space, features=features) for task in tasks]
        with executor.hold(TrainingShard, made) as group:
            size = ProblemSize(*np.sum([reply for _, reply in group.call("size", {})], axis=0).tolist())
            if not size.evidence:
                raise no_evidence(space, first.path)
            aspect = Aspect()
            if not recipe.dense(len(space)):
                layouts = [Layout(arrays["ptr"], arrays["cell"]) for arrays, _ in group.call("observed", {})]
                layout = Layout.union(layouts)
                aspect = Aspect(shared("layout", {"ptr": layout.ptr, "cell": layout.cell}))
            model = empty_model(parameters_of(space, recipe, encoder, aspect), encoder, recipe)
            waiting = run.stop_if_cancelled
            objective = ShardedChainObjective(group, aspect, len(model.weights), recipe.dtype, size.sentences, waiting)
            yield ChainProblem(model, objective, LabelSets(space, recipe.soft_labels), size)


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


_NOT_MIXED = "sgd"  # its penalty and its rates count the sentences of the whole corpus
_CARRIED = 1 << 28  # bytes of a corpus from which it has to be at the same path on all machines


@dataclass(frozen=True)
class Shards:
    """Training sentences on workers."""

    executor: Executor
    workers: int
    parts: tuple[CorpusPart, ...]

    def problem(self, recipe: Recipe, lookups: Lookups, run: Run) -> AbstractContextManager[ChainProblem]:
        """Open the problem of all corpora; see `sharded_problem`."""
        return sharded_problem(self.parts, recipe, lookups, self.executor, self.workers, run)


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
    expected = "tag, segment, segtag or spans with `cluster`"
    if STRUCTURES[plan.task] != CHAIN:
        raise PlanError(f"found the task {plan.task}, expected {expected}")
    if plan.method != SINGLE or plan.sources:
        found = "`sources`" if plan.method == SINGLE else f"the method {plan.method}"
        expected = f"corpora of one guideline and the method {SINGLE} with `cluster`, or a method with folds"
        raise PlanError(f"found {found}, expected {expected} (subword, coupled with `prune`)")
    if getattr(plan.options, "incomplete", "marginal") != "marginal":
        raise PlanError(f"found `incomplete={plan.options.incomplete}`, expected marginal with `cluster`")
    if isinstance(plan.options, SingleOptions):
        default = SingleOptions()  # other options take all sentences to one place
        for name in [each.name for each in fields(default)]:
            if getattr(plan.options, name) != getattr(default, name):
                raise PlanError(f"found `{name}`, expected it without `cluster`, or with `incomplete=folds`")
    if any(each.sample is not None for each in plan.corpora):
        raise PlanError("found `sample`, expected all sentences with `cluster`")
    if plan.learner == _NOT_MIXED:
        others = ", ".join(name for name in LEARNERS if name != _NOT_MIXED)
        raise PlanError(f"found the learner {plan.learner}, expected one of {others} with `cluster`")


def _sharded_job(plan: TrainingPlan, run: Run, executor: Executor, workers: int) -> Job:
    read = [read_outline(each.argument, plan.task, each.format, each.weight) for each in plan.corpora]
    files, dev = [file for file, _ in read], plan.dev
    dev_file = read_corpus(dev.argument, plan.task, dev.format) if dev else None
    job = job_of(plan, run, Corpora(files, dev_file))
    sizes = [outline.sentences for _, outline in read]
    target = tuple(replace(each, size=size) for each, size in zip(job.plan.target, sizes, strict=True))
    schedule = job.run.schedule
    if in_batches(plan.learner):  # batch learners may go on with another number of workers
        schedule = replace(schedule, identity=f"{schedule.identity} {workers} workers")
    parts = [_whole(file, outline, executor) for file, outline in read]
    if plan.task == SPANS:
        parts = _with_schemes(parts, job.run)
    shards = Shards(executor, workers, tuple(parts))
    return replace(job, plan=replace(job.plan, target=target), run=replace(job.run, schedule=schedule), shards=shards)


@dataclass(frozen=True)
class _Sentences:
    """The sentences of a whole corpus, read again each time that they are iterated."""

    part: CorpusPart

    def __iter__(self) -> Iterator[Sentence]:
        return self.part.outline.since(self.part.file.local(), 0)


def _with_schemes(parts: Sequence[CorpusPart], run: Run) -> list[CorpusPart]:
    """Return the parts with the schemes of their spans, and tell what `single` and `resolve` tell of whole corpora."""
    whole = [(_Sentences(part), part.outline.corpus) for part in parts]
    notes = [stray_labels(sentences, corpus.guideline, corpus.path) for sentences, corpus in whole]
    for note in (*notes, nothing_outside((sentences, corpus.guideline) for sentences, corpus in whole)):
        if note:
            run.tell(note)
    schemes = [readable(sentences, corpus.guideline) for sentences, corpus in whole]
    return [replace(part, scheme=scheme) for part, scheme in zip(parts, schemes, strict=True)]


def _whole(file: CorpusFile, outline: CorpusOutline, executor: Executor) -> CorpusPart:
    """Return the whole of a corpus file, which travels to the machines that lack it unless it is large."""
    path, corpus = file.corpus.path, replace(outline.corpus, weight=file.corpus.weight)
    shared = SharedFile.of(located(path))
    shared = executor.share(shared) if Path(located(path)).stat().st_size < _CARRIED else shared
    outline = outline._replace(corpus=corpus)
    return CorpusPart(shared, outline, 0, outline.sentences, names_own_layer(file.argument, corpus))
