"""The methods of `tagweave train`: what is made of corpora of one guideline, or of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tagweave.adapt.contradictions import refuse_contradictions
from tagweave.adapt.coupled import fit_mappings, for_bundles, mappings_by, prepare_coupled
from tagweave.adapt.fit import Fitted, Problem, fit_problem, prepare
from tagweave.adapt.guided import fit_stages, merged
from tagweave.adapt.guided_rounds import fit_guided_in_rounds
from tagweave.adapt.incomplete import treated
from tagweave.adapt.pruning import Pruning, fit_pruning, with_proposals
from tagweave.adapt.recipe import Recipe
from tagweave.adapt.sample import by_words
from tagweave.adapt.sequences import Sequences
from tagweave.adapt.subword import Stacking, fit_stack
from tagweave.cli.comparison import PLAIN
from tagweave.cli.coupling import CouplingOptions
from tagweave.cli.errors import OptionError
from tagweave.cli.guidelines import COUPLED, GUIDED, ITERATE, MERGED, ORDINARY, SUBWORD, TRANSFORM, TrainingData
from tagweave.cli.lexicons import LexiconFiles
from tagweave.cli.printing import say
from tagweave.cli.progress import watched
from tagweave.cli.summary import mapping_lines, sample_line, summary, weights_by_view
from tagweave.cli.transformation import Transformation, told, transformed
from tagweave.corpus.corpus import Corpus
from tagweave.labels.mapping import TagMapping
from tagweave.learning.loop import Schedule, Watcher
from tagweave.models.storage import save_model

_OPTIONS = {
    "incomplete": (ORDINARY,),
    "sample": (ORDINARY, COUPLED, MERGED),
    "folds": (SUBWORD,),
    "retrain": (SUBWORD,),
    "guide": (GUIDED, TRANSFORM, ITERATE),
    "rounds": (GUIDED, ITERATE),
    "predict-self": (ITERATE,),
    "filter": (ITERATE,),
    "lexicon": (ORDINARY, MERGED),
}
"""The methods for which an option is; the others are for `coupled`."""
OF_ROUNDS = "a guided model of several rounds is for conversion"
"""Why a model of several rounds is not held against a plain one."""


@dataclass(frozen=True)
class Work:
    """A training run whose corpora are loaded.

    Attributes:
        data: the training corpora, and the method.
        dev: development data.
        recipe: how every model is fitted; its sample is in the order of the corpora.
        coupling: for the method `coupled`.
        incomplete: a strategy, for the method `ordinary`.
        seed: of that strategy.
        stacking: for the method `subword`.
        transformation: for the method `iterate`.
        log: where iterations are written as JSON lines.
        lexicons: whose words are features.
        rounds: for the method `guided`.
        schedule: when training stops, and checkpoints.
        plain: the model of TRAIN alone, if there is one.
    """

    data: TrainingData
    dev: Corpus | None
    recipe: Recipe
    coupling: CouplingOptions
    incomplete: str
    seed: int
    stacking: Stacking
    transformation: Transformation
    log: str | None
    lexicons: LexiconFiles
    rounds: int = 1
    schedule: Schedule = field(default_factory=Schedule)
    plain: Fitted | None = None

    @property
    def incomparable(self) -> str:
        """As `TrainingData.incomparable`; and a model that trusts given labels is no better for text that has none."""
        return OF_ROUNDS if self._of_rounds else self.data.incomparable(self.dev)

    def alone(self) -> Work:
        """The run that makes an ordinary model of TRAIN."""
        recipe, schedule = replace(self.recipe, sample=()), self.schedule.of_part(PLAIN)
        return replace(self, data=self.data.alone, recipe=recipe, schedule=schedule)

    def beside(self, plain: Fitted) -> Work:
        """The same run, after that of the plain model."""
        return replace(self, plain=plain)

    def identity(self) -> tuple[Any, ...]:
        """What, beside the corpora, decides which weights an iteration reaches."""
        method = self.data.method, self.coupling.to_json(), self.stacking.about(), self.transformation.to_json()
        return self.recipe.to_json(), *method, self.incomplete, self.seed, *self.lexicons.digests, *self._of_rounds

    def about(self, fitted: Fitted) -> dict[str, Any]:
        """What a model keeps of the way in which it was trained."""
        weights = {"weights": weights_by_view(fitted.model.structure)}
        own = {"method": self.data.method, "incomplete": self.incomplete, "seed": self.seed, **self.lexicons.about()}
        of_method = {COUPLED: self.coupling.about(), SUBWORD: self.stacking.about()}
        rounds = {"round": self.rounds} if self._of_rounds else {}
        return {**own, **of_method.get(self.data.method, {}), **rounds, **weights}

    @property
    def _of_rounds(self) -> tuple[int, ...]:
        """How often the labels that guide are bettered, where they are."""
        return (self.rounds,) if self.data.method == GUIDED and self.rounds > 1 else ()

    def save(self, fitted: Fitted, about: dict[str, Any], path: Path) -> None:
        """Write the model, with what it tells of itself, and say what it came to.

        Raises:
            OSError: it cannot be written.
        """
        save_model(replace(fitted.model, about=about), path)
        score = "" if fitted.outcome.score is None else f", dev {fitted.outcome.score:.4f}"
        say(f"{path}: {fitted.outcome.iterations} iterations{score}")

    def check(self) -> None:
        """Refuse corpora from which some step of the training could not learn, before the first one begins.

        Raises:
            OptionError: a mapping of other guidelines.
            CorpusError, MappingError: as `refuse_contradictions`.
        """
        if self.data.has_sources:
            mappings = self.coupling.coupling(self.data.guidelines).mappings if self.data.method == COUPLED else ()
            refuse_contradictions(self.data.corpora, self.recipe, mappings)

    def fitted(self) -> Fitted:
        """The model of the method.

        Raises:
            CorpusError, TrainingError, MappingError: as the method of `tagweave.adapt`.
            KeyboardInterrupt: the user stopped it before the model itself was begun.
        """
        method: dict[str, Callable[[], Fitted]] = {
            ORDINARY: self._ordinary,
            COUPLED: self._coupled,
            GUIDED: self._guided,
            MERGED: self._merged,
            SUBWORD: self._subword,
            TRANSFORM: self._transformed,
            ITERATE: self._iterated,
        }
        return method[self.data.method]()

    def _ordinary(self) -> Fitted:
        words = self.lexicons.words
        corpora, recipe = treated(
            self.incomplete, self.data.corpora, self.recipe, self.dev, self.schedule, self.seed, words
        )
        return self._fit(prepare(corpora, recipe, encoder=recipe.encoder(words)), corpora, recipe)

    def _merged(self) -> Fitted:
        """The target's corpora come first, and the numbers of the sample go with them."""
        target, given = self.data.target, self.data.corpora
        order = sorted(range(len(given)), key=lambda i: given[i].guideline != target)
        recipe = replace(self.recipe, sample=tuple(self.recipe.sample[i] for i in order if self.recipe.sample))
        corpora = merged(self.data.targets, self.data.sources)
        problem = prepare(corpora, recipe, encoder=recipe.encoder(self.lexicons.words))
        return self._fit(problem, corpora, recipe)

    def _guided(self) -> Fitted:
        data = self.data
        if self._of_rounds:
            with self._sequences() as system:
                targets, sources, step = data.targets, data.sources, told(say)
                return fit_guided_in_rounds(system, targets, sources, self.dev, self.rounds, announce=step)
        say(f"first a model of {data.guidelines[1]}, then one of {data.target} that looks at its labels")
        with self._watched() as watcher:
            return fit_stages(
                data.targets, data.sources, self.recipe, self.dev, self.schedule, watcher, announce=self._announce
            )

    def _subword(self) -> Fitted:
        data = self.data
        with self._watched() as watcher:
            return fit_stack(
                data.targets,
                data.sources,
                self.recipe,
                self.stacking,
                self.dev,
                self.schedule,
                watcher,
                step=say,
                announce=self._announce,
            )

    def _transformed(self) -> Fitted:
        with self._sequences() as system:
            return transformed(system, self.data.targets, self.data.sources, self.dev, say)

    def _iterated(self) -> Fitted:
        with self._sequences() as system:
            return self.transformation.iterated(system, self.data.targets, self.data.sources, self.dev, say)

    @contextmanager
    def _sequences(self) -> Iterator[Sequences]:
        with self._watched() as watcher:
            yield Sequences(self.recipe, self.schedule, watcher, self._announce)

    def _coupled(self) -> Fitted:
        data = self.data
        automatic = self._automatic() if self.coupling.automatic else ()
        coupling = self.coupling.coupling(data.guidelines, automatic, data.corpora)
        corpora, pruning = self._pruned()
        problem = prepare_coupled(corpora, self.recipe, coupling, pruning)
        recipe = for_bundles(self.recipe, len(problem.model.structure.space))
        for line in mapping_lines(problem, coupling.mappings):
            say(line)
        return self._fit(problem, data.corpora, recipe, goes_on=bool(automatic or pruning))

    def _pruned(self) -> tuple[Sequence[Corpus], Pruning | None]:
        """The corpora with what comes into question where, and who said so."""
        corpora, threshold = self.data.corpora, self.coupling.prune
        if threshold is None:
            return corpora, None
        say(
            f"first models of {' and '.join(self.data.guidelines)}, which say what labels are likely:"
            f" those of probability {threshold:g}"
        )
        with self._watched(goes_on=self.coupling.automatic) as watcher:
            pruning = fit_pruning(corpora, self.recipe, threshold, watcher, say)
        return with_proposals(corpora, self.recipe, pruning, say), pruning

    def _automatic(self) -> tuple[TagMapping, ...]:
        """The automatic mapping of the target and every other guideline."""
        data, minimum = self.data, self.coupling.minimum
        if self.plain and len(data.targets) == data.own:
            say(f"the plain model labels the other corpora, for the automatic mapping of {data.target} and their tags")
            mappings = mappings_by(self.plain.model, data.corpora, self.recipe, minimum)
        else:
            mappings = self._mappings_by_a_tagger(minimum)
        for mapping in mappings:
            say(f"automatic mapping of {mapping.first} and {mapping.second}: {len(mapping.counts):,} pairs of tags")
        return mappings

    def _mappings_by_a_tagger(self, minimum: int | None) -> tuple[TagMapping, ...]:
        data = self.data
        dev = self.dev if self.dev and self.dev.guideline == data.target else None
        say(f"first a model of {data.target}, whose labels of the other corpora give the automatic mapping")
        with self._watched() as watcher:
            return fit_mappings(
                data.targets, data.sources, self.recipe, minimum, dev, self.schedule, watcher, self._announce
            )

    def _fit(self, problem: Problem, corpora: Sequence[Corpus], recipe: Recipe, goes_on: bool = False) -> Fitted:
        """Tell of a problem and fit it; `goes_on`: after another one, whose log it continues."""
        self._announce(problem)
        if recipe.sample or self.data.method != ORDINARY:
            say(sample_line(corpora, recipe.sample))
        with self._watched(goes_on) as watcher:
            return fit_problem(problem, recipe, self.dev, self.schedule, watcher)

    def _announce(self, problem: Problem) -> None:
        for line in summary(problem, self.recipe):
            say(line)

    def _watched(self, goes_on: bool = False) -> AbstractContextManager[Watcher]:
        return watched(self.log, self.schedule.resume or goes_on or self.plain is not None)


def check_options(method: str, given: Mapping[str, object]) -> None:
    """Nothing, if all options that are given are for the method.

    Raises:
        OptionError: one is for others.
    """
    for option, value in given.items():
        expected = _OPTIONS.get(option, (COUPLED,))
        if value and method not in expected:
            raise OptionError(f"found --{option} with the method {method}, expected {' or '.join(expected)}")


def usual_sample(data: TrainingData) -> list[int]:
    """The sentences of each corpus that an iteration visits where nothing else is asked for; none for methods that do
    not sample: they visit all.

    It is all of the target, and of a source so many that it has about as many words: on ZX and People's Daily better
    than three times as many, as in li-2015 (5.1, where sentences of both are equally long).
    """
    if data.method not in (COUPLED, MERGED):
        return []
    sizes, targets = by_words(data.targets, data.sources), len(data.targets)
    of_target, of_source = iter(sizes[:targets]), iter(sizes[targets:])
    return [next(of_target if each.guideline == data.target else of_source) for each in data.corpora]
