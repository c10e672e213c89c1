"""A job, a plan with its corpora loaded, and how it is carried out.

A model that learned from sources is compared with a plain one of TRAIN alone: nobody gets a worse model unaware.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tagweave.corpus.corpus import Corpus, by_guideline
from tagweave.corpus.files import short_name
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG
from tagweave.errors import CorpusError
from tagweave.exchange.tokenization import Tokenization
from tagweave.labels import PARSE, SPANS
from tagweave.learning.run import Run
from tagweave.models.storage import save_model
from tagweave.structures import TREE
from tagweave.training.calibration import calibrated
from tagweave.training.chain_problem import sample_line
from tagweave.training.corpora import LookupFiles
from tagweave.training.coupled import refuse_contradictions
from tagweave.training.fit import Fitted, Problem, fit_problem, prepare
from tagweave.training.guided import fit_stages, shared_templates
from tagweave.training.methods import METHODS, SINGLE
from tagweave.training.methods.auto import decided
from tagweave.training.methods.method import Options
from tagweave.training.noise import exchanged
from tagweave.training.plan import LOOKUPS, with_names
from tagweave.training.recipe import Recipe, by_words, has_seed, in_batches
from tagweave.training.system import System, system_of

if TYPE_CHECKING:
    from tagweave.training.corpora import TrainingData
    from tagweave.training.plan import FileReference, TrainingPlan


PLAIN = "plain"
"""The part of a schedule that trains the plain model."""


_SEEDS, _FEW_OF_SPANS, _FEW_SAMPLED, _FEW_WORDS_SAMPLED = 3, 20_000, 50_000, 100_000
"""The seeds of models of fewer tokens: of spans, and of chains by methods that sample large sources, of which each seed
sees other sentences; segmenters gain the most (docs/learners.md)."""

MethodOptions = TypeVar("MethodOptions", bound=Options)


@dataclass(frozen=True)
class Job:
    """A plan with its corpora, which trains models of one structure."""

    plan: TrainingPlan  # the plan, with its method and options set
    data: TrainingData  # the training corpora, in the order of the plan
    dev: Corpus | None = None  # development data
    lookup_files: LookupFiles = field(default_factory=LookupFiles)  # what features look up
    run: Run = field(default_factory=Run)
    plain: Fitted | None = None  # the model of the target corpora alone, if there is one
    guided: Fitted | None = None  # the model that looks at the labels of one of the sources, if there is one
    race: Mapping[str, float] = field(default_factory=dict)  # the scores of the race that decided on the method
    is_trial: bool = False  # whether the model only shows in a race what its method is worth

    def options(self, kind: type[MethodOptions]) -> MethodOptions:
        assert isinstance(self.plan.options, kind)  # noqa: S101 - plans are resolved before a method sees them
        return self.plan.options

    @property
    def method(self) -> str:
        assert self.plan.method is not None  # noqa: S101 - as above
        return self.plan.method

    def with_method(self, name: str) -> Job:
        """Return the job with a method and its default options; one for a single guideline gets corpora of one."""
        method = METHODS[name]
        if method.several is False and len(self.data.guidelines) > 1:
            return self.alone()
        plan = replace(self.plan, method=name, options=method.options().for_task(self.plan.task))
        return replace(self, data=replace(self.data, method=name), plan=plan)

    def alone(self) -> Job:
        """Return the job of a plain model of TRAIN alone."""
        target = tuple(replace(each, sample=None) for each in self.plan.target)
        plan = replace(self.plan, target=target, sources=())
        return replace(self, data=self.data.alone(SINGLE), plan=plan).with_method(SINGLE)

    @property
    def incomparable(self) -> str:
        """Why the model is not compared with one of the target corpora alone; "" if it is."""
        return self.options(Options).why_incomparable or self.data.incomparable(self.dev)

    def identity(self) -> tuple[Any, ...]:
        """Everything besides the files that influences the weights of an iteration."""
        free = ("target", "sources", "dev", *LOOKUPS, "ratio_corpus", "iterations", "patience", "options")
        values = {name: value for name, value in self.plan.to_json().items() if name not in free}
        ratio_corpus = self.plan.ratio_corpus
        digests = (*self.lookup_files.digests, *([ratio_corpus.sha256] if ratio_corpus else []))
        return values, self.options(Options).identity(), self.sample, *digests

    @cached_property
    def sample(self) -> tuple[int, ...]:
        """How many sentences of each corpus an iteration visits, in their order; () for all.

        Unless the plan has a sample, a method that balances its corpora visits all of the target and about as many
        words of each source: on ZX and People's Daily better than three times as many, as in li-2015 (5.1, where
        sentences of both are equally long).
        """
        numbers, sizes = [each.sample for each in self.plan.corpora], [len(each) for each in self.data.corpora]
        if any(number is not None for number in numbers):
            return tuple(
                number if isinstance(number, int) else size for number, size in zip(numbers, sizes, strict=True)
            )
        if not in_batches(self.plan.learner) or not METHODS[self.method].balances:
            return ()
        data, usual = self.data, by_words(self.data.targets, self.data.sources)
        of_target, of_source = iter(usual[: len(data.targets)]), iter(usual[len(data.targets) :])
        counts = [next(of_target if each.guideline == data.target else of_source) for each in data.corpora]
        return () if counts == sizes else tuple(counts)

    @cached_property
    def average_seeds(self) -> int:
        """How many seeds the model is the mean of: as the plan says, or more than one where the target is small."""
        plan, tokens = self.plan, self._target_tokens
        sampled = _FEW_WORDS_SAMPLED if plan.task == "segment" else _FEW_SAMPLED
        few = max(_FEW_OF_SPANS if plan.task == SPANS else 0, sampled if METHODS[self.method].balances else 0)
        is_usual = tokens < few and plan.task != PARSE and not plan.folder and has_seed(plan.learner)
        return plan.average_seeds or (_SEEDS if is_usual else 1)

    @cached_property
    def _target_tokens(self) -> int:
        return sum(corpus.tokens() for corpus in self.data.targets)

    def tell_seeds(self) -> None:
        """Tell how many seeds are averaged if the program decided on it."""
        if self.average_seeds > (self.plan.average_seeds or 1):
            seeds = f"the mean of {self.average_seeds} seeds is trained (`average_seeds` gives their number)"
            self.run.tell(f"{self._target_tokens:,} tokens are few: {seeds}")

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of every model; its sample is in the order of the corpora.

        Parsers of several guidelines share templates, which use only layers and columns of all corpora.
        """
        plan = replace(self.plan, average_seeds=self.average_seeds)
        recipe = replace(Recipe.of_plan(plan, self.sample), lookups=self.lookup_files.lookups)
        if recipe.structure == TREE and len(self.data.guidelines) > 1:
            return replace(recipe, templates=shared_templates(recipe, self.data.corpora))
        return recipe

    def check(self) -> None:
        """Raise before any training if some step could not learn from the corpora."""
        if self.plan.task == PARSE:
            for name, own in by_guideline(self.data.corpora).items():
                if not any(any(sentence.heads.get(name, ())) for corpus in own for sentence in corpus):
                    raise CorpusError("no head that is known", "trees, or parts of trees", own[0].path)
            _ = self.recipe  # templates that suit all corpora
        elif self.data.has_sources:
            refuse_contradictions(self.data.corpora, self.recipe)

    def problem(self, corpora: Sequence[Corpus], recipe: Recipe | None = None) -> Problem:
        """Return the problem of corpora of one guideline."""
        recipe = recipe or self.recipe
        problem: Problem = prepare(corpora, recipe)
        if recipe.structure != TREE and (recipe.sample or len(self.data.guidelines) > 1):
            self.run.tell(sample_line(corpora, recipe.sample))
        return problem

    def fit(self, corpora: Sequence[Corpus]) -> Fitted:
        """Fit a model to corpora of one guideline, for methods outside the package."""
        return fit_problem(self.problem(corpora), self.recipe, self.dev, self.run)

    def fit_guided(self) -> Fitted:
        """Fit a model of the target with the annotation of a model of the sources as features."""
        data, run = self.data, self.run
        first, seen = ("parser", "trees") if self.recipe.structure == TREE else ("model", "labels")
        run.tell(f"first a {first} of {data.guidelines[1]}, then one of {data.target} that looks at its {seen}")
        return fit_stages(data.targets, data.sources, self.recipe, self.dev, run)

    @property
    def system(self) -> System[Any]:
        return system_of(self.recipe, self.run)


@dataclass(frozen=True)
class Training:
    """The result of a job."""

    job: Job
    fitted: Fitted
    scores: dict[str, float]
    seconds: float

    def about(self) -> dict[str, Any]:
        """Return how the model was made: recipe, plan and scores. Equal trainings have equal records, on any day and
        in any folder: files of the plan have names and digests alone."""
        job, model = self.job, self.fitted.model
        layers: dict[str, list[str]] = {}  # by guideline, without those that the files do not name
        for corpus in job.data.corpora:
            names = layers.setdefault(corpus.guideline, [])
            if corpus.layer not in ("", TAG, SEGMENTATION, *names):
                names.append(corpus.layer)
        return {
            **model.about,
            "plan": with_names(replace(job.plan, average_seeds=job.average_seeds).to_json()),
            "layers": layers,
            **self._tokens(),
            **({} if job.recipe.structure == TREE else {"weights": model.parameters.weights_by_view}),
            **({"dev_scores": self.scores} if self.scores else {}),
            **({"race": dict(job.race)} if job.race else {}),
        }

    def _tokens(self) -> dict[str, Any]:
        """Return how the text of TRAIN was cut into words."""
        targets = self.job.data.targets
        if any(each.unit == "character" for each in targets) or self.job.plan.task in ("segment", "segtag"):
            return {}
        forms = (sentence.forms for corpus in targets for sentence in corpus)
        return {"tokens": Tokenization.of_forms(forms).to_json()}

    def calibrated(self, judged: Sequence[tuple[Any, Corpus]], dev: FileReference | None) -> Training:
        """Return the training with a model whose probabilities suit corpora that models have not seen."""
        name = short_name(dev.path) if dev else ""
        model = calibrated(self.fitted.model, judged, self.job.recipe, name)
        return replace(self, fitted=replace(self.fitted, model=model))

    def save(self, path: Path) -> None:
        """Write the model with the record of its making, and report its score."""
        fitted, job = self.fitted, self.job
        for note in fitted.counts.notes() if fitted.counts else ():
            job.run.tell(note)
        save_model(replace(fitted.model, about=self.about()), path)
        name = "dev UAS" if job.recipe.structure == TREE else "dev"
        score = "" if fitted.outcome.score is None else f", {name} {fitted.outcome.score:.4f}"
        job.run.tell(f"{path}: {fitted.outcome.iterations} iterations{score}")


def train(job: Job, compare: bool = True) -> Training:
    """Carry out a job, and fit the temperature of its model to development data (`calibration`).

    If `compare`, a model that learned from sources is compared on the development data with one of TRAIN alone, which
    is trained first and has its own checkpoint. A method that the user named is not overruled, but a warning says that
    it did worse. Where no method is named, a race decides (`methods.auto`).

    Raises:
        KeyboardInterrupt: the user stopped training before the model itself was begun.
    """
    training = _train(job, compare)
    fitted, dev = training.fitted, training.job.dev
    if not compare or job.is_trial or dev is None or fitted.outcome.interrupted or not job.run.schedule.selects:
        return training
    return training.calibrated([(fitted.model, dev)], job.plan.dev)


def _train(job: Job, compare: bool) -> Training:
    begin, tell = time.perf_counter(), job.run.tell
    job = decided(job)
    job.tell_seeds()
    data, method = job.data, METHODS[job.method]
    method.check(job)
    if not compare or job.is_trial or method.compares or job.incomparable:
        fitted = method.fit(job)
        if compare and fitted.labels_err:
            return _with_better_roles(job, fitted, begin)
        if compare and data.has_sources and not (job.race or job.is_trial or method.compares):
            what = "nothing tells whether the sources made the model better or worse than one of TRAIN alone"
            tell(f"{job.incomparable}: {what}")
        return Training(job, fitted, {}, time.perf_counter() - begin)
    alone = replace(job.alone(), run=job.run.part(PLAIN))
    tell(f"first a plain model of {data.target}, of TRAIN alone, to compare with")
    plain = METHODS[alone.method].fit(alone)
    plain.outcome.check_finished()
    fitted = method.fit(replace(job, plain=plain))
    seconds, outcome = time.perf_counter() - begin, fitted.outcome
    if outcome.score is None:  # interrupted in the first iteration
        return Training(job, fitted, {}, seconds)
    scores = {
        PLAIN: plain.outcome.score,
        "with the sources" if job.method == alone.method else job.method: outcome.score,
    }
    tell(f"on the development data: {', '.join(f'{name} {score:.4f}' for name, score in scores.items())}")
    if outcome.score < plain.outcome.score:
        if not data.is_asked_for:
            tell(f"the plain model is kept: the sources made it worse (`method={job.method}` would keep the other)")
            plain = replace(plain, outcome=replace(plain.outcome, interrupted=outcome.interrupted))
            return Training(alone, plain, scores, seconds)
        tell(f"warning: the sources made the model worse; it is kept because of `method={job.method}`")
    return Training(job, fitted, scores, seconds)


def _with_better_roles(job: Job, fitted: Fitted, begin: float) -> Training:
    """Return the training in which development data and TRAIN exchange their roles if that is better, or this one."""
    scores: dict[str, float] = {}
    try:
        if (better := exchanged(job, fitted)) is not None:
            training = train(better.job)
            training.fitted.outcome.check_finished()
            assert fitted.outcome.score is not None  # noqa: S101 - it was compared
            scores = {"labels of TRAIN": fitted.outcome.score, "development data as TRAIN": better.expected}
            training = training.calibrated(better.judged, job.plan.dev)
            return replace(training, scores=scores, seconds=time.perf_counter() - begin)
    except KeyboardInterrupt:
        fitted = replace(fitted, outcome=replace(fitted.outcome, interrupted=True))
    return Training(job, fitted, scores, time.perf_counter() - begin)
