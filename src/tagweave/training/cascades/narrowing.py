"""Narrowing of the tags that the corpora of a coupled model lack.

A corpus of one guideline leaves the tags of the other open, and likelihood alone puts them to uses of their own: rare
tags of a small target become hidden states of the model of a large source. So a tagger of the other guideline says
which of its tags come into question, and that is evidence like any annotation. It restricts only one of the two sums of
the loss, so it is not needed for new text.

The tagger of the target looks at the tags that a source corpus has (the two-stage CRF), the others are plain, and so is
the tagger of the target for a source with one tag only, which leaves nothing to narrow and says nothing. None of them
was trained on the text that it narrows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import permutations

import numpy as np

from tagweave.corpus.corpus import Corpus, by_guideline
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.labels.space import LabelSpace
from tagweave.learning.run import SILENT, Run
from tagweave.models.cascades import likely_tags
from tagweave.models.chain import ChainModel
from tagweave.training.cascades.guided import fit_quickly
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe


def fit_taggers(corpora: Sequence[Corpus], recipe: Recipe, run: Run = SILENT) -> list[ChainModel]:
    """Fit a tagger for every guideline of the corpora, in their order."""
    taggers = []
    for guideline, guideline_corpora in by_guideline(corpora).items():
        run.tell(f"a tagger of {guideline}")
        taggers.append(fit(guideline_corpora, recipe, run=run).finished_model())
    return taggers


@dataclass(frozen=True)
class Narrowing:
    """Taggers that narrow what corpora lack."""

    # (guideline of a corpus, another guideline) -> the tagger of the other one for this corpus
    taggers: Mapping[tuple[str, str], ChainModel]
    threshold: float  # the marginal probability from which a tag comes into question; the most probable one always does

    def narrowed(self, corpora: Sequence[Corpus], space: LabelSpace, threads: int = 1) -> list[Corpus]:
        """Return the corpora with candidates of the other guidelines at every token that has a tag of its own.

        A layer that a corpus has stays, and so does a token open whose own tag meets none of the candidates. Of three
        guidelines, what one of the others has left counts for the next one. `threads`: how many threads share the work.
        """
        results = []
        for corpus in corpora:
            narrowed = list(corpus.sentences)
            for other in (name for guideline, name in self.taggers if guideline == corpus.guideline):
                fill = _Fill(space, corpus.guideline, other)
                shown = [sentence.with_layers_of([corpus.guideline]) for sentence in corpus.sentences]
                likely = likely_tags(self.taggers[corpus.guideline, other], shown, self.threshold, threads)
                narrowed = [fill(sentence, tags) for sentence, tags in zip(narrowed, likely, strict=True)]
            results.append(corpus.with_sentences(narrowed))
        return results


class _Fill:
    """Fills the layer of a guideline where tokens have a tag of another one."""

    def __init__(self, space: LabelSpace, guideline: str, other: str) -> None:
        self._space = space
        self._guideline = guideline
        self._other = other
        self._sides = [view.guideline for view in space.sides]
        self._partners: dict[tuple[tuple[Candidates, ...], str], Candidates] = {}

    def __call__(self, sentence: Sentence, likely: Sequence[str]) -> Sentence:
        open_ = (None,) * len(sentence)
        layers = [sentence.layers.get(name, open_) for name in self._sides]
        own_layer, other_layer = (layers[self._sides.index(name)] for name in (self._guideline, self._other))
        columns = zip(own_layer, other_layer, zip(*layers, strict=True), likely, strict=True)
        layer = [
            candidates if candidates is not None or own_candidates is None else self._meeting(every_side, tags)
            for own_candidates, candidates, every_side, tags in columns
        ]
        return sentence.with_layer(self._other, layer)

    def _meeting(self, candidates: tuple[Candidates, ...], likely: str) -> Candidates:
        """The likely tags that a bundle joins to what a token has on all other sides; `None` if there are none."""
        if (candidates, likely) not in self._partners:
            view = self._space.view(self._other)
            sets = (self._space.allow(name, tags) for name, tags in zip(self._sides, candidates, strict=True) if tags)
            partners = {view.names[tag] for tag in view.projection[reduce(np.intersect1d, sets)]}
            self._partners[candidates, likely] = tuple(tag for tag in likely.split(" ") if tag in partners) or None
        return self._partners[candidates, likely]


def fit_narrowing(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    threshold: float,
    dev: Corpus | None = None,
    run: Run = SILENT,
    guided: Fitted | None = None,
) -> Narrowing:
    """Fit the taggers for corpora of words of several guidelines, the target's first. `run`: the run; taggers of
    sources have a short schedule of their own. Each has its own checkpoint, a part of the run, which stays, so that a
    resumed coupled fit has the same evidence. Remove them after that fit. `guided`: a tagger of the target that looks
    at the labels of the only source, if there is one."""
    recipe = replace(recipe, sample=(), average_seeds=1)
    corpora_of = by_guideline(corpora)
    target, *sources = corpora_of
    plain, taggers = {}, {}
    for number, name in enumerate(sources, 1):
        source_run, target_run = (run.part(f"{side}-{number}") for side in ("source", "target"))
        layers = (s.layers.get(name, ()) for corpus in corpora_of[name] for s in corpus)
        if len({tag for layer in layers for candidates in layer for tag in candidates or ()}) == 1:
            run.tell(f"a tagger of {target}; {name} has one tag only")
            taggers[name, target] = fit(corpora_of[target], recipe, dev, target_run).finished_model()
            continue
        if guided is not None:
            taggers.update({(target, name): guided.model.encoder.guide, (name, target): guided.model})
            continue
        run.tell(f"a tagger of {name}, then one of {target} that looks at its labels")
        taggers[name, target] = fit_quickly(
            corpora_of[target], corpora_of[name], recipe, dev, (source_run, target_run)
        ).finished_model()
        taggers[target, name] = plain[name] = taggers[name, target].encoder.guide
    taggers.update({(first, second): plain[second] for first, second in permutations(sources, 2) if second in plain})
    return Narrowing(taggers, threshold)
