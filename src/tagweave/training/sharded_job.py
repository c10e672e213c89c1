"""Jobs that train a model on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from tagweave.cluster.executor import Executor, executor_at
from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus.chunk_schemes import readable
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import CorpusOutline
from tagweave.corpus.named.name import located
from tagweave.corpus.sentence import Sentence
from tagweave.labels.tasks import SPANS
from tagweave.learning.run import Run
from tagweave.structures.kinds import CHAIN
from tagweave.training.chain_job import ChainJob
from tagweave.training.corpora import CorpusFile, names_own_layer, read_corpus, read_outline
from tagweave.training.entity_ratio import nothing_outside
from tagweave.training.errors import PlanError
from tagweave.training.fit import Fitted, fit_problem
from tagweave.training.inspection import stray_labels
from tagweave.training.job import Job
from tagweave.training.methods import SINGLE
from tagweave.training.methods.single import SingleOptions
from tagweave.training.options import Options
from tagweave.training.plan import TrainingPlan
from tagweave.training.recipe import LEARNERS, Recipe, in_batches
from tagweave.training.resolve import STRUCTURES, Corpora, checked, job_of
from tagweave.training.shard import CorpusPart
from tagweave.training.sharded_problem import sharded_problem

_NOT_MIXED = "sgd"  # its penalty and its rates count the sentences of the whole corpus
_CARRIED = 1 << 28  # bytes of a corpus from which it has to be at the same path on all machines


@dataclass(frozen=True)
class ShardedJob(ChainJob):
    """Training of a tagger or a segmenter whose sentences stay on workers; the corpora of its data are empty.

    Attributes:
        executor: runs the workers.
        workers: how many there are.
        parts: the whole corpora, as plain data.
    """

    executor: Executor = field(kw_only=True)
    workers: int = field(kw_only=True)
    parts: tuple[CorpusPart, ...] = field(kw_only=True)

    def fit(self, corpora: Sequence[Corpus], recipe: Recipe | None = None) -> Fitted:
        """See `Job.fit`; `corpora` are those of the job."""
        recipe = recipe or self.recipe
        lookups = self.lookup_files.lookups
        with sharded_problem(self.parts, recipe, lookups, self.executor, self.workers, self.run) as problem:
            return fit_problem(problem, recipe, self.dev, self.run)

    def about(self, fitted: Fitted) -> dict[str, Any]:
        """See `Job.about`; with the number of workers, on which the mixture of their weights depends."""
        return {**super().about(fitted), "workers": self.workers}


@contextmanager
def opened_job(
    plan: TrainingPlan,
    run: Run,
    cluster: str | None = None,
    workers: int | None = None,
    corpora: Corpora | None = None,
) -> Iterator[Job[Any]]:
    """The job of a plan, on this process or on the workers of a cluster until the end of the block.

    Workers hold the sentences of a plan of one guideline; of a method with folds, they train the models of the folds.

    Args:
        plan: what to train.
        run: the run.
        cluster: the address of the cluster (`cluster.executor_at`); `None`: this process.
        workers: how many workers; by default as many as there are processors for.
        corpora: the corpora of the plan, if this process trains and has read them already.

    Raises:
        PlanError, CorpusError, OSError: as `job_of`; a plan that workers cannot carry out.
        ClusterError: the cluster cannot be reached.
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
    if isinstance(plan.options, SingleOptions) and (found := _of_all_sentences(plan.options)):
        raise PlanError(f"found {found}, expected it without `cluster`, or with `incomplete=folds`")
    if any(each.sample is not None for each in plan.corpora):
        raise PlanError("found `sample`, expected all sentences with `cluster`")
    if plan.learner == _NOT_MIXED:
        others = ", ".join(name for name in LEARNERS if name != _NOT_MIXED)
        raise PlanError(f"found the learner {plan.learner}, expected one of {others} with `cluster`")


def _of_all_sentences(options: SingleOptions) -> str:
    """The first option that takes all sentences to one place, as the command writes it; "" if there is none."""
    usual = SingleOptions()
    changed = (each.name for each in fields(usual) if getattr(options, each.name) != getattr(usual, each.name))
    return next((f"`{name}`" for name in changed), "")


def _sharded_job(plan: TrainingPlan, run: Run, executor: Executor, workers: int) -> ShardedJob:
    read = [read_outline(each.argument, plan.task, each.format, each.weight) for each in plan.corpora]
    files, dev = [file for file, _ in read], plan.dev
    dev_file = read_corpus(dev.argument, plan.task, dev.format) if dev else None
    job = job_of(plan, run, Corpora(files, dev_file))
    sizes = [outline.sentences for _, outline in read]
    target = tuple(replace(each, size=size) for each, size in zip(job.plan.target, sizes, strict=True))
    schedule = job.run.schedule
    if in_batches(plan.learner):  # batch learners may go on with another number of workers
        schedule = replace(schedule, identity=f"{schedule.identity} {workers} workers")
    values = {each.name: getattr(job, each.name) for each in fields(Job)}
    values |= {"plan": replace(job.plan, target=target), "run": replace(job.run, schedule=schedule)}
    parts = [_whole(file, outline, executor) for file, outline in read]
    if plan.task == SPANS:
        parts = _with_schemes(parts, job.run)
    return ShardedJob(**values, executor=executor, workers=workers, parts=tuple(parts))


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
    """The whole of a corpus file, which travels to the machines that lack it unless it is large."""
    path, corpus = file.corpus.path, replace(outline.corpus, weight=file.corpus.weight)
    shared = SharedFile.of(located(path))
    shared = executor.share(shared) if Path(located(path)).stat().st_size < _CARRIED else shared
    outline = outline._replace(corpus=corpus)
    return CorpusPart(shared, outline, 0, outline.sentences, names_own_layer(file.argument, corpus))
