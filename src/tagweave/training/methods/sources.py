"""The method `sources`: one model, and how far each of several sources of annotation is to be believed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tagweave.errors import PlanError
from tagweave.options import option
from tagweave.sources.options import SILENCE
from tagweave.structures import CHAIN
from tagweave.training.job import Job, Method, check_corpora
from tagweave.training.plan import Options

if TYPE_CHECKING:
    from tagweave.sources.layers import SourceCorpus
    from tagweave.training.fit.problem import Fitted


@dataclass(frozen=True)
class SourcesOptions(Options):
    """Options of the method `sources`."""

    source_columns: str | None = option(
        None,
        "The sources in TRAIN: columns by number or name (`3:`, `ann,bob`); files: every TRAIN is one.",
        "COLUMNS|files",
    )
    gold: str | None = option(
        None, "A column of gold annotation, where there is some: a source that is right.", "COLUMN"
    )
    rounds: int = option(3, "How often the text says which source to believe; the best round is kept.", "N", 0)
    source_folds: int = option(4, "The number of folds of models that judge text they have not seen.", "N", 2)

    silence: bool = option(False, SILENCE)


def _check(job: Job) -> None:
    if job.data.has_sources:
        raise PlanError("found `sources` with the method sources, expected all text in TRAIN")
    check_corpora(job)


def _fit(job: Job) -> Fitted:
    from tagweave.sources.answers import Answers
    from tagweave.training.cascades.source_rounds import SourceRounds
    from tagweave.training.fit.fit import fit

    options = job.options(SourcesOptions)
    annotated = _read(job)
    names = (*annotated.sources, *([annotated.gold] if annotated.gold else []))
    corpus = replace(annotated.corpus, guideline=job.data.target)
    accuracies = {annotated.gold: 1.0} if annotated.gold else {}
    rounds = SourceRounds(
        corpus,
        Answers.of_sentences(corpus, names),
        job.recipe,
        accuracies,
        options.source_folds,
        job.plan.seed,
        job.dev,
        job.run,
        options.silence,
    )
    best = rounds.best(options.rounds)
    fitted = fit([rounds.evidence(best)], job.recipe, job.dev, job.run)
    accuracy = best.reliability.accuracy()[:, 0].tolist()
    about = {**fitted.model.about, "reliability": dict(zip(names, accuracy, strict=True))}
    return replace(fitted, model=replace(fitted.model, about=about))


def _read(job: Job) -> SourceCorpus:
    """Return the training text with a layer for every source."""
    from tagweave.sources.layers import SourceCorpus, load_sources

    options = job.options(SourcesOptions)
    if options.source_columns is None:
        raise PlanError(
            "found the method sources without `source_columns`, expected the columns that are sources, or files"
        )
    if all(source.path for source in job.plan.target):
        paths = [source.path for source in job.plan.target]
        form = job.plan.target[0].format
        annotated = load_sources(paths, options.source_columns, options.gold, form)
        for line in annotated.lacking:
            job.run.tell(line)
        return annotated
    corpora = job.data.corpora
    corpus = corpora[0].with_sentences(sentence for corpus in corpora for sentence in corpus)
    name_in_corpus = {corpus.layer: corpus.guideline}  # by its name in the file
    names = tuple(name_in_corpus.get(name, name) for name in options.source_columns.split(","))
    layers = {name for sentence in corpus for name in sentence.layers}
    if missing := [name for name in names if name not in layers]:
        raise PlanError(f"found no layer {missing[0]!r}, expected the names of layers, {', '.join(sorted(layers))}")
    return SourceCorpus(corpus, names, options.gold)


METHODS = (
    Method(
        "sources",
        "one model of text that several sources have annotated, and how far each is to be believed",
        (CHAIN,),
        SourcesOptions,
        _fit,
        _check,
        several=False,
    ),
)
