"""A job: a plan with its corpora loaded, ready for its method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tagweave.corpus.corpus import Corpus
from tagweave.errors import CorpusError, as_plan_error
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.templates import Templates
from tagweave.labels import PARSE
from tagweave.labels.sets import reading
from tagweave.learning.run import Run
from tagweave.structures import TREE
from tagweave.training.chain_problem import sample_line
from tagweave.training.corpora import LOOKUPS, LookupFiles
from tagweave.training.coupled import refuse_contradictions
from tagweave.training.fit import fit_problem, prepare
from tagweave.training.guided import fit_stages, shared_templates
from tagweave.training.options import Options
from tagweave.training.problem import Fitted, Problem
from tagweave.training.recipe import LEARNERS, Recipe, by_words, in_batches
from tagweave.training.system import System, system_of
from tagweave.training.task import Task

if TYPE_CHECKING:
    from tagweave.training.corpora import TrainingData
    from tagweave.training.plan import TrainingPlan
    from tagweave.training.sharded_job import Shards

DROP_COLUMNS = 0.5
"""Chosen on development sets of four languages: see docs/parsing.md."""

MethodOptions = TypeVar("MethodOptions", bound=Options)


@dataclass(frozen=True)
class Job:
    """A plan with its corpora, which trains models of one structure, here or on workers."""

    plan: TrainingPlan  # the plan, with its method and options set
    data: TrainingData  # the training corpora, in the order of the plan; empty ones if their sentences are on workers
    dev: Corpus | None = None  # development data
    lookup_files: LookupFiles = field(default_factory=LookupFiles)  # what features look up
    run: Run = field(default_factory=Run)
    # whether an iteration visits no more of a source than of the target, unless the plan has a sample
    balances: bool = False
    plain: Fitted | None = None  # the model of the target corpora alone, if there is one
    shards: Shards | None = None  # the sentences on workers; `None` if they are here

    def options(self, kind: type[MethodOptions]) -> MethodOptions:
        """Return the options of the method as this class."""
        assert isinstance(self.plan.options, kind)  # noqa: S101 - plans are resolved before a method sees them
        return self.plan.options

    @property
    def method(self) -> str:
        """The name of the method."""
        assert self.plan.method is not None  # noqa: S101 - as above
        return self.plan.method

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
        if not in_batches(self.plan.learner) or not self.balances:
            return ()
        data, usual = self.data, by_words(self.data.targets, self.data.sources)
        of_target, of_source = iter(usual[: len(data.targets)]), iter(usual[len(data.targets) :])
        counts = [next(of_target if each.guideline == data.target else of_source) for each in data.corpora]
        return () if counts == sizes else tuple(counts)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the learner, with the seed if it takes one."""
        has_seed = "seed" in [each.name for each in fields(LEARNERS[self.plan.learner])]
        return {**({"seed": self.plan.seed} if has_seed else {}), **self.plan.settings}

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of every model; its sample is in the order of the corpora.

        Parsers of several guidelines share templates, which use only layers and columns of all corpora.
        """
        plan = self.plan
        with as_plan_error():
            task = Task(plan.task, plan.coding)
            of_trees = task.structure == TREE
            templates = (ArcTemplates if of_trees else Templates)(plan.templates) if plan.templates else None
            recipe = Recipe(
                task,
                templates,
                plan.learner,
                self.settings,
                plan.weights,
                plan.minimum_count,
                precision=plan.precision,
                threads=plan.threads,
                sample=self.sample,
                guide=getattr(plan.options, "guide", None),
                soft_labels=reading(plan.soft_labels),
                average_seeds=plan.average_seeds,
                drop_columns=DROP_COLUMNS if plan.drop_columns is None else plan.drop_columns,
                projective=not plan.non_projective,
            )
        if of_trees and len(self.data.guidelines) > 1:
            return replace(recipe, templates=shared_templates(recipe, self.data.corpora))
        return recipe

    def check(self) -> None:
        """Raise before any training if some step could not learn from the corpora."""
        if self.plan.task == PARSE:
            for name in self.data.guidelines:
                own = [corpus for corpus in self.data.corpora if corpus.guideline == name]
                if not any(any(sentence.heads.get(name, ())) for corpus in own for sentence in corpus):
                    raise CorpusError("no head that is known", "trees, or parts of trees", own[0].path)
            _ = self.recipe  # templates that suit all corpora
        elif self.data.has_sources:
            refuse_contradictions(self.data.corpora, self.recipe)

    @contextmanager
    def problem(self, corpora: Sequence[Corpus], recipe: Recipe | None = None) -> Iterator[Problem]:
        """Open the problem of corpora of one guideline, or of the corpora of the job if they are on workers."""
        recipe, lookups = recipe or self.recipe, self.lookup_files.lookups
        if self.shards is not None:
            with self.shards.problem(recipe, lookups, self.run) as sharded:
                yield sharded
            return
        problem = prepare(corpora, recipe, lookups=lookups)
        if recipe.structure != TREE and (recipe.sample or len(self.data.guidelines) > 1):
            self.run.tell(sample_line(corpora, recipe.sample))
        yield problem

    def fit(self, corpora: Sequence[Corpus]) -> Fitted:
        """Fit a model to corpora of one guideline, for methods outside the package."""
        with self.problem(corpora) as problem:
            return fit_problem(problem, self.recipe, self.dev, self.run)

    def fit_guided(self) -> Fitted:
        """Fit a model of the target with the annotation of a model of the sources as features."""
        data, run = self.data, self.run
        first, seen = ("parser", "trees") if self.recipe.structure == TREE else ("model", "labels")
        run.tell(f"first a {first} of {data.guidelines[1]}, then one of {data.target} that looks at its {seen}")
        return fit_stages(data.targets, data.sources, self.recipe, self.dev, run)

    @property
    def system(self) -> System[Any]:
        """The system of the structure, for methods with several steps."""
        return system_of(self.recipe, self.run)
