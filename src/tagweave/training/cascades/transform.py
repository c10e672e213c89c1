"""Annotation adaptation: corpora of other guidelines become training data of the target guideline (jiang-2015, 4).

A transfer model annotates a text under one guideline, given its annotation under another. It learns from parallel text:
annotation of the target guideline, guided by annotation of the source guideline. To make parallel text, a model of one
guideline annotates a corpus of the other, whose own annotation never changes.

    Model 2 (Algorithm 3)  source model ──annotates──> target corpus ──> transfer model ──relabels──> source corpus
                           target corpus + relabelled source corpus ──> final model, an ordinary one
    Model 3 (Algorithm 4)  both directions in rounds: the relabelled text of a round guides the training of the next;
                           candidates that lead back to the original annotation are preferred (predict-self)

Model 1, a permanently guided model, is in `training/cascades/guided.py`. The `System` defines models and annotations.

Predict-self: prefer transformations that lead back to the original annotation (jiang-2015, 4.4).

Of the k best transformations y of a sentence x with the annotation s, re-estimation takes the one with the greatest

    (1 - lambda) score(y | x, s) + lambda score(s | x, y)

under the transfer models of both directions. The alternative, filtering, drops a sentence if its best y is not
transformed back to s; the paper finds that this loses difficult sentences, which could teach the most (5.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

import numpy as np

from tagweave.corpus.corpus import Corpus, by_guideline
from tagweave.errors import CorpusError
from tagweave.learning.run import SILENT, Run
from tagweave.structures import TREE
from tagweave.training.cascades.chain_system import ChainSystem
from tagweave.training.cascades.guided import check_guidelines
from tagweave.training.cascades.guided_rounds import guided_texts
from tagweave.training.cascades.system import Annotation, Floats, KBest, Parallel, Steps, System
from tagweave.training.cascades.tree_system import TreeSystem
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe

BEST = 5
"""The number of candidates per sentence."""
_BLOCK = 1000  # sentences whose candidates are in memory at a time


def system_of(recipe: Recipe, run: Run = SILENT) -> System[Any]:
    """Return the system of the recipe's structure."""
    return TreeSystem(recipe, run) if recipe.structure == TREE else ChainSystem(recipe, run)


@dataclass(frozen=True)
class PredictSelf:
    """How to choose among candidates y of a sentence x with the annotation s by the way back (section 4.4)."""

    # values of lambda; the y with the greatest (1 - lambda) score(y | x, s) + lambda score(s | x, y) is taken, and of
    # several lambdas the best on the development data of each round. 0 ignores the way back.
    shares: tuple[float, ...] = (0.0,)
    filter: bool = False  # instead, drop the sentences whose best y is not transformed back to s
    k: int = BEST

    @property
    def choices(self) -> tuple[float, ...]:
        return (0.0,) if self.filter else self.shares


class CandidateRanking(NamedTuple, Generic[Annotation]):
    """Candidates y of a sentence with the annotation s, with falling score(y | x, s) and rising score(s | x, y).

    No other candidate can be the best for any share, because one of these is at least as good both ways.
    """

    annotations: Sequence[Annotation]
    there: Floats
    back: Floats

    @classmethod
    def of(cls, candidates: KBest[Annotation], back: Floats) -> CandidateRanking[Annotation]:
        """Return the ranking of candidates, best first, with the scores of the way back."""
        before = np.concatenate([[-np.inf], np.maximum.accumulate(back)[:-1]])
        kept = np.flatnonzero((back > before) | (np.arange(len(back)) == 0))
        return cls([candidates.annotations[i] for i in kept.tolist()], candidates.scores[kept], back[kept])

    def best(self, share: float) -> Annotation:
        """Return the candidate with the greatest (1 - share) there + share back; of equal ones the first."""
        if share == 0:
            return self.annotations[0]
        with np.errstate(invalid="ignore"):  # 0 * -inf
            total = np.where(share < 1, (1 - share) * self.there, 0) + share * self.back
        return self.annotations[int(np.argmax(total))]


def rankings(
    system: System[Annotation],
    there: Fitted,
    back: Fitted,
    corpus: Corpus,
    annotations: Sequence[Annotation],
    k: int,
) -> list[CandidateRanking[Annotation]]:
    """For every sentence, the candidates among its k best that predict-self re-estimation may take."""
    results: list[CandidateRanking[Annotation]] = []
    for start in range(0, len(corpus), _BLOCK):
        block = corpus.with_sentences(corpus.sentences[start : start + _BLOCK])
        candidates = system.candidates(there, Parallel(block, annotations[start : start + _BLOCK]), k)
        scores = system.scores(back, block, [kbest.annotations for kbest in candidates])
        results += [
            CandidateRanking.of(kbest, back_scores) for kbest, back_scores in zip(candidates, scores, strict=True)
        ]
    return results


def fit_transformed(
    system: System[Annotation],
    targets: Sequence[Corpus],
    sources: Sequence[Corpus],
    dev: Corpus | None = None,
    source_devs: Sequence[Corpus] = (),
    rounds: int = 1,
) -> Fitted:
    """Model 2 (section 4.3, Algorithm 3): an ordinary model of the target corpora and the relabelled source corpora.

    In one round the transfer model is guided by the annotation of a source model, as in the paper. In two it is guided
    by the target's own annotation, which a transfer model of the first round has transformed (`guided_texts`).

    Args:
        rounds: 1 or more.

    Raises:
        KeyboardInterrupt: the user stopped a step before the last.
    """
    if rounds < 1:
        raise ValueError(f"found {rounds} rounds, expected 1 or more")
    groups = _by_guideline(targets, sources)
    steps = Steps((1 + rounds) * len(groups) + 1 + (rounds > 1), system.run)
    target = targets[0].guideline
    target_model = system.train(targets, dev, steps.next(f"target model of {target}")) if rounds > 1 else None
    merged = [*targets]
    for guideline, corpora in groups.items():
        source_dev = _dev_of(guideline, source_devs)
        source = system.train(corpora, source_dev, steps.next(f"source model of {guideline}"))
        source_parts = corpora, source_dev, source
        parallel, parallel_dev = guided_texts(system, (targets, dev, target_model), source_parts, rounds, steps)
        what = f"{f'round {rounds}: ' if rounds > 1 else ''}transfer model, {guideline} to {target}"
        transfer = system.train_transfer(parallel, parallel_dev, steps.next(what))
        for corpus in corpora:
            merged.append(system.relabelled(transfer, Parallel(corpus, system.own_annotations(source, corpus)), target))
    return system.train(merged, dev, steps.next(f"final model of {target}", last=True))


class Round(NamedTuple):
    """The final model of a round: its share of the way back, and its score on development data."""

    number: int
    share: float
    score: float


@dataclass(frozen=True)
class Iterated:
    """The best model of all rounds."""

    model: Fitted
    best: Round
    rounds: tuple[Round, ...]
    interrupted: bool = False


def fit_iterated(
    system: System[Annotation],
    targets: Sequence[Corpus],
    sources: Sequence[Corpus],
    dev: Corpus,
    predict_self: PredictSelf = PredictSelf(),
    rounds: int = 1,
    source_devs: Sequence[Corpus] = (),
) -> Iterated:
    """Model 3 (section 4.4, Algorithm 4): transformation both ways in rounds until the score on `dev` does not improve.

    Development data of the source guidelines are for the models that transform to them. One round with only the share
    0 is Model 2.
    """
    if rounds < 1:
        raise ValueError(f"found {rounds} rounds, expected 1 or more")
    groups = _by_guideline(targets, sources)
    steps = Steps(1 + len(groups) + rounds * (2 * len(groups) + len(predict_self.choices)), system.run)
    target = system.train(targets, dev, steps.next(f"target model of {targets[0].guideline}"))
    pairs = [
        _begin(system, (target, targets, dev), (name, corpora, _dev_of(name, source_devs)), steps)
        for name, corpora in groups.items()
    ]
    best: tuple[Round, Fitted] | None = None
    tried: list[Round] = []
    try:
        for number in range(1, rounds + 1):
            results = _round(system, number, pairs, dev, predict_self, steps)
            tried += [tried_round for tried_round, _ in results]
            top = max(results, key=lambda result: result[0].score)
            if best and top[0].score <= best[0].score:
                break
            best = top
    except KeyboardInterrupt:
        if not best:
            raise
        return Iterated(best[1], best[0], tuple(tried), interrupted=True)
    assert best is not None  # noqa: S101 - there is at least one round
    return Iterated(best[1], best[0], tuple(tried))


@dataclass
class _Text(Generic[Annotation]):
    """A corpus with its own annotation, which stays, and one of the other guideline, which every round improves.

    A guide is `None` if the way back did not lead to the corpus's own annotation.
    """

    corpus: Corpus
    annotations: Sequence[Annotation]
    guides: Sequence[Annotation | None]

    def parallel(self) -> Parallel[Annotation]:
        kept = [
            (sentence, guide) for sentence, guide in zip(self.corpus, self.guides, strict=True) if guide is not None
        ]
        return Parallel(self.corpus.with_sentences(sentence for sentence, _ in kept), [guide for _, guide in kept])


@dataclass
class _Side(Generic[Annotation]):
    """All text of one of two guidelines."""

    guideline: str
    texts: list[_Text[Annotation]]
    dev: _Text[Annotation] | None = None


@dataclass
class _Pair(Generic[Annotation]):
    """The target guideline and one source guideline."""

    target: _Side[Annotation]
    source: _Side[Annotation]


def _begin(
    system: System[Annotation],
    target: tuple[Fitted, Sequence[Corpus], Corpus],
    source: tuple[str, Sequence[Corpus], Corpus | None],
    steps: Steps,
) -> _Pair[Annotation]:
    """Return the first parallel text: each side is annotated by the other's model (Algorithm 4, lines 2 to 5)."""
    guideline, corpora, source_dev = source
    model = system.train(corpora, source_dev, steps.next(f"source model of {guideline}"))
    target_model, targets, dev = target

    def side(
        corpora: Sequence[Corpus], dev: Corpus | None, own_model: Fitted, other_model: Fitted
    ) -> _Side[Annotation]:
        def text(corpus: Corpus) -> _Text[Annotation]:
            return _Text(corpus, system.own_annotations(own_model, corpus), system.annotate(other_model, corpus))

        return _Side(corpora[0].guideline, [*map(text, corpora)], None if dev is None else text(dev))

    return _Pair(side(targets, dev, target_model, model), side(corpora, source_dev, model, target_model))


def _round(
    system: System[Annotation],
    number: int,
    pairs: Sequence[_Pair[Annotation]],
    dev: Corpus,
    predict_self: PredictSelf,
    steps: Steps,
) -> list[tuple[Round, Fitted]]:
    """One round: transfer models both ways, a final model for every share, and the guides of the next round."""
    target = pairs[0].target
    prefix = f"round {number}: "
    relabellings = []
    for pair in pairs:
        models = []
        for to, guide in ((pair.target, pair.source), (pair.source, pair.target)):
            step = steps.next(f"{prefix}transfer model, {guide.guideline} to {to.guideline}")
            shown_dev = to.dev.parallel() if to.dev else None
            models.append(system.train_transfer([text.parallel() for text in to.texts], shown_dev, step))
        relabellings.append(_Relabelling(system, pair, models[0], models[1], predict_self))
    results: list[tuple[Round, Fitted]] = []
    merged_before: list[Corpus] = []
    for share in predict_self.choices:
        way = f", way back {share:g}" if len(predict_self.choices) > 1 else ""
        step = steps.next(f"{prefix}final model of {target.guideline}{way}")
        merged = [text.corpus for text in target.texts]
        for relabelling in relabellings:
            merged += relabelling.training_data(share)
        is_new = merged != merged_before  # another share may choose the same candidates
        model = system.train(merged, dev, step) if is_new else results[-1][1]
        merged_before = merged
        results.append((Round(number, share, model.outcome.score or 0.0), model))
    share = max(results, key=lambda result: result[0].score)[0].share
    for relabelling in relabellings:
        relabelling.guide_next(share)
    return results


@dataclass
class _Relabelling(Generic[Annotation]):
    """Relabels all text of two guidelines under the other one, by the transfer models of a round. `ranked`: by the
    identity of a text, the candidates that some share may take, computed once."""

    system: System[Annotation]
    pair: _Pair[Annotation]
    forward: Fitted
    backward: Fitted
    predict_self: PredictSelf
    ranked: dict[int, list[CandidateRanking[Annotation]]] = field(default_factory=dict)

    def training_data(self, share: float) -> list[Corpus]:
        """Return the source corpora under the target guideline."""
        corpora = []
        for text in self.pair.source.texts:
            if share == 0 and not self.predict_self.filter:
                text_to_relabel = Parallel(text.corpus, text.annotations)
                corpora.append(self.system.relabelled(self.forward, text_to_relabel, self.pair.target.guideline))
                continue
            chosen = self._chosen(text, self.forward, self.backward, share)
            relabelled = _Text(text.corpus, text.annotations, chosen).parallel()
            corpora.append(self.system.annotated(relabelled.corpus, relabelled.guides, self.pair.target.guideline))
        return corpora

    def guide_next(self, share: float) -> None:
        """Use the transformed text to guide the next round (Algorithm 4, lines 9 and 10); for `dev` the best of it."""
        for side, there, back in (
            (self.pair.source, self.forward, self.backward),
            (self.pair.target, self.backward, self.forward),
        ):
            for text in side.texts:
                text.guides = self._chosen(text, there, back, share)
            if side.dev:
                side.dev.guides = self.system.transform(there, Parallel(side.dev.corpus, side.dev.annotations))

    def _chosen(self, text: _Text[Annotation], there: Fitted, back: Fitted, share: float) -> list[Annotation | None]:
        """Return the annotation of every sentence under the other guideline."""
        if not any(self.predict_self.choices):
            best = self.system.transform(there, Parallel(text.corpus, text.annotations))
            if not self.predict_self.filter:
                return [*best]
            returned = self.system.transform(back, Parallel(text.corpus, best))
            return [
                transformed if returned_annotation == annotation else None
                for transformed, returned_annotation, annotation in zip(best, returned, text.annotations, strict=True)
            ]
        if id(text) not in self.ranked:
            self.ranked[id(text)] = rankings(
                self.system, there, back, text.corpus, text.annotations, self.predict_self.k
            )
        return [ranking.best(share) for ranking in self.ranked[id(text)]]


def _by_guideline(targets: Sequence[Corpus], sources: Iterable[Corpus]) -> dict[str, list[Corpus]]:
    """Return the source corpora of every guideline, in order."""
    groups = by_guideline(sources)
    if not targets or not groups:
        raise CorpusError("no corpus", "training data of the target guideline and of another one")
    for guideline in groups:
        check_guidelines(targets, guideline)
    return groups


def _dev_of(guideline: str, devs: Iterable[Corpus]) -> Corpus | None:
    return next((corpus for corpus in devs if corpus.guideline == guideline), None)
