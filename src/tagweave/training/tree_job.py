"""Jobs that train tree models: parsers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.features.arc_templates import ArcTemplates
from tagweave.labels.sets import reading
from tagweave.models.storage import save_model
from tagweave.training.errors import as_plan_error
from tagweave.training.guided_parsing import fit_guided_parser
from tagweave.training.job import Job
from tagweave.training.parsing import FittedParser, ParserRecipe, fit_parser, usual_templates
from tagweave.training.tree_system import TreeSystem

DROP_COLUMNS = 0.5
"""Chosen on development sets of four languages: see docs/parsing.md."""


@dataclass(frozen=True)
class TreeJob(Job[FittedParser]):
    """Training of a parser."""

    @cached_property
    def recipe(self) -> ParserRecipe:
        """The recipe of every parser.

        Raises:
            PlanError: unknown values.
        """
        plan, dropped = self.plan, self.plan.drop_columns
        with as_plan_error():
            return ParserRecipe(
                ArcTemplates(plan.templates) if plan.templates else None,
                plan.learner,
                self.settings,
                precision=plan.precision,
                threads=plan.threads,
                drop_columns=DROP_COLUMNS if dropped is None else dropped,
                projective=not plan.non_projective,
                soft_labels=reading(plan.soft_labels),
                average_seeds=plan.average_seeds,
            )

    @cached_property
    def shared_recipe(self) -> ParserRecipe:
        """The recipe with templates that use only layers and columns of all corpora."""
        recipe, parts = self.recipe, (corpus.sentences for corpus in self.data.corpora)
        return replace(recipe, templates=recipe.templates or usual_templates(*parts, siblings=recipe.projective))

    def check(self) -> None:
        """See `Job.check`."""
        for name in self.data.guidelines:
            own = [corpus for corpus in self.data.corpora if corpus.guideline == name]
            if not any(any(sentence.heads.get(name, ())) for corpus in own for sentence in corpus):
                raise CorpusError("no head that is known", "trees, or parts of trees", own[0].path)
        if self.data.has_sources:
            _ = self.shared_recipe

    def fit(self, corpora: Sequence[Corpus]) -> FittedParser:
        """See `Job.fit`."""
        recipe = self.shared_recipe if len(self.data.guidelines) > 1 else self.recipe
        return fit_parser(corpora, recipe, self.dev, self.run)

    def fit_guided(self) -> FittedParser:
        """See `Job.fit_guided`. The checkpoint of the guide stays until the end, so that a resumed run has the same
        guide."""
        data, recipe, run = self.data, self.shared_recipe, self.run
        run.tell(f"first a parser of {data.guidelines[1]}, then one of {data.target} that looks at its trees")
        guide = fit_parser(data.sources, recipe, None, run.part("source"))
        guide.outcome.check_finished()
        return fit_guided_parser(data.targets, guide.model, recipe, self.dev, run)

    @property
    def system(self) -> TreeSystem:
        """See `Job.system`."""
        return TreeSystem(self.shared_recipe, self.run)

    def about(self, fitted: FittedParser) -> dict[str, Any]:
        """See `Job.about`."""
        return {}

    def save(self, fitted: FittedParser, about: dict[str, Any], path: Path) -> None:
        """See `Job.save`."""
        for note in fitted.notes():
            self.run.tell(note)
        save_model(replace(fitted.model, about=about), path)
        score = "" if fitted.outcome.score is None else f", dev UAS {fitted.outcome.score:.4f}"
        self.run.tell(f"{path}: {fitted.outcome.iterations} iterations{score}")
