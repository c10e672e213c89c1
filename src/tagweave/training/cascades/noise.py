"""Labels of TRAIN that are wrong by habit: what development data tell of them (task spans).

Noisy labels are wrong in systematic ways, and a model that learns from them repeats these on other text. Where
development data are right, the mean probability of what such a model says of tokens of a true type estimates
P(said | true). A second model takes each label of TRAIN as evidence with these likelihoods (forward correction with an
estimated matrix: Patrini et al. 2017), and expects as many tokens inside spans as development data have.

Its rate is the usual one. With the rate of other models that keep to a share of spans, F on clean sentences was 0.6 to
2 points lower for noises of NoiseBench, 2 to 6.5 where half of the names of CoNLL were missed, Spanish and English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.labels import SPANS
from tagweave.labels.transition_scheme import type_of
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.sources.layers import in_iob2
from tagweave.training.cascades.incomplete import is_complete, ratio_of
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import SPAN_SETTINGS, EntityRatio, Recipe
from tagweave.training.fit.task import label_counts

Floats = NDArray[np.float64]
_PSEUDO = 5.0  # tokens of each type that are said right
_NOISY = 0.12  # of clean labels of NoiseBench a model misses 0.07, of five of six noisy ones 0.16 to 0.33
_FEW = 20_000  # tokens
# of 100 to 600 sentences, right ones have 0.88 to 1.9 times as many tokens inside spans as development data of the same
# corpus (CrossNER, Spanish, CoNLL), wrong ones 0.43 to 0.86 times (NoiseBench, Wikigold; half of the spans missed)
_DENSE = 0.87
# what a model misses of development data, less what one of half of TRAIN misses of the rest: -0.05 to 0.04 where labels
# are right, unless the text is of another kind (CoNLL, 0.24)
_ALIKE = 0.1
_LEAST = 1e-6  # of the largest likelihood of a label, below which another is excluded


class Habits(NamedTuple):
    """Labels given where a type is true; a type is a span's type, or `O`."""

    labels: tuple[str, ...]  # in IOB2
    said: Floats  # float64[T, T]: by the true type, how many tokens are said to be of each type

    @property
    def types(self) -> list[str]:
        return sorted({type_of(label) for label in self.labels})

    @property
    def missed(self) -> float:
        """How often a token inside a span is said to be outside."""
        inside = np.array([kind != OUTSIDE for kind in self.types])
        return float(self.said[inside][:, ~inside].sum() / max(self.said[inside].sum(), 1))

    def likelihoods(self) -> dict[str, Floats]:
        """By the label that is said, float64[labels]: the likelihoods of true ones.

        A right type has a right letter (`B`, `I`); a wrong one has each letter as often.
        """
        counts = self.said + _PSEUDO * np.eye(len(self.types))
        types = self.types
        chance = counts / counts.sum(axis=1, keepdims=True)
        kinds = [types.index(type_of(label)) for label in self.labels]
        letters = np.bincount(kinds)
        rows = {}
        for label, kind in zip(self.labels, kinds, strict=True):
            row = np.array([chance[true, kind] / letters[kind] for true in kinds])
            row[np.array(kinds) == kind] = 0
            row[self.labels.index(label)] = chance[kind, kind]
            rows[label] = row
        return rows


def corrected(
    corpora: Sequence[Corpus], recipe: Recipe, dev: Corpus | None, fitted: Fitted, run: Run = SILENT
) -> Fitted:
    """Return the better on development data: the model, or a second one if the first shows that labels of TRAIN err.

    Args:
        corpora: TRAIN.
        recipe: the recipe of the model.
        fitted: the model.
    """
    score = fitted.outcome.score
    if dev is None or score is None or fitted.outcome.interrupted or not _is_learnable(corpora, recipe, dev, run):
        return fitted
    model_habits = habits(ChainPredictor(fitted.model, recipe.threads), dev)
    if model_habits.missed < _NOISY:
        return fitted
    missed = f"the model misses {100 * model_habits.missed:.0f} % of the tokens inside spans of the development data"
    if _is_small(corpora, recipe, dev, model_habits.missed, run):
        run.tell(f"{missed}, and about as many of text of TRAIN that it has not seen: TRAIN is small, and not wrong")
        return fitted
    why = f"{missed}, because TRAIN is small or its labels are wrong"
    if recipe.lookups.subwords is not None:  # another network, of TRAIN alone, would take as long again
        run.tell(why)
        return replace(fitted, first=fitted.model)
    run.tell(f"{why}: a second model learns how far they are (`span_confidence=1` would not)")
    evidence = as_evidence(corpora, model_habits)
    second = fit(evidence, _of_likelihoods(recipe, dev), dev, run.without_checkpoint().phase("noise"))
    second_score = second.outcome.score or 0.0
    run.tell(f"on the development data: labels as they are {score:.4f}, labels that may err {second_score:.4f}")
    if second.outcome.interrupted:
        return replace(fitted, outcome=replace(fitted.outcome, interrupted=True))
    return replace(second if second_score > score else fitted, first=fitted.model)


def fit_with_dev(
    corpora: Sequence[Corpus], first: ChainModel, dev: Corpus, recipe: Recipe, run: Run = SILENT
) -> Fitted:
    """Fit a model to labels of TRAIN, as evidence of right ones, and to development data, which count as much.

    Args:
        corpora: TRAIN.
        first: the model of the labels as they are.
    """
    evidence = as_evidence(corpora, habits(ChainPredictor(first, recipe.threads), dev))
    tokens = sum(corpus.tokens() for corpus in corpora)
    right = replace(in_iob2(dev, (dev.guideline,)), weight=max(1.0, tokens / dev.tokens()))
    return fit([*evidence, right], _of_likelihoods(recipe, dev), run=run)


def _of_likelihoods(recipe: Recipe, dev: Corpus) -> Recipe:
    settings = {**SPAN_SETTINGS, **recipe.settings} if recipe.learner == "adagrad" else recipe.settings
    return replace(recipe, settings=settings, soft_labels="likelihood", ratio=EntityRatio(ratio_of(dev)))


def _is_small(corpora: Sequence[Corpus], recipe: Recipe, dev: Corpus, missed: float, run: Run) -> bool:
    """Return whether TRAIN is small rather than wrong: it has few tokens, about as many spans as development data, and
    a model of half of its sentences misses about as much of the others as the model misses of development data.

    Args:
        missed: what the model misses of development data.
    """
    certain = [_certain(sentence, corpus.guideline) for corpus in corpora for sentence in corpus]
    text = corpora[0].with_sentences(certain)
    if text.tokens() >= _FEW or len(text) < 2 or ratio_of(text) < _DENSE * ratio_of(dev):
        return False
    seen, unseen = (text.with_sentences(certain[first::2]) for first in (0, 1))
    model = fit([seen], recipe.of_features(), run=run.aside()).finished_model()
    return missed <= habits(ChainPredictor(model, recipe.threads), unseen).missed + _ALIKE


def _is_learnable(corpora: Sequence[Corpus], recipe: Recipe, dev: Corpus, run: Run) -> bool:
    """Return whether TRAIN says one label everywhere, perhaps with a probability, and development data for certain.

    The task is spans, and the learner's models have probabilities.
    """
    # a schedule that selects nothing only reports the score on development data
    if (
        not run.schedule.selects
        or recipe.task.name != SPANS
        or recipe.mistake_driven
        or recipe.soft_labels != "posterior"
    ):
        return False
    if any(sentence.confidence is not None or sentence.rejected for corpus in corpora for sentence in corpus):
        return False
    pairs = [(corpus, _certain(sentence, corpus.guideline)) for corpus in corpora for sentence in corpus]
    is_numbered = any(before is not sentence for before, (_, sentence) in zip(chain(*corpora), pairs, strict=True))
    if is_numbered and any(label[:2] in ("E-", "S-") for corpus in corpora for label in label_counts(corpus)):
        return False  # numbers of BIOES do not tell those of IOB2
    pairs += [(dev, sentence) for sentence in dev]
    return all(is_complete(sentence, corpus.guideline, corpus.covered_in(sentence)) for corpus, sentence in pairs)


def _certain(sentence: Sentence, guideline: str) -> Sentence:
    """Return the sentence with one label where labels have probabilities: `O`, which may leave types open, or else
    the first."""
    layer = sentence.layers.get(guideline, ())
    if not any(isinstance(candidates, Soft) for candidates in layer):
        return sentence
    only = [
        ((OUTSIDE,) if OUTSIDE in candidates else candidates[:1]) if isinstance(candidates, Soft) else candidates
        for candidates in layer
    ]
    return sentence.with_layer(guideline, only)


def habits(tagger: ChainPredictor, dev: Corpus) -> Habits:
    """Count what a model says of complete development data."""
    types = sorted({type_of(label) for label in tagger.labels})
    columns = np.array([types.index(type_of(label)) for label in tagger.labels])
    said = np.zeros((len(types), len(types)))
    tables = tagger.probabilities(dev.sentences)
    for sentence, table in zip(dev, tables, strict=True):
        for candidates, row in zip(sentence.layers[dev.guideline], table, strict=True):
            kind = type_of(candidates[0]) if candidates else ""
            if kind in types:
                said[types.index(kind)] += np.bincount(columns, row, len(types))
    return Habits(tagger.labels, said)


def as_evidence(corpora: Sequence[Corpus], model_habits: Habits) -> list[Corpus]:
    """Return the corpora with the likelihoods of true labels in place of the given ones, certain or not."""
    likelihoods = model_habits.likelihoods()

    @cache
    def heard(candidates: Candidates) -> Candidates:
        said = candidates.numbered() if isinstance(candidates, Soft) else ((label, 1.0) for label in candidates or ())
        rows = [number * likelihoods.get(label, np.zeros(len(model_habits.labels))) for label, number in said]
        row = np.sum(rows, axis=0)
        if not np.any(row):
            return candidates
        kept = np.flatnonzero(row > _LEAST * row.max())
        return Soft((model_habits.labels[at] for at in kept.tolist()), row[kept] / row.max())

    def step(corpus: Corpus) -> Corpus:
        name = corpus.guideline
        coded = in_iob2(corpus, (corpus.guideline,))
        return coded.map(lambda sentence: sentence.with_layer(name, [heard(label) for label in sentence.layers[name]]))

    return [step(corpus) for corpus in corpora]
