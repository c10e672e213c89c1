"""The methods of `tagweave train --task parse`: what is made of treebanks of one guideline, or of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tagweave.adapt.guided import merged
from tagweave.adapt.guided_parsing import fit_guided_parser
from tagweave.adapt.guided_rounds import fit_guided_in_rounds
from tagweave.adapt.parsing import FittedParser, ParserRecipe, fit_parser, usual_templates
from tagweave.adapt.trees import Trees
from tagweave.cli.comparison import PLAIN
from tagweave.cli.errors import OptionError
from tagweave.cli.guidelines import GUIDED, ITERATE, MERGED, ORDINARY, TRANSFORM, TrainingData
from tagweave.cli.methods import OF_ROUNDS
from tagweave.cli.printing import say
from tagweave.cli.progress import watched
from tagweave.cli.transformation import Transformation, told, transformed
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.learning.loop import Schedule, Watcher
from tagweave.models.tree_storage import save_parser


@dataclass(frozen=True)
class ParserWork:
    """A training run of parsers whose corpora are loaded.

    Attributes:
        data: the training corpora, and the method.
        dev: development data.
        recipe: how every parser is fitted.
        seed: of all that is random.
        transformation: for the method `iterate`.
        log: where iterations are written as JSON lines.
        rounds: for the method `guided`.
        schedule: when training stops, and checkpoints.
        plain: the parser of TRAIN alone, if there is one.
    """

    data: TrainingData
    dev: Corpus | None
    recipe: ParserRecipe
    seed: int
    transformation: Transformation
    log: str | None
    rounds: int = 1
    schedule: Schedule = field(default_factory=Schedule)
    plain: FittedParser | None = None

    @property
    def incomparable(self) -> str:
        """As of `methods.Work`."""
        return OF_ROUNDS if self._of_rounds else self.data.incomparable(self.dev)

    def alone(self) -> ParserWork:
        """The run that makes an ordinary parser of TRAIN."""
        return replace(self, data=self.data.alone, schedule=self.schedule.of_part(PLAIN))

    def beside(self, plain: FittedParser) -> ParserWork:
        """The same run, after that of the plain parser."""
        return replace(self, plain=plain)

    def identity(self) -> tuple[Any, ...]:
        """What, beside the corpora, decides which weights an iteration reaches."""
        return self.recipe.to_json(), self.data.method, self.transformation.to_json(), self.seed, *self._of_rounds

    def about(self, fitted: FittedParser) -> dict[str, Any]:
        """What a model keeps of the way in which it was trained."""
        rounds = {"round": self.rounds} if self._of_rounds else {}
        return {"method": self.data.method, "seed": self.seed, **rounds}

    def check(self) -> None:
        """Refuse treebanks from which some step of the training could not learn, before the first one begins.

        Raises:
            CorpusError: no head that is known, or no tags.
        """
        for name in self.data.guidelines:
            own = [corpus for corpus in self.data.corpora if corpus.guideline == name]
            if not any(any(sentence.heads.get(name, ())) for corpus in own for sentence in corpus):
                raise CorpusError("no head that is known", "trees, or parts of trees", own[0].path)
        if self.data.has_sources:
            _ = self._shared

    def fitted(self) -> FittedParser:
        """The parser of the method.

        Raises:
            CorpusError, TrainingError: as the method of `tagweave.adapt`.
            KeyboardInterrupt: the user stopped it before the parser itself was begun.
        """
        method: dict[str, Callable[[Watcher], FittedParser]] = {
            ORDINARY: self._ordinary,
            MERGED: self._merged,
            GUIDED: self._guided,
            TRANSFORM: self._transformed,
            ITERATE: self._iterated,
        }
        with self._watched() as watcher:
            return method[self.data.method](watcher)

    def save(self, fitted: FittedParser, about: dict[str, Any], path: Path) -> None:
        """Write the parser, with what it tells of itself, and say what it came to.

        Raises:
            OSError: it cannot be written.
        """
        for note in fitted.notes():
            say(note)
        save_parser(replace(fitted.model, about=about), path)
        score = "" if fitted.outcome.score is None else f", dev UAS {fitted.outcome.score:.4f}"
        say(f"{path}: {fitted.outcome.iterations} iterations{score}")

    def _ordinary(self, watcher: Watcher) -> FittedParser:
        return self._fit(self.data.corpora, self.recipe, watcher)

    def _merged(self, watcher: Watcher) -> FittedParser:
        return self._fit(merged(self.data.targets, self.data.sources), self._shared, watcher)

    def _guided(self, watcher: Watcher) -> FittedParser:
        """The checkpoint of the guide stays until the end, so that a run that goes on has the same guide."""
        data = self.data
        if self._of_rounds:
            system, say_step = self._system(watcher), told(say)
            return fit_guided_in_rounds(system, data.targets, data.sources, self.dev, self.rounds, announce=say_step)
        say(f"first a parser of {data.guidelines[1]}, then one of {data.target} that looks at its trees")
        _announce(data.sources)
        guide = fit_parser(data.sources, self._shared, None, self.schedule.of_part("source"), watcher)
        if guide.outcome.interrupted:
            raise KeyboardInterrupt
        _announce(data.targets)
        return fit_guided_parser(data.targets, guide.model, self._shared, self.dev, self.schedule, watcher)

    def _transformed(self, watcher: Watcher) -> FittedParser:
        return transformed(self._system(watcher), self.data.targets, self.data.sources, self.dev, say)

    def _iterated(self, watcher: Watcher) -> FittedParser:
        data = self.data
        return self.transformation.iterated(self._system(watcher), data.targets, data.sources, self.dev, say)

    def _system(self, watcher: Watcher) -> Trees:
        return Trees(self._shared, self.schedule, watcher, _announce)

    def _fit(self, corpora: Sequence[Corpus], recipe: ParserRecipe, watcher: Watcher) -> FittedParser:
        _announce(corpora)
        return fit_parser(corpora, recipe, self.dev, self.schedule, watcher)

    @property
    def _of_rounds(self) -> tuple[int, ...]:
        """How often the trees that guide are bettered, where they are."""
        return (self.rounds,) if self.data.method == GUIDED and self.rounds > 1 else ()

    @property
    def _shared(self) -> ParserRecipe:
        """The recipe with templates that look at nothing which any of the corpora lacks."""
        templates = self.recipe.templates or usual_templates(*(corpus.sentences for corpus in self.data.corpora))
        return replace(self.recipe, templates=templates)

    def _watched(self) -> AbstractContextManager[Watcher]:
        return watched(self.log, self.schedule.resume or self.plain is not None)


def check_parsing_options(given: Mapping[str, object]) -> None:
    """Nothing, if no option is given that parsers do not have.

    Raises:
        OptionError: one is.
    """
    for option, value in given.items():
        if value:
            raise OptionError(f"found --{option} with the task parse, expected it without: it is for tags and words")


def check_labelling_options(drop_columns: float | None) -> None:
    """Nothing, if no option is given that parsers alone have.

    Raises:
        OptionError: one is.
    """
    if drop_columns is not None:
        raise OptionError("found --drop-columns without the task parse, expected it with --task parse")


def _announce(corpora: Sequence[Corpus]) -> None:
    """Tell how much there is to learn from."""
    layers = [s.heads.get(corpus.guideline, ()) for corpus in corpora for s in corpus]
    evidence = [layer for layer in layers if any(layer)]
    tokens, known = sum(map(len, evidence)), sum(sum(map(bool, layer)) for layer in evidence)
    say(f"{len(evidence):,} sentences with evidence, {tokens:,} tokens ({known:,} with evidence)")
