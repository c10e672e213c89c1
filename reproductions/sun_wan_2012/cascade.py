"""All trainings of a pair of corpora: what each model says of the texts that others, or tables, ask for.

Every training is a result of its own in the cache, described by what it depends on, so methods share what they have in
common, and a command that was killed goes on at the training where it was. What a model says is kept, not the model.
Where a cheap model has to say something of another text later, it is fitted again.

| step | learns from | with columns |
|---|---|---|
| `source_tagger` | source | |
| `tagger` | target; again: and D' | |
| `folds` | the same, or the source, less one fold that it labels | |
| `guided` | target | source |
| `pieces` | target; again: and D'' | target, source |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from reproductions.lab.cache import Cache, Result
from reproductions.lab.cell import finished
from reproductions.lab.corpora import drawn, share_of
from reproductions.lab.tagged_words import Labels, answered_words, character_labels, without_tags
from reproductions.sun_wan_2012.levels import Columns, Sample, Shown, Trainer, trained
from reproductions.sun_wan_2012.likeness import ALIKE, RANDOM, label_likeness, most, text_likeness
from reproductions.sun_wan_2012.methods import Method
from reproductions.sun_wan_2012.pair import Pair
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import SILENCE, Callback, Run
from tagweave.training.fit import Fitted
from tagweave.training.jackknife import Member, members
from tagweave.training.recipe import by_words

Asked = tuple[str, ...]
"""Names of texts: `dev`, `test`, `given` (that of `test`, with its source annotation), `target`, `source`."""


@dataclass(frozen=True)
class Cascade:
    """The trainings of a pair, with a share of each corpus.

    Attributes:
        pair: the corpora.
        seed: of the order of sentences, of folds, and of what is drawn.
        cache: where results are kept.
        threads: of every training.
        callback: is told of every iteration.
        target_share, source_share: of the training sentences.
        times, like, kept: of what is relabelled, as in `Method`.
    """

    pair: Pair
    seed: int
    cache: Cache
    threads: int = 1
    callback: Callback = SILENCE
    target_share: float = 1.0
    source_share: float = 1.0
    times: float = 0.0
    like: str = ""
    kept: float = 1.0

    def result(self, method: Method) -> Result:
        """What a method says of the gold texts, and what its last training cost.

        Returns:
            `labels` and `weights` (how many), `history` (the loss of every iteration), `seconds`; by the name of every
            text that was asked for, of every sentence the words and tags as one string (`answers.answer`).

        Raises:
            CorpusError: a damaged file in the cache; and as `fit`.
            KeyboardInterrupt: the user stopped a training.
        """
        own = replace(self, target_share=method.target, source_share=method.source)
        own = replace(own, times=method.times, like=method.like, kept=method.kept)
        if method.level == "characters":
            return own.tagger(method.characters)
        if method.level == "guided":
            return own.guided()
        return own.pieces(method.characters, method.pieces, method.tags)

    # the trainings

    def source_tagger(self) -> Result:
        """The tagger of the source guideline, asked for all of the target corpus: of which a share may be taken."""
        whole = replace(self, target_share=1.0)
        return whole._step("source tagger", ("source",), ("target", *self._gold), self._of_source)

    def tagger(self, again: bool = False, asked: Asked = ()) -> Result:
        """The tagger of characters; `again`: from D' too. That one is expensive and always asked for everything."""
        needs = ("target", "source") if again else ("target",)
        asked = (*self._gold, "source") if again and not self.like else asked or self._gold

        def train() -> Fitted:
            corpora = self._training(again)
            return self._trainer.characters(corpora, self._sample(corpora))

        return self._step("tagger", needs, asked, train, how=self._how(again))

    def guided(self, asked: Asked = ()) -> Result:
        """Feature stacking."""

        def train() -> Fitted:
            return self._trainer.guided(self.target, self._source_column("target"))

        return self._step("feature stacking", ("target", "source"), asked or self._shown, train, self._source_column)

    def pieces(self, characters: bool = False, more: bool = False, tags: bool = True, asked: Asked = ()) -> Result:
        """Sub-word tagging; `characters` and `more` as `characters` and `pieces` of `Method`."""

        def columns(text: str) -> Columns:
            source = self._source_column(text)
            shown = source if tags else {name: without_tags(labels) for name, labels in source.items()}
            return {**self._target_column(text, characters), **shown}

        def train() -> Fitted:
            corpora = [(self.target, columns("target")), *([self._converted_pieces(characters)] if more else [])]
            return self._trainer.pieces(corpora, self._sample([corpus for corpus, _ in corpora]))

        how: dict[str, Any] = {"characters": characters, "pieces": more, "tags": tags, "folds": self.pair.folds}
        how |= {"large_folds": self.pair.large_folds} if characters or more else {}
        how |= self._how(characters or more)
        return self._step("sub-word", ("target", "source"), asked or self._shown, train, columns, how=how)

    def folds(self, corpora: Asked) -> list[Labels]:
        """What taggers of the other folds say of the characters of corpora, which are trained on together.

        Args:
            corpora: ("target",), ("source",), or both, with D' in place of the source.
        """
        training = [self.source] if corpora == ("source",) else self._training("source" in corpora)
        count = self.pair.folds if corpora == ("target",) else self.pair.large_folds
        found: dict[Member, str] = {}
        for number, held_out in enumerate(members(training, count, self.seed)):
            found.update(zip(held_out, self._fold(corpora, training, held_out, number, count), strict=True))
        own = [[found[Member(c, s)] for s in range(len(corpus))] for c, corpus in enumerate(training)]
        return [self._labels(corpus, lines, corpus.guideline) for corpus, lines in zip(training, own, strict=True)]

    def _fold(
        self, corpora: Asked, training: Sequence[Corpus], held_out: Sequence[Member], number: int, count: int
    ) -> list[str]:
        away = set(held_out)
        others = [
            corpus.with_sentences(each for s, each in enumerate(corpus) if Member(c, s) not in away)
            for c, corpus in enumerate(training)
        ]
        text = training[0].with_sentences(training[at.corpus][at.sentence] for at in held_out)
        name = f"fold {number + 1} of {count} of {' and '.join(corpora)}"
        again = len(training) > 1

        def train() -> Fitted:
            return self._trainer.characters(others, self._sample(training))

        found = self._step(name, corpora, (), train, texts={"held out": text}, how=self._how(again))
        lines: list[str] = found["held out"]
        return lines

    # what they learn from

    @cached_property
    def target(self) -> Corpus:
        """The target corpus, or its share."""
        return self.pair.target.with_sentences(drawn(self.pair.target.sentences, self.target_share, self.seed))

    @cached_property
    def source(self) -> Corpus:
        """The source corpus, or its share."""
        return self.pair.source.with_sentences(drawn(self.pair.source.sentences, self.source_share, self.seed))

    def _of_source(self) -> Fitted:
        return self._trainer.characters([self.source])

    def _training(self, again: bool) -> list[Corpus]:
        return [self.target, self._converted] if again else [self.target]

    @cached_property
    def _converted(self) -> Corpus:
        """D' of section 5: the source corpus as feature stacking relabels it, given its own annotation; or a share."""
        found = answered_words(self.source, self.guided(("source",))["source"], self.target.guideline)
        if self.like == RANDOM:
            return share_of(found, self.kept, self.seed)
        return most(found, self._likeness(found), self.kept) if self.like else found

    def _likeness(self, relabelled: Corpus) -> list[float]:
        """How like the target each sentence is."""

        def compute() -> Result:
            if self.like == ALIKE:
                return {"scores": text_likeness(relabelled, self.target)}
            tagger = finished(self._trainer.characters([self.target])).model
            return {"scores": label_likeness(relabelled, tagger, self.pair.recipe.task, self.threads)}

        description = self._description("likeness", ("target", "source"), (), {"like": self.like})
        scores: list[float] = self.cache.result(f"{self.pair.name} likeness {self.seed}", description, compute)[
            "scores"
        ]
        return scores

    def _converted_pieces(self, characters: bool) -> tuple[Corpus, Columns]:
        """D'' of section 5: as sub-word tagging relabels it. In its columns is noise, as there will be in use."""
        found = self.pieces(characters, asked=("source",))["source"]
        if characters:
            own: Columns = {self.target.guideline: self.folds(("target", "source"))[1]}
        else:
            own = self._target_column("source", characters)  # of a tagger that has not seen this text
        (noisy,) = self.folds(("source",))
        return answered_words(self.source, found, self.target.guideline), {**own, self.source.guideline: noisy}

    # what they are shown

    def _text(self, name: str) -> Corpus:
        own = {"target": self.target, "source": self.source, "given": self.pair.given}.get(name)
        return self.pair.gold[name] if own is None else own

    def _texts(self, names: Asked) -> dict[str, Corpus]:
        return {name: self._text(name) for name in names}

    def _source_column(self, text: str) -> Columns:
        """The source annotation where there is one, else what its tagger says."""
        guideline = self.source.guideline
        if text in ("source", "given"):
            return {guideline: character_labels(self._text(text), self.pair.recipe.task)}
        lines = self.source_tagger()[text]
        lines = list(drawn(lines, self.target_share, self.seed)) if text == "target" else lines
        return {guideline: self._labels(self._text(text), lines, guideline)}

    def _target_column(self, text: str, again: bool) -> Columns:
        """What the tagger of characters says, or its like that has not seen the text."""
        guideline, corpora = self.target.guideline, ("target", "source") if again else ("target",)
        if text == "target":
            return {guideline: self.folds(corpora)[0]}
        found = self.tagger(again, ("source",) if text == "source" else ())
        return {guideline: self._labels(self._text(text), found["test" if text == "given" else text], guideline)}

    def _labels(self, text: Corpus, lines: Sequence[str], guideline: str) -> Labels:
        return character_labels(answered_words(text, lines, guideline), self.pair.recipe.task)

    # how a training is kept

    @property
    def _gold(self) -> Asked:
        return tuple(self.pair.gold)

    @property
    def _shown(self) -> Asked:
        return (*self._gold, "given") if self.pair.given else self._gold

    @cached_property
    def _trainer(self) -> Trainer:
        recipe = self.pair.recipe
        recipe = replace(recipe, settings={**recipe.settings, "seed": self.seed}, threads=self.threads)
        return Trainer(recipe, Run(self.pair.schedule, self.callback))

    def _sample(self, corpora: Sequence[Corpus]) -> Sample:
        return by_words(corpora[:1], corpora[1:], self.times) if self.times and len(corpora) > 1 else ()

    def _how(self, again: bool) -> dict[str, Any]:
        """How what is relabelled is sampled, for the description of a training that visits it."""
        sampled = {"times": self.times} if again and self.times else {}
        return {**sampled, **({"like": self.like, "kept": self.kept} if again and self.like else {})}

    def _step(
        self,
        name: str,
        needs: Asked,
        asked: Asked,
        train: Callable[[], Fitted],
        columns: Callable[[str], Columns] = lambda _text: {},
        texts: dict[str, Corpus] | None = None,
        how: dict[str, Any] | None = None,
    ) -> Result:
        """A training: what it says of texts that are asked for, from the cache or from a run."""

        def shown() -> Shown:
            return {each: (text, columns(each)) for each, text in (texts or self._texts(asked)).items()}

        description = self._description(name, needs, asked, how or {})
        file = f"{self.pair.name} {name} {self.seed}"
        return self.cache.result(file, description, lambda: trained(train, shown, self.threads))

    def _description(self, name: str, needs: Asked, asked: Asked, how: dict[str, Any]) -> Result:
        recipe = {key: value for key, value in self._trainer.recipe.to_json().items() if key != "threads"}
        shares = {"target": self.target_share, "source": self.source_share}
        return {
            "step": name,
            **how,
            "recipe": recipe,
            "iterations": self.pair.schedule.iterations,
            "trained on": {each: [self.pair.digests[each], shares[each]] for each in needs},
            "asked": {each: [self.pair.digests[each], shares.get(each, 1.0)] for each in asked},
            "seed": self.seed,
        }


def cells(cache: Cache, threads: int, callback: Callback) -> Callable[[Pair, Method, int], Result]:
    """As `reproductions.lab.study.Study.cells`."""
    return lambda pair, method, seed: Cascade(pair, seed, cache, threads, callback).result(method)
