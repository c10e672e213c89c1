"""The method `auto`: methods race on a part of the corpora, and the winner trains on all.

Which method is best differs by corpora, and so does whether sources help at all. Models of a part of the corpora, after
few iterations, come in the same order as on all of them, or nearly (docs/results/race.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

from tagweave.errors import TagweaveError
from tagweave.labels import SPANS
from tagweave.structures import CHAIN, TREE
from tagweave.training.methods import pipeline
from tagweave.training.methods.method import Method, Options

if TYPE_CHECKING:
    from tagweave.training.corpora import CorpusFile
    from tagweave.training.fit import Fitted
    from tagweave.training.job import Job

NAME = "auto"
_PLAIN = "single"
_ENTRANTS = {CHAIN: (_PLAIN, "stacked", "coupled"), TREE: (_PLAIN, "stacked", "transform")}
"""The methods that race, the one that gains the most from all of the sources last. Of chains, `transform` took as long
as all others, and was at most 0.2 points better on dev (docs/results/race.md)."""
_OF_TAGGED_WORDS = (_PLAIN, "stacked", pipeline.METHOD.name)
"""Those of the task segtag: all pairs of tagged letters of two guidelines take gigabytes, so no coupled model races."""
_ITERATIONS = 3
_TARGET, _SOURCE, _DEV = 15_000, 40_000, 30_000  # tokens of a race
_HELD_OUT = 5  # without development data, every fifth sentence of TRAIN


def decided(job: Job) -> Job:
    """Return the job with the method that wins the race, or the same job if its method is another.

    Development data of another guideline cannot judge a race, and the steps of an entrant do not race themselves.

    Raises:
        TagweaveError: no method can train on the corpora.
    """
    from tagweave.training.methods import usual

    if job.method != NAME:
        return job
    if job.is_trial or (job.dev is not None and job.dev.guideline != job.data.target):
        return job.with_method(usual(job.recipe.structure))
    entrants = list(_entrants(job))
    if len(entrants) == 1:
        return job.with_method(entrants[0])
    tell, small, scores, error = job.run.tell, _small(job), {}, None
    parts = [each for each in (small.data.targets, small.data.sources) if each]
    tokens = [f"{sum(corpus.tokens() for corpus in each):,}" for each in parts]
    judge = "the development data" if job.dev else "sentences of TRAIN that are held out"
    tell(f"methods race on {' and '.join(tokens)} tokens of {' and '.join(small.data.guidelines)}, judged by {judge}")
    for name in entrants:
        begin = job.run.clock()
        try:
            fitted = _fitted(_entrant(small, name))
        except TagweaveError as found:
            error = found
            tell(f"{name}: {found}")
        else:
            scores[name], small = fitted.outcome.score, _knowing(small, name, fitted)
            tell(f"{name}: {scores[name]:.4f} (after {job.run.clock() - begin:.0f} s)")
    if not scores:
        assert error is not None  # noqa: S101 - somebody raced
        raise error
    best = _best(scores, small)
    tell(f"method {best} (`method` would name another)")
    return replace(job.with_method(best), race=scores)


def _best(scores: Mapping[str, float], small: Job) -> str:
    """Return the last entrant within the standard error of the best score.

    A race shows the methods a part of the sources only, and the last one gains the most from all of them. What it makes
    of these is compared with a plain model.
    """
    best = max(scores.values())
    error = sqrt(best * (1 - best) / max(1, _judged(small)))
    return [name for name, score in scores.items() if score >= best - error][-1]


def _judged(small: Job) -> int:
    """Return how many tokens or spans judge the race."""
    assert small.dev is not None  # noqa: S101 - held out at least
    dev = small.recipe.task.prepare(small.dev)
    if small.plan.task != SPANS:
        return dev.tokens()
    layers = (each.layers.get(dev.guideline, ()) for each in dev)
    return sum(label is not None and label[0][0] in "BS" for layer in layers for label in layer)


def _entrants(job: Job) -> Iterator[str]:
    from tagweave.training.methods import METHODS

    count = len(job.data.guidelines)
    for name in _OF_TAGGED_WORDS if job.plan.task == pipeline.JOINT else _ENTRANTS[job.recipe.structure]:
        method = METHODS[name]
        is_of_count = not (count == 1 and method.several) and (count == 2 or not method.of_two)
        if is_of_count and (method is not pipeline.METHOD or pipeline.suits(job)):
            yield name


def _entrant(small: Job, name: str) -> Job:
    """Return the job of a method. A plain model is not corrected: a race compares methods of the same labels."""
    from tagweave.training.methods.single import SingleOptions

    entrant = small.with_method(name)
    if not isinstance(entrant.plan.options, SingleOptions):
        return entrant
    return replace(entrant, plan=replace(entrant.plan, options=SingleOptions(span_confidence=1.0)))


def _knowing(small: Job, name: str, fitted: Fitted) -> Job:
    """Return the job with a model that later entrants need as well."""
    if name == _PLAIN:
        return replace(small, plain=fitted)
    return replace(small, guided=fitted) if name == "stacked" else small


def _fitted(job: Job) -> Any:
    from tagweave.training.methods import METHODS

    method = METHODS[job.method]
    method.check(job)
    fitted = method.fit(job)
    fitted.outcome.check_finished()
    return fitted


def _small(job: Job) -> Job:
    """Return the job with a part of its corpora and few iterations."""
    data, dev, files = job.data, job.dev, job.data.files
    if dev is None:
        held_out = (sentence for corpus in data.targets for sentence in corpus.sentences[::_HELD_OUT])
        dev = data.targets[0].with_sentences(held_out)
        files = tuple(_without_held_out(each) if each.guideline == data.target else each for each in files)
    of_target = _TARGET / max(1, sum(corpus.tokens() for corpus in data.targets))
    of_sources = _SOURCE / max(1, sum(corpus.tokens() for corpus in data.sources))
    parts = [
        replace(each, corpus=each.corpus.part(of_target if each.guideline == data.target else of_sources))
        for each in files
    ]
    dev = dev.part(_DEV / max(1, dev.tokens()))
    schedule = replace(job.run.schedule, iterations=_ITERATIONS, patience=_ITERATIONS)
    data, plan = replace(data, files=tuple(parts)), replace(job.plan, average_seeds=1)
    return replace(job, plan=plan, data=data, dev=dev, run=job.run.aside(schedule), is_trial=True)


def _without_held_out(file: CorpusFile) -> CorpusFile:
    """Return a file without the sentences that judge a race."""
    sentences = (sentence for at, sentence in enumerate(file.corpus) if at % _HELD_OUT)
    return replace(file, corpus=file.corpus.with_sentences(sentences))


def _fit(job: Job) -> Any:
    from tagweave.training.methods import METHODS

    chosen = decided(job)
    return METHODS[chosen.method].fit(chosen)


METHOD = Method(
    NAME,
    "the method that is best on a part of the corpora",
    (CHAIN, TREE),
    Options,
    _fit,
    check=lambda job: None,
    several=None,
)
