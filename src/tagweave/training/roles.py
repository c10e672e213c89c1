"""Development data teach a model, too, where the labels of TRAIN err (task spans).

Few right sentences may teach more than many wrong labels tell of themselves. So where labels err (`cascades/noise.py`),
two ways to learn from development data are tried on parts of them that are held out: they are more of TRAIN, whose
labels are evidence of right ones; or the two exchange their roles, and TRAIN is a source of another guideline. Networks
are not trained for parts of them: features alone judge the first way, and the second is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.spans import span_scores
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.cascades.noise import fit_with_dev
from tagweave.training.corpora import LoadedSource
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.job import Job, Training
from tagweave.training.methods import AUTO, METHODS, RACED, usual

_PARTS = 4  # of development data, to see what they teach
_FEW, _PARTS_OF_FEW = 5_000, 10  # tokens, of which a model of three quarters has learned too little to tell
_NAMES = ("noisy", "train")  # of the guideline of TRAIN beside development data
_AS_IT_IS, _BESIDE, _EXCHANGED = "labels of TRAIN", "development data beside TRAIN", "development data as TRAIN"


class Taught(NamedTuple):
    """A training on development data, too."""

    training: Training
    # models of parts of these data, like the one of the training, each with the sentences that it has not seen; none of
    # a network
    judged: list[tuple[ChainModel, Corpus]]


def taught_by_dev(job: Job, fitted: Fitted) -> Taught | None:
    """Return the training of a model that learns from development data, too.

    Returns `None` unless TRAIN is larger, and models of folds of the development data and of TRAIN score higher than
    the model of TRAIN. They have seen a part of the development data, and score the rest.

    Raises:
        KeyboardInterrupt: the user stopped a training.
    """
    begin = time.perf_counter()
    dev, tell, plan = job.dev, job.run.tell, job.plan
    is_sampled = any(source.sample is not None for source in plan.target)
    if dev is None or plan.dev is None or fitted.first is None or fitted.outcome.score is None or is_sampled:
        return None
    name = next(name for name in _NAMES if name != job.data.target)
    if dev.tokens() >= sum(corpus.tokens() for corpus in job.data.corpora):  # TRAIN may be right, but small
        return None
    if len(dev) < _PARTS or any(name in sentence.layers for corpus in (dev, *job.data.corpora) for sentence in corpus):
        return None
    file = LoadedSource(plan.dev, dev, plan.dev.sha256)
    score, by_features = fitted.outcome.score, ""
    trials = {_BESIDE: list(_models_of_both(dev, fitted.first, job))}
    if plan.folder:
        score = fit(job.data.corpora, job.recipe.of_features(), dev, job.run.aside()).outcome.score or 0.0
        by_features = "judged by models of features alone, "
    elif job.index is None:  # what guides a model has features of its own
        trials[_EXCHANGED] = list(_guided_models(file.called(name).corpus, fitted.model, job))
    scores = {_AS_IT_IS: score, **{way: _score(judged) for way, judged in trials.items()}}
    numbers = ", ".join(f"{way} {score:.4f}" for way, score in scores.items())
    tell(f"{by_features}on parts of the development data that are held out: {numbers}")
    best = max(scores, key=scores.__getitem__)
    if best == _AS_IT_IS:
        return None
    dev_name = plan.dev.path or "DEV"
    train_name = " ".join(source.path or "TRAIN" for source in plan.target)
    if best == _BESIDE:
        tell(f"so a model learns from {dev_name}, too (`span_confidence=1` would not)")
        run = job.run.without_checkpoint().phase("development data, too")
        taught = fit_with_dev(job.data.corpora, fitted.first, dev, job.recipe, run)
        training = Training(replace(job, dev=None), taught, {}, 0.0)  # they can tell no more how good the model is
    else:
        roles = f"{dev_name} is TRAIN, and {train_name} is `sources={name}=FILE`"
        tell(f"so {roles} (`span_confidence=1` would keep their roles)")
        training = job.train(_exchanged(job, file, name))
    training.fitted.outcome.check_finished()
    kept = {way: scores[way] for way in (_AS_IT_IS, best)}
    return Taught(
        replace(training, scores=kept, seconds=time.perf_counter() - begin), [] if plan.folder else trials[best]
    )


def _exchanged(job: Job, dev: LoadedSource, name: str) -> Job:
    """Return the job in which development data are TRAIN, and TRAIN follows another guideline of this name."""
    plan = job.plan
    sources = tuple(file.called(name) for file in job.data.files)
    references = tuple(replace(source, guideline=name) for source in plan.target)
    assert plan.dev is not None  # noqa: S101 - they exchange their roles
    job = replace(
        job,
        data=replace(job.data, files=(dev, *sources), train_count=1),
        plan=replace(plan, target=(plan.dev,), sources=references, dev=None),
        dev=None,
        run=job.run.without_checkpoint(),
    )
    return job.with_method(METHODS[AUTO if len(dev.corpus) >= RACED else usual(job.recipe.structure)])


def _models_of_both(dev: Corpus, first: ChainModel, job: Job) -> Iterator[tuple[ChainModel, Corpus]]:
    """Yield models of TRAIN and of parts of development data, each with the sentences that it lacks."""
    recipe = job.recipe.of_features()
    for remainder, held_out in _parts(dev, _PARTS):
        fitted = fit_with_dev(job.data.corpora, first, remainder, recipe, job.run.aside())
        yield fitted.finished_model(), held_out


def _guided_models(dev: Corpus, guide: ChainModel, job: Job) -> Iterator[tuple[ChainModel, Corpus]]:
    """Yield models of parts of development data, guided by a model, each with the sentences that it lacks."""
    recipe = replace(job.recipe.of_features(), sample=())
    for remainder, held_out in _parts(dev, _PARTS if dev.tokens() > _FEW else min(_PARTS_OF_FEW, len(dev))):
        yield fit_guided([remainder], guide, recipe, None, job.run.aside()).finished_model(), held_out


def _parts(dev: Corpus, parts: int) -> Iterator[tuple[Corpus, Corpus]]:
    """Yield the development data without each of their parts, and this part.

    Parts are stretches of sentences: names are repeated within a document, which would make models look better.
    """
    for number in range(parts):
        start, stop = (len(dev) * edge // parts for edge in (number, number + 1))
        remainder = dev.with_sentences([*dev.sentences[:start], *dev.sentences[stop:]])
        yield remainder, dev.with_sentences(dev.sentences[start:stop])


def _score(judged: list[tuple[ChainModel, Corpus]]) -> float:
    """Return F of spans of all models on what they have not seen."""
    gold: list[Sentence] = []
    tagged: list[Sentence] = []
    for model, held_out in judged:
        gold += held_out.sentences
        tagged += ChainPredictor(model).tag(replace(sentence, layers={}) for sentence in held_out)
    corpus = judged[0][1]
    return span_scores(corpus.with_sentences(gold), corpus.with_sentences(tagged)).spans.f
