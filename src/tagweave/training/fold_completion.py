"""Completion of partial annotation by models that have not seen it (Jie et al. 2019, section 3).

The text is cut into folds. A model of the other folds gives every sentence the labels that are best under its own
annotation; the next round trains on them. The models of the first round learn from the annotation as it is if they know
the share of spans, and otherwise take what is unknown for `O`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.guide import labels_of
from tagweave.training.belief import outside_elsewhere
from tagweave.training.jackknife import jackknifed
from tagweave.training.recipe import Recipe

_COLUMN = "completion"


@dataclass(frozen=True)
class FoldCompletion:
    """How to complete annotation.

    Attributes:
        folds: the number of folds.
        rounds: how often.
        soft: whether a completed label counts only as much as its model believes in it.
        seed: decides which sentences form a fold.
    """

    folds: int = 2
    rounds: int = 2
    soft: bool = False
    seed: int = 0


def completed(
    corpora: Sequence[Corpus], recipe: Recipe, how: FoldCompletion, dev: Corpus | None = None, run: Run = SILENT
) -> list[Corpus]:
    """The corpora with labels for all that their annotation leaves open. Raises as `jackknifed`.

    Args:
        corpora: corpora of one guideline.
        recipe: how to fit the models; its entity ratio holds in the first round.
        how: how to complete.
        dev: development data for all models.
        run: the run.
    """
    current = list(corpora) if recipe.ratio else [outside_elsewhere(corpus) for corpus in corpora]
    answers = best_with_probabilities if how.soft else best
    for number in range(how.rounds):
        run.stop_if_cancelled()
        own = recipe if number == 0 else replace(recipe, ratio=None)
        answered = jackknifed(
            current, own, how.folds, how.seed + number, run, _COLUMN, answers, questions=corpora, dev=dev
        )
        pairs = zip(corpora, answered, strict=True)
        current = [_relabelled(corpus, [each.columns[_COLUMN] for each in labels]) for corpus, labels in pairs]
    return current


def best(model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[tuple[str, ...]]:
    """The labels of the best sequence that the annotation of each sentence allows."""
    tagger = ChainPredictor(model, threads)
    done = tagger.complete(Corpus(tuple(sentences), tagger.guideline))
    return [labels_of(sentence, tagger.guideline) for sentence in done]


def best_with_probabilities(model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[tuple[str, ...]]:
    """As `best`, each label followed by its probability under the annotation."""
    tagger = ChainPredictor(model, threads)
    tables = tagger.probabilities(sentences, tagger.guideline)
    number = {name: at for at, name in enumerate(tagger.labels)}
    answers = []
    for labels, table in zip(best(model, sentences, threads), tables, strict=True):
        own = table[np.arange(len(table)), [number[label] for label in labels]]
        answers.append(tuple(f"{label} {p:.4f}" for label, p in zip(labels, np.minimum(own, 1).tolist(), strict=True)))
    return answers


def _relabelled(corpus: Corpus, answers: Sequence[tuple[str, ...]]) -> Corpus:
    done = (_answered(*pair, corpus.guideline) for pair in zip(corpus, answers, strict=True))
    return replace(corpus, sentences=tuple(done), covered=None)


def _answered(sentence: Sentence, answers: tuple[str, ...], guideline: str) -> Sentence:
    parts = [answer.partition(" ") for answer in answers]
    labelled = replace(sentence, covered=None).with_layer(guideline, [(label,) for label, _, _ in parts])
    if not any(p for _, _, p in parts):
        return labelled
    return replace(labelled, confidence=tuple(float(p) for _, _, p in parts))
