"""Development data and TRAIN exchange their roles where the labels of TRAIN err (task spans).

Few right sentences may teach more than many wrong labels tell of themselves. So where labels err (`cascades/noise.py`),
development data as TRAIN, with TRAIN as a source of another guideline, are tried on parts of them that are held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.spans import span_scores
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.corpora import LoadedSource
from tagweave.training.fit.problem import Fitted
from tagweave.training.job import Job
from tagweave.training.methods import AUTO, METHODS, RACED, usual

_PARTS = 4  # of development data, to see what they teach
_FEW, _PARTS_OF_FEW = 5_000, 10  # tokens, of which a model of three quarters has learned too little to tell
_NAMES = ("noisy", "train")  # of the guideline of TRAIN beside development data


class Exchange(NamedTuple):
    """A job in which development data are TRAIN, and TRAIN follows another guideline."""

    job: Job
    expected: float  # the score of models of parts of the development data on the rest
    judged: list[tuple[ChainModel, Corpus]]  # these models, each with the sentences that it has not seen


def exchanged(job: Job, fitted: Fitted) -> Exchange | None:
    """Return the job in which development data and TRAIN exchange their roles.

    Returns `None` unless TRAIN is larger, and models of folds of the development data, which look at the labels of the
    model of TRAIN, score higher than that model. They have seen a part of the development data, and score the rest.

    Raises:
        KeyboardInterrupt: the user stopped the training of a fold.
    """
    dev, tell, plan = job.dev, job.run.tell, job.plan
    is_sampled = any(source.sample is not None for source in plan.target)
    if dev is None or plan.dev is None or not fitted.labels_err or fitted.outcome.score is None or is_sampled:
        return None
    name = next(name for name in _NAMES if name != job.data.target)
    if dev.tokens() >= sum(corpus.tokens() for corpus in job.data.corpora):  # TRAIN may be right, but small
        return None
    if len(dev) < _PARTS or any(name in sentence.layers for corpus in (dev, *job.data.corpora) for sentence in corpus):
        return None
    file = LoadedSource(plan.dev, dev, plan.dev.sha256)
    judged = list(_guided(file.called(name).corpus, fitted.model, job))
    tagged = (sentence for model, held_out in judged for sentence in ChainPredictor(model).tag(_bare(held_out)))
    scores = span_scores(file.called(name).corpus, judged[0][1].with_sentences(tagged)).spans
    score, expected = fitted.outcome.score, scores.f
    dev_name = plan.dev.path or "DEV"
    train_names = " ".join(source.path or "TRAIN" for source in plan.target)
    what = f"{dev_name} as TRAIN, with the labels of {train_names} as those of another guideline"
    comparison = "better than" if expected > score else "not better than"
    tell(f"{what}: {expected:.4f} on parts that are held out, {comparison} {score:.4f}")
    if expected <= score:
        return None
    roles = f"{dev_name} is TRAIN, and {train_names} is `sources={name}=FILE`"
    tell(f"so {roles} (`span_confidence=1` would keep their roles)")
    sources = tuple(file.called(name) for file in job.data.files)
    references = tuple(replace(source, guideline=name) for source in plan.target)
    plan = replace(plan, target=(plan.dev,), sources=references, dev=None)
    job = replace(
        job,
        data=replace(job.data, files=(file, *sources), train_count=1),
        plan=plan,
        dev=None,
        run=job.run.without_checkpoint(),
    )
    method = METHODS[AUTO if len(dev) >= RACED else usual(job.recipe.structure)]
    return Exchange(job.with_method(method), expected, judged)


def _guided(dev: Corpus, guide: ChainModel, job: Job) -> Iterator[tuple[ChainModel, Corpus]]:
    """Yield models of parts of development data, guided by a model, each with the sentences that it lacks.

    Parts are stretches of sentences: names are repeated within a document, which would make models look better.
    """
    recipe = replace(job.recipe.of_features(), sample=())
    parts = _PARTS if dev.tokens() > _FEW else min(_PARTS_OF_FEW, len(dev))
    for number in range(parts):
        start, stop = (len(dev) * edge // parts for edge in (number, number + 1))
        remainder = dev.with_sentences([*dev.sentences[:start], *dev.sentences[stop:]])
        model = fit_guided([remainder], guide, recipe, None, job.run.aside()).finished_model()
        yield model, dev.with_sentences(dev.sentences[start:stop])


def _bare(corpus: Corpus) -> Iterator[Sentence]:
    return (replace(sentence, layers={}) for sentence in corpus)
