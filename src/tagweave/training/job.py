"""A job: a plan with its corpora loaded, ready for its method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from tagweave.learning.run import Run
from tagweave.training.lookup_files import LOOKUPS, LookupFiles
from tagweave.training.options import Options

if TYPE_CHECKING:
    from pathlib import Path

    from tagweave.corpus.corpus import Corpus
    from tagweave.training.data import TrainingData
    from tagweave.training.plan import TrainingPlan

Trained = TypeVar("Trained")
MethodOptions = TypeVar("MethodOptions", bound=Options)


@dataclass(frozen=True)
class Job(ABC, Generic[Trained]):
    """A plan with its corpora; the class for each structure knows how to train one model.

    Attributes:
        plan: the plan, with its method and options set.
        data: the training corpora, in the order of the plan.
        dev: development data.
        lookup_files: what features look up.
        run: the run.
        balances: whether an iteration visits no more of a source than of the target, unless the plan has a sample.
        plain: the model of the target corpora alone, if there is one.
    """

    plan: TrainingPlan
    data: TrainingData
    dev: Corpus | None = None
    lookup_files: LookupFiles = field(default_factory=LookupFiles)
    run: Run = field(default_factory=Run)
    balances: bool = False
    plain: Trained | None = None

    def options(self, kind: type[MethodOptions]) -> MethodOptions:
        """The options of the method as this class."""
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

    def beside(self, plain: Trained) -> Self:
        """The same job with the plain model."""
        return replace(self, plain=plain)

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
        from tagweave.training.recipe import in_batches
        from tagweave.training.sample import by_words

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
        from tagweave.training.recipe import LEARNERS

        has_seed = "seed" in [each.name for each in fields(LEARNERS[self.plan.learner])]
        return {**({"seed": self.plan.seed} if has_seed else {}), **self.plan.settings}

    @abstractmethod
    def check(self) -> None:
        """Raise before any training if some step could not learn from the corpora.

        Raises:
            CorpusError, MappingError, PlanError: such a corpus, or a mapping of other guidelines.
        """

    @abstractmethod
    def fit(self, corpora: Sequence[Corpus]) -> Trained:
        """Fit an ordinary model to corpora of one guideline."""

    @abstractmethod
    def fit_guided(self) -> Trained:
        """Fit a model of the target with the annotation of a model of the sources as features."""

    @property
    @abstractmethod
    def system(self) -> Any:
        """The `System` of this structure, for methods with several steps."""

    @abstractmethod
    def about(self, fitted: Trained) -> dict[str, Any]:
        """What the model stores about its training beside the plan."""

    @abstractmethod
    def save(self, fitted: Trained, about: dict[str, Any], path: Path) -> None:
        """Write the model with its `about`, and report its score.

        Raises:
            OSError: it cannot be written.
        """
