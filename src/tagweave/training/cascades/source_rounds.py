"""A model and the reliability of its sources, learned together (Rodrigues et al. 2014; Nguyen et al. 2017).

The true labels y of a text x are hidden, and sources k have said a:

    P(a, y | x) = P(y | x; w) prod over t and k of P(a[t, k] | y_t, a[t-1, k]; theta_k)

An E-step gives the posterior of y, a chain whose evidence is the likelihood of the answers. M-steps fit the weights w
to it, and count the confusion matrices theta anew. A model repeats what it was told of its own training text, so the
E-step of a sentence uses a model of other folds; and what such models think of answers that they have not seen,
the held-out log likelihood, says when to stop.

Labelling functions are silent where they find nothing. If their silence is evidence, every position has it:

    P(a, y | x) = P(y | x; w) prod over t and k of P(k answers or not | y_t) P(a[t, k] | ...)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft, with_probabilities
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.sources.answers import Answers
from tagweave.sources.methods import RIGHT, WRONG, aggregate, sequential_prior
from tagweave.sources.reliability import Reliability, SilenceRates, log_likelihood_rows, updated
from tagweave.training.cascades.jackknife import by_others, members
from tagweave.training.fit.recipe import Recipe

Floats = NDArray[np.float64]

_LEAST = 1e-9  # of the largest likelihood of a position, below which a label is excluded


class Belief(NamedTuple):
    """The belief after a round."""

    labels: Floats  # float64[N, Y], the probabilities of true labels
    reliability: Reliability
    known: NDArray[np.bool_]  # bool[N], the positions with any belief
    silence: SilenceRates | None = None  # what the silence of sources says; `None` if it is no evidence
    # of the answers, by models of other folds, in nats an answer; `None` before the first round
    log_likelihood: float | None = None

    def log_likelihoods(self, answers: Answers) -> Floats:
        """float64[N, Y]: log P(what sources said of a position | true label)."""
        rows = log_likelihood_rows(answers, self.reliability, variational=True)
        if self.silence is not None:
            self.silence.add_likelihoods(rows)
        return rows


@dataclass(frozen=True)
class SourceRounds:
    """Sources and the text that they annotate."""

    corpus: Corpus
    answers: Answers
    recipe: Recipe
    known: dict[str, float]
    folds: int = 4
    seed: int = 0
    dev: Corpus | None = None
    run: Run = SILENT
    speaks: bool = False

    def first(self) -> Belief:
        """Return what the answers say without the text, by the default method of aggregation."""
        answers = self.answers
        answered = self.answers.answered > 0
        labels = aggregate(answers, known=self.known).probabilities.astype(np.float64)
        prior = sequential_prior(answers, RIGHT, WRONG, self.known)
        silence = SilenceRates.of(answers, labels * answered[:, None]) if self.speaks else None
        return Belief(labels, updated(answers, labels, prior), answered, silence)

    def best(self, rounds: int) -> Belief:
        """Return the round after which answers are most likely; at most so many rounds."""
        rounds_so_far = [self.first()]
        for number in range(1, rounds + 1):
            self.run.stop_if_cancelled()
            rounds_so_far.append(last := self.after(rounds_so_far[-1]))
            self.run.tell(f"round {number}: held-out log likelihood {last.log_likelihood:.4f} an answer")
            if number > 1 and (last.log_likelihood or 0) <= (rounds_so_far[-2].log_likelihood or 0):
                return rounds_so_far[-2]
        return rounds_so_far[-1]

    def after(self, before: Belief) -> Belief:
        """Return the belief after another round: models of folds learn the current one, and judge the other folds."""
        rows = before.log_likelihoods(self.answers)
        is_known = np.ones_like(before.known) if self.speaks else before.known
        learned = self.evidence(before)
        asked = self._likelihoods(rows, is_known)
        folds = members([self.corpus], self.folds, self.seed)
        names = self.answers.labels
        judge = partial(_believed, guideline=self.corpus.guideline, labels=names)
        labels = before.labels.copy()
        total = float(rows.max(axis=1).sum())
        ptr = self.answers.sentence_ptr
        for fold, beliefs in by_others(
            [learned], [asked.sentences], folds, self.recipe, judge, self.run, names, self.dev
        ):
            total += sum(log_likelihood for _, log_likelihood in beliefs)
            for (_, sentence), (table, _) in zip(fold, beliefs, strict=True):
                labels[ptr[sentence] : ptr[sentence + 1]] = table
        reliability = updated(self.answers, labels, before.reliability.prior)
        silence = before.silence and before.silence.updated(labels)
        return Belief(labels, reliability, is_known, silence, total / len(self.answers))

    def evidence(self, believed: Belief) -> Corpus:
        """Return the text with its true labels as posteriors; what nothing is believed of stays unknown."""
        names = self.answers.labels
        return self._with_layers(believed.labels, believed.known, lambda row: with_probabilities(names, row.tolist()))

    def _likelihoods(self, rows: Floats, is_known: NDArray[np.bool_]) -> Corpus:
        """Return the text with the likelihoods of its answers, scaled so that the largest of a position is 1."""
        names = self.answers.labels
        scaled = np.exp(rows - rows.max(axis=1, keepdims=True))

        def candidates(row: Floats) -> Candidates:
            kept = np.flatnonzero(row > _LEAST)
            return Soft((names[at] for at in kept.tolist()), row[kept].tolist())

        return self._with_layers(scaled, is_known, candidates)

    def _with_layers(
        self, rows: Floats, is_known: NDArray[np.bool_], candidates: Callable[[Floats], Candidates]
    ) -> Corpus:
        ptr = self.answers.sentence_ptr.tolist()
        name = self.corpus.guideline
        sentences = []
        for number, sentence in enumerate(self.corpus):
            layer = tuple(candidates(rows[at]) if is_known[at] else None for at in range(ptr[number], ptr[number + 1]))
            sentences.append(replace(sentence, layers={name: layer}, covered=None, confidence=None))
        return replace(self.corpus, sentences=tuple(sentences), covered=None)


def _believed(
    model: ChainModel, sentences: Sequence[Sentence], threads: int, guideline: str, labels: Sequence[str]
) -> list[tuple[Floats, float]]:
    """Return what a model believes of the labels of each sentence, [L, Y], and the log likelihood of its answers."""
    tagger = ChainPredictor(model, threads)
    columns = [tagger.labels.index(name) for name in labels]
    tables = tagger.probabilities(sentences, guideline)
    log_likelihoods = tagger.log_probabilities(sentences, guideline)
    return [(table[:, columns].astype(np.float64), log) for table, log in zip(tables, log_likelihoods, strict=True)]
