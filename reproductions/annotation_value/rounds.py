"""Rounds of annotation with gold as the annotator: tokens are asked for, a model learns from the answers, and asks on.

Nothing of the target's annotation is used but the answers. The source corpus is there from the start: its tagger asks
in the first round.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.selection import UncertainTokens, least_certain, priorities
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.templates import PRESETS
from tagweave.labels.mapping import SHIPPED, TagMapping, count_pairs, read_mapping
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.coupled import Coupling, fit_coupled
from tagweave.training.fit import fit
from tagweave.training.guided import fit_guided
from tagweave.training.recipe import Recipe

CHOICES = ("in proportion", "least certain", "random")
"""Drawn in proportion to noise, the least certain first, any."""
METHODS = ("two-stage", "coupled")


@dataclass(frozen=True)
class Data:
    """What is there.

    Attributes:
        name: in the page.
        target: whose tokens are asked for; its annotation is the answers.
        test: of the target's guideline.
        source: fully annotated under another guideline.
        budget: iterations of every training; no development data choose among them, for there are none yet.
        sample: how many sentences of the source an iteration of the coupled model visits.
    """

    name: str
    target: Corpus
    test: Corpus
    source: Corpus
    budget: int = 8
    sample: int = 500


@dataclass(frozen=True)
class Pool:
    """The tokens that may be asked for.

    Attributes:
        data: where they are from.
        guide: a tagger of the source's guideline.
        raw: the sentences of the target, with what that tagger says of them.
    """

    data: Data
    guide: ChainModel
    raw: tuple[Sentence, ...]

    @classmethod
    def of(cls, data: Data, seed: int) -> Pool:
        """Train the tagger of the source, and apply it."""
        recipe = Recipe(templates=PRESETS["li-2015"], settings={"seed": seed, "batch": 16, "initial": 1e-8})
        guide = fit([data.source], recipe, run=Run(Schedule(data.budget))).model
        bare = (Sentence(sentence.forms, location=sentence.location) for sentence in data.target)
        return cls(data, guide, tuple(ChainPredictor(guide).tag(bare)))

    @property
    def begins(self) -> NDArray[np.int64]:
        """int64[S + 1]: the first token of every sentence, counted over all."""
        return np.cumsum([0, *map(len, self.raw)])

    def told(self, known: NDArray[np.bool_], sentences: Sequence[Sentence]) -> list[Sentence]:
        """Sentences of the target with the answers to the tokens that were asked."""
        guideline, begins = self.data.target.guideline, self.begins.tolist()
        found = []
        for s, (gold, sentence) in enumerate(zip(self.data.target, sentences, strict=True)):
            own = known[begins[s] : begins[s + 1]].tolist()
            answers = (label if asked else None for asked, label in zip(own, gold.layers[guideline], strict=True))
            found.append(sentence.with_layer(guideline, answers))
        return found

    def doubts(self, model: ChainModel | None, known: NDArray[np.bool_]) -> UncertainTokens:
        """The unknown tokens, those first of which a model is least certain; without one, the tagger of the source."""
        bare = [replace(sentence, layers={}) for sentence in self.raw]
        if model is None:
            return least_certain(ChainPredictor(self.guide), bare, 1.0)
        guideline = self.data.target.guideline
        return least_certain(ChainPredictor(model, guideline=guideline), self.told(known, bare), 1.0, guideline)

    def asked(
        self,
        choice: str,
        model: ChainModel | None,
        known: NDArray[np.bool_],
        number: int,
        random: np.random.Generator,
    ) -> NDArray[np.int64]:
        """So many unknown tokens, by a choice of `CHOICES`."""
        if choice == "random":
            return random.permutation(np.flatnonzero(~known))[:number]
        found = self.doubts(model, known)
        if choice == "in proportion":
            found = found.only(np.argsort(-priorities(found.uncertainty, random), kind="stable"))
        return (self.begins[found.sentence] + found.position)[:number]

    def trained(self, method: str, known: NDArray[np.bool_], seed: int) -> ChainModel:
        """A model of the answers and of the source."""
        told = self.told(known, self.raw)
        guideline = self.data.target.guideline
        answered = [sentence for sentence in told if any(sentence.layers[guideline])]
        recipe = Recipe(templates=PRESETS["li-2015"], settings={"seed": seed, "batch": 16, "initial": 1e-8})
        schedule = Schedule(self.data.budget)
        if method == "two-stage":
            target = Corpus(tuple(answered), guideline)
            guided: ChainModel = fit_guided([target], self.guide, recipe, run=Run(schedule)).model
            return guided
        both = count_pairs(guideline, self.data.source.guideline, answered)
        only = [replace(each, layers={guideline: each.layers[guideline]}) for each in answered]
        recipe = replace(recipe, sample=(max(len(only), self.data.sample), self.data.sample))
        corpora = [Corpus(tuple(only), guideline), self.data.source]
        model: ChainModel = fit_coupled(corpora, recipe, Coupling((_widened(both),)), run=Run(schedule)).model
        return model


def _widened(met: TagMapping) -> TagMapping:
    """The pairs of tags that met in the answers, and those of the shipped mapping for tags that were answered."""
    answered = {tag for tag, _ in met.counts}
    more = {pair: 1 for pair in read_mapping(SHIPPED["ctb-pd"]).counts if pair[0] in answered}
    return replace(met, counts={**more, **met.counts})


def rounds(pool: Pool, method: str, choice: str, sizes: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """One round after the other: so many tokens are known in all, and the test sentences are tagged.

    Yields:
        `method`, `choice`, `seed`, `answers`, `labels` (how many the model has), `seconds` of processor time for the
        training, and `right`, of every test sentence how many labels are right.
    """
    known, random = np.zeros(int(pool.begins[-1]), np.bool_), np.random.default_rng(seed)
    model: ChainModel | None = None
    for size in sizes:
        known[pool.asked(choice, model, known, size - int(known.sum()), random)] = True
        begin = time.process_time()
        model = pool.trained(method, known, seed)
        seconds = round(time.process_time() - begin, 1)
        about = {"method": method, "choice": choice, "seed": seed, "answers": size}
        labels = len(model.space)
        yield {**about, "labels": labels, "seconds": seconds, "right": right(model, pool.data.test)}


def right(model: ChainModel, test: Corpus) -> list[int]:
    """Of every sentence, how many labels are right."""
    tagger = ChainPredictor(model, guideline=test.guideline)
    tagged = tagger.tag(Sentence(sentence.forms) for sentence in test)
    return [
        sum(a == b for a, b in zip(gold.layers[test.guideline], found.layers[test.guideline], strict=True))
        for gold, found in zip(test, tagged, strict=True)
    ]
