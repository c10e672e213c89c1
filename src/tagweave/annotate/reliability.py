"""The reliability of annotators, and the posterior of a task given its answers (Dawid and Skene 1979).

The right answer has a prior, the probabilities of the model that proposed the candidates. Each answer is worth what its
annotator's confusion matrix says. A task is agreed on once an answer is sure enough, and dropped after a maximum of
answers. The next annotator is asked where their answer is expected to tell most (`sources.gain`). Confusion matrices
are learned by EM from all answers; planted gold and what a curator decided are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.task import CANNOT_TELL, Answer, Candidate, label
from tagweave.sources.gain import gain_of_answer

Floats = NDArray[np.float64]
REST = None
"""Any answer that is neither shown nor given by anybody."""
SHOWN = 0.9
"""The share of wrong answers that are among those shown."""
USUAL_ACCURACY = 0.9
"""Accuracy assumed of an annotator before anybody has answered."""
_WEIGHT = 10.0  # answers that the prior of a confusion matrix is worth


@dataclass(frozen=True, eq=False)
class Confusions:
    """The confusion matrices of the annotators of a guideline.

    A task shows a few labels, and whoever is wrong mostly chooses another one of these, and rather one that the model
    finds probable, as the model's doubts are people's, too. So a row of a matrix is restricted to the answers that are
    shown or given, with wrong answers in proportion to their priors; all other labels together are `REST`.

    There are matrices of K annotators, and the last one of their average, as which all others answer. P(answer a | y is
    right) is `matrices[k, y, a]`, float64[K + 1, Y, Y]; `accuracies`, float64[K + 1], are how often each is right.
    """

    answers: Mapping[Answer, int] = field(default_factory=dict)
    annotators: Mapping[int, int] = field(default_factory=dict)
    matrices: Floats = field(default_factory=lambda: np.zeros((1, 0, 0)))
    accuracies: Floats = field(default_factory=lambda: np.full(1, USUAL_ACCURACY))

    def restricted(self, annotators: Sequence[int | None], shown: Sequence[Answer], prior: Floats) -> Floats:
        """Return the matrices of annotators for C answers and `REST`, float64[A, C + 1, C + 1].

        `None` is the average annotator; `prior` is float64[C + 1].
        """
        who = [-1 if annotator is None else self.annotators.get(annotator, -1) for annotator in annotators]
        numbers = [self.answers.get(answer, -1) for answer in shown]
        accuracies = self.accuracies[who]
        priors = np.broadcast_to(prior[:-1], (len(who), len(shown)))
        if -1 not in numbers:
            return with_rest(self.matrices[who][:, numbers][:, :, numbers], accuracies, priors)
        matrices = np.repeat((1 - accuracies)[:, None, None], len(shown), 1).repeat(len(shown), 2)
        diagonal = np.arange(len(shown))
        matrices[:, diagonal, diagonal] = accuracies[:, None]
        trained = [at for at, number in enumerate(numbers) if number >= 0]
        rows, columns = np.ix_(trained, trained)
        trained_numbers = [numbers[at] for at in trained]
        matrices[:, rows, columns] = self.matrices[who][:, trained_numbers][:, :, trained_numbers]
        return with_rest(matrices, accuracies, priors)


def with_rest(matrices: Floats, accuracies: Floats, priors: Floats) -> Floats:
    """Return matrices of C answers with a row and a column for `REST`, so that rows sum to 1, float64[A, C + 1, C + 1].

    Of wrong answers in `matrices`, float64[A, C, C], only the proportions in a row matter. `priors`, float64[A, C], are
    0 for answers that a task does not have.
    """
    size = matrices.shape[1]
    diagonal = np.arange(size)
    full = np.zeros((len(matrices), size + 1, size + 1))
    full[:, :size, :size] = matrices * priors[:, None, :]
    full[:, diagonal, diagonal] = 0
    full[:, size, :size] = priors
    right = np.column_stack([matrices[:, diagonal, diagonal], accuracies])
    wrong = full.sum(2)
    full *= np.divide((1 - right) * SHOWN, wrong, out=np.zeros_like(wrong), where=wrong > 0)[:, :, None]
    full[:, diagonal, diagonal] = right[:, :size]
    full[:, :, size] = 1 - full.sum(2)
    return full


def average(counts: Floats) -> tuple[Floats, Floats]:
    """Return matrices and accuracies of K annotators and of the average one, from expected counts, float64[K, Y, Y].

    The fewer answers an annotator has given, the more their matrix is like the average one.
    """
    size = counts.shape[1]
    pooled = counts.sum(0)
    right = np.einsum("kyy->k", counts)
    usual = (right.sum() + _WEIGHT * USUAL_ACCURACY) / (pooled.sum() + _WEIGHT)
    of_annotators = (right + _WEIGHT * usual) / (counts.sum((1, 2)) + _WEIGHT)
    accuracies = np.append(of_annotators, usual)
    errors = (pooled + 0.5) * (1 - np.eye(size))
    errors /= np.maximum(errors.sum(1, keepdims=True), 1e-9)  # there may be one answer only
    base = (1 - accuracies)[:, None, None] * errors + accuracies[:, None, None] * np.eye(size)
    every = np.concatenate([counts, pooled[None]])
    return (every + _WEIGHT * base) / (every.sum(2, keepdims=True) + _WEIGHT), accuracies


_LEAST = 0.01  # of prior probability: models are sometimes sure and wrong
_label = lru_cache(1 << 12)(label)


class GivenAnswer(NamedTuple):
    """An answer and who gave it."""

    annotator: int
    answer: Answer


class Posterior(NamedTuple):
    """The posterior of a task: how probable each answer is to be right."""

    answers: tuple[Answer, ...]  # C that are shown or were given
    probabilities: Floats  # float64[C + 1], the last one of REST
    prior: Floats  # float64[C + 1], before any answer

    @property
    def best(self) -> tuple[Answer | None, float]:
        """The most probable answer with its probability; `REST` is none."""
        at = int(self.probabilities.argmax())
        return (self.answers[at] if at < len(self.answers) else REST), float(self.probabilities[at])

    def ranked(self) -> list[tuple[Answer, float]]:
        """Return the answers with their probabilities, the most probable first."""
        pairs = zip(self.answers, self.probabilities.tolist(), strict=False)
        return sorted(pairs, key=lambda pair: -pair[1])


def posterior(candidates: Sequence[Candidate], judgements: Sequence[GivenAnswer], people: Confusions) -> Posterior:
    """Return the posterior of a task with these candidates after answers; "can't tell" says nothing."""
    said = [judgement for judgement in judgements if judgement.answer != CANNOT_TELL]
    answers, weights = prior(candidates, [judgement.answer for judgement in said])
    columns = [answers.index(judgement.answer) for judgement in said]
    matrices = people.restricted([judgement.annotator for judgement in said], answers, weights)
    with np.errstate(divide="ignore"):
        scores = np.log(weights) + np.log(matrices[np.arange(len(columns)), :, columns]).sum(0)
    probabilities = np.exp(scores - scores.max())
    return Posterior(answers, probabilities / probabilities.sum(), weights)


def prior(candidates: Sequence[Candidate], answers_given: Sequence[Answer]) -> tuple[tuple[Answer, ...], Floats]:
    """Return the C answers that are shown or given, and the priors of these and of `REST`, float64[C + 1].

    Answers that are not shown share the probability that the candidates leave.
    """
    shown = {_label(candidate.label): max(candidate.probability, _LEAST) for candidate in candidates}
    answers = (*shown, *(answer for answer in dict.fromkeys(answers_given) if answer not in shown))
    rest = max(1 - sum(shown.values()), _LEAST) / (len(answers) - len(shown) + 1)
    weights = np.array([*shown.values(), *[rest] * (len(answers) - len(shown) + 1)])
    return answers, weights / weights.sum()


def expected_gain(before: Posterior, people: Confusions, annotator: int | None = None) -> float:
    """Return what an answer of an annotator, or of the average one, is expected to tell, in nats."""
    return float(gain_of_answer(before.probabilities, people.restricted([annotator], before.answers, before.prior)[0]))


_ITERATIONS, _TOLERANCE = 50, 1e-4
_SOONEST = 20  # answers until confusions are learned again
Integers = NDArray[np.int64]


class Answered(NamedTuple):
    """A task of labels with its standing answers, and the right label if it is known."""

    guideline: str
    candidates: Sequence[Candidate]
    answers: list[GivenAnswer]
    right: Answer | None = None


@dataclass(frozen=True, eq=False)
class _Tables:
    """Tasks and answers as arrays: N tasks of at most C answers each (-1: none), A answers that were given."""

    shown: Integers  # [N, C] numbers of answers
    prior: Floats  # [N, C + 1]
    possible: NDArray[np.bool_]  # [N, C + 1], the right one alone where it is known
    task: Integers  # [A]
    annotator: Integers  # [A]
    column: Integers  # [A], among those shown


def confusions(answered: Sequence[Answered]) -> dict[str, Confusions]:
    """Learn how annotators answer, by guideline."""
    return {guideline: _fitted(tasks)[0] for guideline, tasks in _by_guideline(answered).items()}


def _by_guideline(answered: Sequence[Answered]) -> dict[str, list[Answered]]:
    tasks: dict[str, list[Answered]] = defaultdict(list)
    for task in answered:
        tasks[task.guideline].append(task)
    return tasks


class LearnedConfusions:
    """How annotators answer, learned again whenever the number of answers has grown by a fifth."""

    def __init__(self) -> None:
        self._people: Mapping[str, Confusions] | None = None
        self._left = 0
        self._turn = Lock()

    def confusions(self, read: Callable[[], Sequence[Answered]], changes: int) -> Mapping[str, Confusions]:
        """Return confusions by guideline, before `changes` more answers. One thread learns from `read()`."""
        if (self._people is None or self._left <= 0) and self._turn.acquire(blocking=self._people is None):
            try:
                if self._people is None or self._left <= 0:
                    answered = read()
                    self._people = confusions(answered)
                    self._left = max(_SOONEST, sum(len(task.answers) for task in answered) // 5)
            finally:
                self._turn.release()
        assert self._people is not None  # noqa: S101  # whoever was first has learned it
        self._left -= changes
        return self._people


class Reliable(NamedTuple):
    """How reliable an annotator is: the probability that an answer is right, and its interval of 95%."""

    annotator: str
    guideline: str
    answers: int
    right: float
    low: float
    high: float


def reliabilities(answered: Sequence[Answered], names: Mapping[int, str]) -> list[Reliable]:
    """Return how reliable everybody is, by guideline and name."""
    from tagweave.sources.reliability import Prior, Reliability  # brings Numba, which no answer waits for

    reliable = []
    for guideline, tasks in _by_guideline(answered).items():
        people, counts = _fitted(tasks)
        labels = tuple(map(str, people.answers))
        who = tuple(names[annotator] for annotator in people.annotators)
        prior = Prior.even(len(labels), 0.0, {})
        accuracy = Reliability(labels, who, counts.transpose(0, 2, 1)[:, None], prior).accuracy()
        totals = counts.sum((1, 2)).round().astype(int)
        rows = zip(who, totals.tolist(), accuracy.tolist(), strict=True)
        reliable += [Reliable(name, guideline, total, *interval) for name, total, interval in rows]
    return sorted(reliable, key=lambda row: (row.guideline, row.annotator))


def _fitted(answered: Sequence[Answered]) -> tuple[Confusions, Floats]:
    """Return the matrices, and the expected counts that they come from, float64[K, Y, Y]."""
    numbers: dict[Answer, int] = {}
    annotators: dict[int, int] = {}
    tables = _tables(answered, numbers, annotators)
    matrices, accuracies = average(np.zeros((len(annotators), len(numbers), len(numbers))))
    before = np.zeros_like(tables.prior)
    counts = np.zeros_like(matrices[:-1])
    for _ in range(_ITERATIONS):
        posteriors = _posteriors(tables, matrices, accuracies)
        counts = _counts(tables, posteriors, counts.shape)
        matrices, accuracies = average(counts)
        if np.abs(posteriors - before).max(initial=0.0) < _TOLERANCE:
            break
        before = posteriors
    return Confusions(numbers, annotators, matrices, accuracies), counts


def _tables(answered: Sequence[Answered], numbers: dict[Answer, int], annotators: dict[int, int]) -> _Tables:
    shown: list[list[int]] = []
    priors: list[Floats] = []
    rights: list[int] = []
    rows: list[tuple[int, int, int]] = []
    for _, candidates, judgements, right in answered:
        said = [judgement for judgement in judgements if judgement.answer != CANNOT_TELL]
        right_answer = [] if right is None else [right]
        answers, prior_of_task = prior(candidates, [judgement.answer for judgement in said] + right_answer)
        for annotator, answer in said:
            rows.append((len(shown), annotators.setdefault(annotator, len(annotators)), answers.index(answer)))
        shown.append([numbers.setdefault(answer, len(numbers)) for answer in answers])
        priors.append(prior_of_task)
        rights.append(-1 if right is None else answers.index(right))
    width = max(map(len, shown), default=0)
    padded = np.array([[*row, *[-1] * (width - len(row))] for row in shown], np.int64).reshape(-1, width)
    weights = np.zeros((len(shown), width + 1))
    for task, prior_of_task in enumerate(priors):
        weights[task, : len(prior_of_task) - 1] = prior_of_task[:-1]
        weights[task, width] = prior_of_task[-1]
    possible = np.array(rights)[:, None] == np.append(np.arange(width), -2)
    possible[np.array(rights) < 0] = True
    return _Tables(padded, weights, possible, *np.array(rows, np.int64).reshape(-1, 3).T)


def _posteriors(tables: _Tables, matrices: Floats, accuracies: Floats) -> Floats:
    """Return posteriors, float64[N, C + 1]."""
    shown = tables.shown[tables.task]
    who = tables.annotator
    restricted = matrices[who[:, None, None], shown[:, :, None], shown[:, None, :]]
    likelihood = with_rest(restricted, accuracies[who], tables.prior[tables.task][:, :-1])[
        np.arange(len(who)), :, tables.column
    ]
    with np.errstate(divide="ignore"):
        scores = np.log(tables.prior * tables.possible)
        np.add.at(scores, tables.task, np.log(likelihood))
    weights: Floats = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return weights


def _counts(tables: _Tables, posteriors: Floats, shape: tuple[int, ...]) -> Floats:
    """Return expected counts, float64[K, Y, Y]: how often an annotator answered a where y was right."""
    width = tables.shown.shape[1]
    size = shape[1]
    shown = tables.shown[tables.task]
    answered = shown[np.arange(len(shown)), tables.column]
    cells = (tables.annotator[:, None] * size + shown) * size + answered[:, None]
    weights = np.where(shown >= 0, posteriors[tables.task][:, :width], 0.0)
    cells = np.where(shown >= 0, cells, 0)
    return np.bincount(cells.ravel(), weights.ravel(), int(np.prod(shape))).reshape(shape).astype(np.float64)
