"""All trainings of a pair of corpora: what each model says of the texts that others, or tables, ask for.

Every training is a result of its own in the cache, described by what it depends on, so methods share what they have in
common, and a command that was killed goes on at the training where it was. What a model says is kept, not the model.
Where a cheap model has to say something of another text later, it is fitted again.

| step | learns from | with columns |
|---|---|---|
| `source_tagger` | source | |
| `tagger` | target | |
| `folds` | the target, less one fold that it labels | |
| `guided` | target | source |
| `pieces` | target | target, source |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from reproductions.lab.cache import Cache, Result
from reproductions.lab.corpora import digest
from reproductions.lab.tagged_words import Labels, answered_words, character_labels, without_tags
from reproductions.sun_wan_2012.levels import Columns, Shown, Trainer, trained
from reproductions.sun_wan_2012.methods import Method
from reproductions.sun_wan_2012.pair import Pair
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import SILENCE, Callback, Run
from tagweave.training.cascades.jackknife import Member, members
from tagweave.training.fit.problem import Fitted

Asked = tuple[str, ...]
"""Names of texts: `dev`, `test`, `target`, `source`."""


@dataclass(frozen=True)
class Cascade:
    """The trainings of a pair.

    Attributes:
        pair: the corpora.
        seed: of the order of sentences, of folds, and of what is drawn.
        cache: where results are kept.
        threads: of every training.
        callback: is told of every iteration.
    """

    pair: Pair
    seed: int
    cache: Cache
    threads: int = 1
    callback: Callback = SILENCE

    def result(self, method: Method) -> Result:
        """What a method says of the gold texts, and what its last training cost.

        Returns:
            `labels` and `weights` (how many), `history` (the loss of every iteration), `seconds`; by the name of every
            text that was asked for, of every sentence the words and tags as one string (`answers.answer`).

        Raises:
            CorpusError: a damaged file in the cache; and as `fit`.
            KeyboardInterrupt: the user stopped a training.
        """
        if method.level == "characters":
            return self.tagger()
        return self.guided() if method.level == "guided" else self.pieces(method.tags)

    # the trainings

    def source_tagger(self) -> Result:
        """The tagger of the source guideline, asked for all of the target corpus."""

        def train() -> Fitted:
            return self._trainer.characters([self.pair.source])

        return self._step("source tagger", ("source",), self._texts("target", *self.pair.gold), train)

    def tagger(self) -> Result:
        """The tagger of characters."""

        def train() -> Fitted:
            return self._trainer.characters([self.pair.target])

        return self._step("tagger", ("target",), self._texts(*self.pair.gold), train)

    def guided(self) -> Result:
        """Feature stacking."""

        def train() -> Fitted:
            return self._trainer.guided(self.pair.target, self._source_column("target"))

        texts = self._texts(*self.pair.gold)
        return self._step("feature stacking", ("target", "source"), texts, train, self._source_column)

    def pieces(self, tags: bool = True) -> Result:
        """Sub-word tagging, with the tags of the source tagger or its words alone."""

        def columns(text: str) -> Columns:
            source = self._source_column(text)
            shown = source if tags else {name: without_tags(labels) for name, labels in source.items()}
            return {**self._target_column(text), **shown}

        def train() -> Fitted:
            return self._trainer.pieces([(self.pair.target, columns("target"))])

        how = {"tags": tags, "folds": self.pair.folds}
        return self._step("sub-word", ("target", "source"), self._texts(*self.pair.gold), train, columns, how)

    def folds(self) -> Labels:
        """What taggers of the other folds say of the characters of the target corpus."""
        lines: dict[Member, str] = {}
        for number, held_out in enumerate(members([self.pair.target], self.pair.folds, self.seed)):
            lines.update(zip(held_out, self._fold(held_out, number), strict=True))
        every = [lines[Member(0, at)] for at in range(len(self.pair.target))]
        return self._labels(self.pair.target, every, self.pair.target.guideline)

    def _fold(self, held_out: Sequence[Member], number: int) -> list[str]:
        target, away = self.pair.target, {member.sentence for member in held_out}
        rest = target.with_sentences(sentence for at, sentence in enumerate(target) if at not in away)
        texts = {"held out": target.with_sentences(target[member.sentence] for member in held_out)}

        def train() -> Fitted:
            return self._trainer.characters([rest])

        name = f"fold {number + 1} of {self.pair.folds} of target"
        lines: list[str] = self._step(name, ("target",), texts, train)["held out"]
        return lines

    # what they are shown

    def _texts(self, *names: str) -> dict[str, Corpus]:
        return {name: self._text(name) for name in names}

    def _text(self, name: str) -> Corpus:
        return self.pair.target if name == "target" else self.pair.gold[name]

    def _source_column(self, text: str) -> Columns:
        """What the tagger of the source guideline says."""
        guideline = self.pair.source.guideline
        return {guideline: self._labels(self._text(text), self.source_tagger()[text], guideline)}

    def _target_column(self, text: str) -> Columns:
        """What the tagger of characters says, or of its own training text taggers that have not seen it."""
        guideline = self.pair.target.guideline
        if text == "target":
            return {guideline: self.folds()}
        return {guideline: self._labels(self._text(text), self.tagger()[text], guideline)}

    def _labels(self, text: Corpus, lines: Sequence[str], guideline: str) -> Labels:
        return character_labels(answered_words(text, lines, guideline), self.pair.recipe.task)

    # how a training is kept

    @cached_property
    def _trainer(self) -> Trainer:
        recipe = self.pair.recipe
        recipe = replace(recipe, settings={**recipe.settings, "seed": self.seed}, threads=self.threads)
        return Trainer(recipe, Run(self.pair.schedule, self.callback))

    def _step(
        self,
        name: str,
        needs: Asked,
        texts: dict[str, Corpus],
        train: Callable[[], Fitted],
        columns: Callable[[str], Columns] = lambda _text: {},
        how: dict[str, Any] | None = None,
    ) -> Result:
        """A training: what it says of texts, from the cache or from a run."""

        def shown() -> Shown:
            return {name: (text, columns(name)) for name, text in texts.items()}

        recipe = {key: value for key, value in self._trainer.recipe.to_json().items() if key != "threads"}
        description = {
            "step": name,
            **(how or {}),
            "recipe": recipe,
            "iterations": self.pair.schedule.iterations,
            "trained on": {text: self.pair.digests[text] for text in needs},
            "asked": {name: digest(text) for name, text in texts.items()},
            "seed": self.seed,
        }
        return self.cache.result(
            f"{self.pair.name} {name} {self.seed}", description, lambda: trained(train, shown, self.threads)
        )


def cells(cache: Cache, threads: int, callback: Callback) -> Callable[[Pair, Method, int], Result]:
    """As `reproductions.lab.study.Study.cells`."""
    return lambda pair, method, seed: Cascade(pair, seed, cache, threads, callback).result(method)
