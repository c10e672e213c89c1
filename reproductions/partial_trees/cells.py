"""The cells of the experiment: a method on what is left of a treebank, trained, and its heads of dev and test.

A cell keeps heads, not scores, so that measures may change without training again. No text is stored.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

from reproductions.lab.cache import Cache, Result
from reproductions.lab.cell import finished
from reproductions.partial_trees.local import fit_local
from reproductions.partial_trees.settings import (
    DISCARD,
    Kept,
    Method,
    Partial,
    heads_of,
    keep,
    random_heads,
    uncertain_heads,
)
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import ratio
from tagweave.learning.run import SILENCE, Callback, Run, Schedule
from tagweave.models.tree import TreePredictor
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task


class Trained(NamedTuple):
    """A parser and what it was trained on.

    Attributes:
        fitted: the parser.
        corpus: the trees, after filling in.
        known: how many heads of these were given.
        seconds: of processor time for this training, and for the one that it builds on.
    """

    fitted: Fitted
    corpus: Corpus
    known: int
    seconds: float


@dataclass
class Cells:
    """The cells of all methods, from the cache or from a training.

    The last parser of every method is held, since others fill in by it.
    """

    cache: Cache
    threads: int = 1
    callback: Callback = SILENCE
    _held: dict[str, tuple[Result, Trained]] = field(default_factory=dict)
    _warm: set[Method] = field(default_factory=set)

    def __call__(self, given: Partial, method: Method, seed: int) -> Result:
        """The result of a method.

        Returns:
            `dev` and `test`, of every sentence its heads as one string; `history` (UAS on dev of every iteration),
            `seconds` (processor time of all its trainings), `sentences` and `known` (heads) that it was given, `unused`
            (sentences that no projective tree agrees with), and `filled`: of the heads that were filled in the share
            that is right, `None` without any.

        Raises:
            CorpusError: a damaged file in the cache; and as `fit`.
            KeyboardInterrupt: the user stopped a training.
        """
        name = f"{given.bank.name} {method.name} {seed}"
        return self.cache.result(name, describe(given, method, seed), lambda: self._run(given, method, seed))

    def _run(self, given: Partial, method: Method, seed: int) -> Result:
        found = self.trained(given, method, seed)
        outcome, parts = found.fitted.outcome, given.bank.parts
        return {
            "history": [each.score for each in outcome.history],
            "seconds": found.seconds,
            "sentences": len(found.corpus),
            "known": found.known,
            "unused": sum(int(note.split()[0]) for note in found.fitted.notes if "left out" in note),
            "filled": None if method.first is None else self._filled(given, found.corpus, seed),
            "dev": self._heads(found.fitted, parts.dev),
            "test": self._heads(found.fitted, parts.test),
        }

    def trained(self, given: Partial, method: Method, seed: int) -> Trained:
        """The parser of a method, from a training unless it is the last one of this method."""
        key = describe(given, method, seed)
        held = self._held.get(method.name)
        if held is None or held[0] != key:
            self._held[method.name] = held = key, self._train(given, method, seed)
        return held[1]

    def evidence(self, given: Partial, seed: int) -> Corpus:
        """The training sentences with the heads that are kept."""
        return keep(given.bank.parts.train, self._kept(given, seed), given.whole)

    def _kept(self, given: Partial, seed: int) -> list[Kept]:
        train = given.bank.parts.train
        if not given.uncertain:
            return random_heads(train, given.share, seed)
        return uncertain_heads(self.trained(given, DISCARD, seed).fitted.model, train, given.share)

    def _train(self, given: Partial, method: Method, seed: int) -> Trained:
        if method.whole_only:
            train = given.bank.parts.train
            corpus = train.with_sentences(train.sentences[: given.whole])
        else:
            corpus = self.evidence(given, seed)
        known, before = sum(head >= 0 for heads in heads_of(corpus) for head in heads), 0.0
        if method.first is not None:
            first = self.trained(given, method.first, seed)
            corpus = corpus.with_sentences(TreePredictor(first.fitted.model, self.threads).complete(corpus))
            before = first.seconds
        self._warm_up(given, method, corpus)
        begin = time.process_time()
        fitted = finished(
            self._fit(corpus, given.bank.parts.dev, method, seed, Run(given.bank.schedule, self.callback))
        )
        return Trained(fitted, corpus, known, before + time.process_time() - begin)

    def _warm_up(self, given: Partial, method: Method, corpus: Corpus) -> None:
        """Have the kernels compiled, or read, before time is taken."""
        if method not in self._warm:
            some = corpus.with_sentences(corpus.sentences[:50])
            self._fit(some, given.bank.parts.dev, method, 0, Run(Schedule(1)))
            self._warm.add(method)

    def _fit(self, corpus: Corpus, dev: Corpus, method: Method, seed: int, run: Run) -> Fitted:
        recipe = Recipe(Task("parse"), learner=method.learner, settings={"seed": seed}, threads=self.threads)
        return fit_local(corpus, recipe, dev, run) if method.local else fit([corpus], recipe, dev, run)

    def _heads(self, fitted: Fitted, gold: Corpus) -> list[str]:
        parsed = gold.with_sentences(TreePredictor(fitted.model, self.threads).parse(gold))
        return [" ".join(map(str, heads)) for heads in heads_of(parsed)]

    def _filled(self, given: Partial, completed: Corpus, seed: int) -> float:
        """How many of the heads that were unknown are right after filling in, as a share."""
        sides = (heads_of(each) for each in (self.evidence(given, seed), completed, given.bank.parts.train))
        right = [
            found == gold
            for sentence in zip(*sides, strict=True)
            for old, found, gold in zip(*sentence, strict=True)
            if old < 0
        ]
        return ratio(sum(right), len(right))


def describe(given: Partial, method: Method, seed: int) -> Result:
    """What a result depends on. Where partial trees are dropped anyway, it is the same whatever they keep."""
    kept = [given.share, given.uncertain]
    first = method.first and describe(given, method.first, seed)
    return {
        "texts": given.bank.digests,
        "budget": [given.bank.schedule.iterations, given.bank.schedule.patience],
        "given": [given.whole, *([] if method.whole_only else kept)],
        "method": [method.name, method.learner, method.whole_only, method.local, first],
        "seed": seed,
    }
