"""Decides on the method of a job: by default, or by a race of methods on a part of the corpora.

Which method is best differs by corpora, and so does whether sources help at all. Models of a part of the corpora, after
few iterations, come in the same order as on all of them, or nearly (docs/results/race.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from tagweave.corpus.corpus import Corpus
from tagweave.errors import TagweaveError
from tagweave.labels import SPANS
from tagweave.learning.run import Run
from tagweave.structures import CHAIN, STRUCTURES, TREE
from tagweave.training.corpora import LoadedSource
from tagweave.training.fit.problem import Fitted
from tagweave.training.job import Job
from tagweave.training.methods import AUTO, COUPLED, METHODS, RACED, SINGLE, STACKED, TRANSFORM, pipeline, usual
from tagweave.training.methods.single import SingleOptions

_ENTRANTS = {CHAIN: (SINGLE, STACKED, COUPLED), TREE: (SINGLE, STACKED, TRANSFORM)}
"""The methods that race, the one that gains the most from all of the sources last. Of chains, `transform` took as long
as all others, and was at most 0.2 points better on dev (docs/results/race.md)."""
_ENTRANTS_FOR_TAGGED_WORDS = (SINGLE, STACKED, "pipeline")
"""Those of the task segtag: all pairs of tagged letters of two guidelines take gigabytes, so no coupled model races."""
_ITERATIONS = 3
_TARGET_TOKENS, _SOURCE_TOKENS, _DEV_TOKENS = 15_000, 40_000, 30_000  # of a race
_HELD_OUT = 5  # without development data, every fifth sentence of TRAIN
_SHARE = 0.3  # of limited time


def default_method(task: str, targets: Sequence[Corpus], guidelines: int, can_race: bool = True) -> str:
    """Return the default method for corpora of so many guidelines.

    Methods race for several, or for words with tags, unless TRAIN is too small, or the user has chosen options or
    samples.
    """
    can_race = can_race and sum(map(len, targets)) >= RACED
    if guidelines == 1:
        return AUTO if can_race and task == pipeline.JOINT else SINGLE
    return AUTO if can_race else usual(STRUCTURES[task])


def by_default(job: Job) -> Job:
    """Return the job with the default method for its task; if it has this method, its options stay."""
    can_race = all(source.sample is None for source in job.plan.corpora)
    name = default_method(job.plan.task, job.data.targets, len(job.data.guidelines), can_race)
    return job if job.method.name == name else job.with_method(METHODS[name])


def decided(job: Job) -> Job:
    """Return the job, with the winner of a race if its method is `auto`.

    Development data of another guideline cannot judge a race, and the steps of an entrant do not race themselves.

    Raises:
        TagweaveError: no method can train on the corpora.
    """
    if job.method.name != AUTO:
        return job
    if job.is_trial or (job.dev is not None and job.dev.guideline != job.data.target):
        return job.with_method(METHODS[usual(job.recipe.structure)])
    entrants = list(_entrants(job))
    if len(entrants) == 1:
        return job.with_method(METHODS[entrants[0]])
    without_race = SINGLE if len(job.data.guidelines) == 1 else usual(job.recipe.structure)
    return job.run.if_time(
        "the race of methods",
        lambda run: _winner(job, entrants, run),
        job.with_method(METHODS[without_race]),
        _SHARE,
    )


def _winner(job: Job, entrants: Sequence[str], run: Run) -> Job:
    """Return the job with the method that wins the race."""
    tell = job.run.tell
    small = _small(replace(job.of_features(), run=run))
    scores: dict[str, float] = {}
    error: TagweaveError | None = None
    groups = [corpora for corpora in (small.data.targets, small.data.sources) if corpora]
    tokens = [f"{sum(corpus.tokens() for corpus in corpora):,}" for corpora in groups]
    judge = "the development data" if job.dev else "sentences of TRAIN that are held out"
    texts = f"{' and '.join(tokens)} tokens of {' and '.join(small.data.guidelines)}"
    tell(f"methods race on {texts}, judged by {judge}{', without the network' if job.plan.folder else ''}")
    for name in entrants:
        begin = job.run.clock()
        try:
            fitted = _fitted(_entrant(small, name))
        except TagweaveError as refusal:
            error = refusal
            tell(f"{name}: {refusal}")
        else:
            scores[name] = fitted.outcome.score or 0.0
            small = _with_model(small, name, fitted)
            tell(f"{name}: {scores[name]:.4f} (after {job.run.clock() - begin:.0f} s)")
    if not scores:
        assert error is not None  # noqa: S101 - somebody raced
        raise error
    best = _best(scores, small)
    tell(f"method {best} (`method` would name another)")
    return replace(job.with_method(METHODS[best]), race=scores)


def _best(scores: Mapping[str, float], small: Job) -> str:
    """Return the last entrant within the standard error of the best score.

    A race shows the methods a part of the sources only, and the last one gains the most from all of them. What it makes
    of these is compared with a plain model.
    """
    best = max(scores.values())
    error = sqrt(best * (1 - best) / max(1, _judged_count(small)))
    return [name for name, score in scores.items() if score >= best - error][-1]


def _judged_count(small: Job) -> int:
    """Return how many tokens or spans judge the race."""
    assert small.dev is not None  # noqa: S101 - held out at least
    dev = small.recipe.task.prepare(small.dev)
    if small.plan.task != SPANS:
        return dev.tokens()
    layers = (sentence.layers.get(dev.guideline, ()) for sentence in dev)
    return sum(label is not None and label[0][0] in "BS" for layer in layers for label in layer)


def _entrants(job: Job) -> Iterator[str]:
    """Yield the methods that suit the structure, the task and the number of guidelines of a job."""
    count = len(job.data.guidelines)
    for name in _ENTRANTS_FOR_TAGGED_WORDS if job.plan.task == pipeline.JOINT else _ENTRANTS[job.recipe.structure]:
        method = METHODS[name]
        suits_count = not (count == 1 and method.several) and (count == 2 or not method.of_two)
        if suits_count and (name != "pipeline" or pipeline.suits(job)):
            yield name


def _entrant(small: Job, name: str) -> Job:
    """Return the job of a method. A plain model is not corrected: a race compares methods of the same labels."""
    entrant = small.with_method(METHODS[name])
    if not isinstance(entrant.plan.options, SingleOptions):
        return entrant
    return replace(entrant, plan=replace(entrant.plan, options=SingleOptions(span_confidence=1.0)))


def _with_model(small: Job, name: str, fitted: Fitted) -> Job:
    """Return the job with a model that later entrants need as well."""
    if name == SINGLE:
        return replace(small, plain=fitted)
    return replace(small, guided=fitted) if name == STACKED else small


def _fitted(job: Job) -> Fitted:
    job.method.check(job)
    fitted = job.method.fit(job)
    fitted.outcome.check_finished()
    return fitted


def _small(job: Job) -> Job:
    """Return the job with a part of its corpora and few iterations."""
    data, dev, files = job.data, job.dev, job.data.files
    if dev is None:
        held_out = (sentence for corpus in data.targets for sentence in corpus.sentences[::_HELD_OUT])
        dev = data.targets[0].with_sentences(held_out)
        files = tuple(_without_held_out(file) if file.guideline == data.target else file for file in files)
    target_share = _TARGET_TOKENS / max(1, sum(corpus.tokens() for corpus in data.targets))
    source_share = _SOURCE_TOKENS / max(1, sum(corpus.tokens() for corpus in data.sources))
    parts = [
        replace(file, corpus=file.corpus.part(target_share if file.guideline == data.target else source_share))
        for file in files
    ]
    dev = dev.part(_DEV_TOKENS / max(1, dev.tokens()))
    schedule = replace(job.run.schedule, iterations=_ITERATIONS, patience=_ITERATIONS)
    data = replace(data, files=tuple(parts))
    plan = replace(job.plan, average_seeds=1)
    return replace(job, plan=plan, data=data, dev=dev, run=job.run.aside(schedule), is_trial=True)


def _without_held_out(file: LoadedSource) -> LoadedSource:
    """Return a file without the sentences that judge a race."""
    sentences = (sentence for at, sentence in enumerate(file.corpus) if at % _HELD_OUT)
    return replace(file, corpus=file.corpus.with_sentences(sentences))
