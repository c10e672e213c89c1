"""A job is a plan with its corpora loaded, and a method is a way to carry it out.

This module imports nothing that takes long, since the command line is made from the options of methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tagweave.errors import CorpusError
from tagweave.labels import PARSE, SPANS
from tagweave.learning.run import Run
from tagweave.structures import TREE
from tagweave.training.plan import FEATURES, LOOKUPS, Options, Plan, ResolvedPlan

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.features.encoder import FeatureIndex
    from tagweave.training.corpora import LookupFiles, TrainingData
    from tagweave.training.fit.problem import Fitted
    from tagweave.training.fit.recipe import Recipe

AVERAGED_SEEDS = 3
"""How many seeds are averaged where tokens are few; segmenters gain the most (docs/learners.md)."""
_FEW_TOKENS_OF_SPANS = 20_000
_FEW_SAMPLED_TOKENS = 50_000  # of methods that sample large sources, of which each seed sees other sentences
_FEW_SAMPLED_TOKENS_OF_WORDS = 100_000

MethodOptions = TypeVar("MethodOptions", bound="Options")


@dataclass(frozen=True)
class Training:
    """The result of a job.

    Attributes:
        job: the job, with the method that was chosen.
        fitted: the model and how its training went.
        scores: scores on development data of the models that were compared.
        seconds: the time that the job took.
    """

    job: Job
    fitted: Fitted
    scores: Mapping[str, float]
    seconds: float

    @property
    def facts(self) -> dict[str, Any]:
        """What a model tells of a training that was a step of its own."""
        outcome = self.fitted.outcome
        return {"method": self.job.method.name, "iterations": outcome.iterations, "dev_score": outcome.score}


def _not_under_way(job: Job) -> Training:
    raise RuntimeError("found a job that is not under way, expected one that `training.train.train` carries out")


@dataclass(frozen=True)
class Job:
    """A plan with its corpora, which trains models of one structure.

    Attributes:
        plan: the plan, with its method and options set.
        method: the method that carries it out.
        data: the training corpora, in the order of the plan.
        dev: the development data.
        lookup_files: what features look up.
        run: the schedule, callbacks and cancellation.
        plain: the model of the target corpora alone, if there is one.
        guided: the model that looks at the labels of one of the sources, if there is one.
        race: the scores of the race that decided on the method.
        start: the model to go on from, if there is one.
        is_trial: whether the model only shows in a race what its method is worth.
        index: the features that several models share; `None`: those of its corpora.
        train: carries out a job that is a step of this one, by the default method for its task.
    """

    plan: ResolvedPlan
    method: Method
    data: TrainingData
    dev: Corpus | None
    lookup_files: LookupFiles
    run: Run = field(default_factory=Run)
    plain: Fitted | None = None
    guided: Fitted | None = None
    race: Mapping[str, float] = field(default_factory=dict)
    start: Any = None
    is_trial: bool = False
    index: FeatureIndex | None = None
    train: Callable[[Job], Training] = _not_under_way

    def options(self, kind: type[MethodOptions]) -> MethodOptions:
        """Return the options of the method. Raises TypeError if they are not of this class."""
        options = self.plan.options
        if not isinstance(options, kind):
            raise TypeError(
                f"found {type(options).__name__} with the method {self.method.name}, expected {kind.__name__}"
            )
        return options

    def with_method(self, method: Method) -> Job:
        """Return the job with a method and its default options; a method for one guideline gets TRAIN alone."""
        plan = replace(self.plan, method=method.name, options=method.options().for_task(self.plan.task))
        job = replace(self, plan=plan, method=method)
        return job.alone() if method.several is False and len(self.data.guidelines) > 1 else job

    def alone(self) -> Job:
        """Return the job on TRAIN alone."""
        target = tuple(replace(reference, sample=None) for reference in self.plan.target)
        return replace(self, data=self.data.alone(), plan=replace(self.plan, target=target, sources=()))

    def of_features(self) -> Job:
        """Return the job without its network, which takes minutes: for models that are trained on the side."""
        if not self.plan.folder:
            return self
        plan = replace(self.plan, encoder=FEATURES, learner=Plan.learner, settings={})
        lookups = replace(self.lookup_files.lookups, subwords=None)
        return replace(self, plan=plan, lookup_files=replace(self.lookup_files, lookups=lookups))

    @property
    def incomparable(self) -> str:
        """Why the model is not compared with one of the target corpora alone; "" if it is."""
        return self.options(Options).why_incomparable or self.data.incomparable(self.dev)

    def identity(self) -> tuple[Any, ...]:
        """Return everything besides the files that influences the weights of an iteration."""
        left_out = ("target", "sources", "dev", *LOOKUPS, "ratio_corpus", "iterations", "patience", "options")
        values = {name: value for name, value in self.plan.to_json().items() if name not in left_out}
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
        from tagweave.training.fit.recipe import by_words, in_batches

        numbers = [reference.sample for reference in self.plan.corpora]
        sizes = [len(corpus) for corpus in self.data.corpora]
        if any(number is not None for number in numbers):
            return tuple(
                number if isinstance(number, int) else size for number, size in zip(numbers, sizes, strict=True)
            )
        if not in_batches(self.plan.learner) or not self.method.balances:
            return ()
        data = self.data
        usual = by_words(data.targets, data.sources)
        target_sizes, source_sizes = iter(usual[: len(data.targets)]), iter(usual[len(data.targets) :])
        counts = [next(target_sizes if corpus.guideline == data.target else source_sizes) for corpus in data.corpora]
        return () if counts == sizes else tuple(counts)

    @cached_property
    def average_seeds(self) -> int:
        """How many seeds the model is the mean of: as the plan says, or more than one where the target is small."""
        from tagweave.training.fit.recipe import has_seed

        plan = self.plan
        few_sampled = _FEW_SAMPLED_TOKENS_OF_WORDS if plan.task == "segment" else _FEW_SAMPLED_TOKENS
        few = max(_FEW_TOKENS_OF_SPANS if plan.task == SPANS else 0, few_sampled if self.method.balances else 0)
        has_few = self.target_tokens < few and plan.task != PARSE and not plan.folder and has_seed(plan.learner)
        return plan.average_seeds or (AVERAGED_SEEDS if has_few else 1)

    @cached_property
    def target_tokens(self) -> int:
        return sum(corpus.tokens() for corpus in self.data.targets)

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of every model; its sample is in the order of the corpora.

        Parsers of several guidelines share templates, which use only layers and columns of all corpora.
        """
        from tagweave.training.cascades.guided import shared_templates
        from tagweave.training.fit.recipe import Recipe

        plan = replace(self.plan, average_seeds=self.average_seeds)
        recipe = replace(Recipe.of_plan(plan, self.sample), lookups=self.lookup_files.lookups, index=self.index)
        if recipe.structure == TREE and len(self.data.guidelines) > 1:
            return replace(recipe, templates=shared_templates(recipe, self.data.corpora))
        return recipe


def check_corpora(job: Job) -> None:
    """Raise before any training if some step could not learn from the corpora."""
    from tagweave.corpus.corpus import by_guideline
    from tagweave.training.cascades.coupled import refuse_contradictions

    if job.plan.task == PARSE:
        for name, corpora in by_guideline(job.data.corpora).items():
            if not any(any(sentence.heads.get(name, ())) for corpus in corpora for sentence in corpus):
                raise CorpusError("no head that is known", "trees, or parts of trees", corpora[0].path)
        _ = job.recipe  # templates that suit all corpora
    elif job.data.has_sources:
        refuse_contradictions(job.data.corpora, job.recipe)


@dataclass(frozen=True)
class Method:
    """A way to train a model on corpora of one guideline or of several.

    Attributes:
        name: the name in plans.
        summary: what it does, in a few words.
        structures: the structures it supports.
        options: the class of its options.
        fit: fits the model of a job; imports what it needs, so that listing methods is cheap.
        check: raises before any training if some step could not learn from the corpora.
        samples: whether an iteration may visit only a part of each corpus.
        balances: whether it samples by default, so that a large source does not outvote the target.
        several: whether it needs corpora of several guidelines; `None`: it takes one or several.
        compares: whether it compares what it trains itself: with plain models, or the model that it goes on from.
        of_two: whether it takes exactly two guidelines.
        needs_dev: whether it needs development data.
    """

    name: str
    summary: str
    structures: tuple[str, ...]
    options: type[Options]
    fit: Callable[[Job], Fitted]
    check: Callable[[Job], None] = check_corpora
    samples: bool = False
    balances: bool = False
    several: bool | None = True
    compares: bool = False
    of_two: bool = False
    needs_dev: bool = False
