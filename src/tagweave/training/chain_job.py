"""Jobs that train chain models: taggers and segmenters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tagweave.corpus.corpus import Corpus
from tagweave.features.templates import Templates
from tagweave.labels.sets import reading
from tagweave.models.storage import save_model
from tagweave.training.chain_system import ChainSystem
from tagweave.training.contradictions import refuse_contradictions
from tagweave.training.errors import as_plan_error
from tagweave.training.fit import Fitted, fit_problem, prepare
from tagweave.training.guided import fit_stages
from tagweave.training.job import Job
from tagweave.training.problem import Problem
from tagweave.training.recipe import Recipe
from tagweave.training.summary import sample_line, weights_by_view
from tagweave.training.task import Task


@dataclass(frozen=True)
class ChainJob(Job[Fitted]):
    """Training of a tagger, or of a segmenter."""

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of every model; its sample is in the order of the corpora.

        Raises:
            PlanError: unknown values.
        """
        plan = self.plan
        with as_plan_error():
            return Recipe(
                Task(plan.task, plan.coding),
                Templates(plan.templates) if plan.templates else None,
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
            )

    def check(self) -> None:
        """See `Job.check`."""
        if self.data.has_sources:
            refuse_contradictions(self.data.corpora, self.recipe)

    def fit(self, corpora: Sequence[Corpus], recipe: Recipe | None = None) -> Fitted:
        """See `Job.fit`; `recipe` replaces the recipe of the job."""
        recipe = recipe or self.recipe
        encoder = recipe.encoder(self.lookup_files.lookups)
        return self.fit_problem(prepare(corpora, recipe, encoder=encoder), corpora, recipe)

    def fit_problem(self, problem: Problem, corpora: Sequence[Corpus], recipe: Recipe) -> Fitted:
        """Fit a problem, and report how much of each corpus an iteration visits."""
        if recipe.sample or len(self.data.guidelines) > 1:
            self.run.tell(sample_line(corpora, recipe.sample))
        return fit_problem(problem, recipe, self.dev, self.run)

    def fit_guided(self) -> Fitted:
        """See `Job.fit_guided`."""
        data, run = self.data, self.run
        run.tell(f"first a model of {data.guidelines[1]}, then one of {data.target} that looks at its labels")
        return fit_stages(data.targets, data.sources, self.recipe, self.dev, run)

    @property
    def system(self) -> ChainSystem:
        """See `Job.system`."""
        return ChainSystem(self.recipe, self.run)

    def about(self, fitted: Fitted) -> dict[str, Any]:
        """See `Job.about`."""
        return {"weights": weights_by_view(fitted.model.linear)}

    def save(self, fitted: Fitted, about: dict[str, Any], path: Path) -> None:
        """See `Job.save`."""
        save_model(replace(fitted.model, about=about), path)
        score = "" if fitted.outcome.score is None else f", dev {fitted.outcome.score:.4f}"
        self.run.tell(f"{path}: {fitted.outcome.iterations} iterations{score}")
