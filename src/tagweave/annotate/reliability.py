"""How reliable annotators are, learned from all answers: by EM, with known answers where there are some.

The model is that of `posterior`, over all tasks at once (Dawid and Skene 1979). Planted gold and what a curator decided
are known; of all other tasks, what is right is as probable as the answers make it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.confusions import Confusions, Floats, average, with_rest
from tagweave.annotate.posterior import Given, prior
from tagweave.annotate.task import CANNOT_TELL, Answer, Candidate

_ITERATIONS, _TOLERANCE = 50, 1e-4
_SOONEST = 20  # answers until confusions are learned again
Integers = NDArray[np.int64]


class Answered(NamedTuple):
    """A task of labels with its standing answers, and what is right if that is known."""

    guideline: str
    candidates: Sequence[Candidate]
    given: list[Given]
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
    """How annotators answer, by guideline."""
    return {guideline: _fitted(tasks)[0] for guideline, tasks in _by_guideline(answered).items()}


def _by_guideline(answered: Sequence[Answered]) -> dict[str, list[Answered]]:
    found: dict[str, list[Answered]] = defaultdict(list)
    for each in answered:
        found[each.guideline].append(each)
    return found


class LearnedConfusions:
    """How annotators answer, learned again whenever there is a fifth more to learn from."""

    def __init__(self) -> None:
        self._people: Mapping[str, Confusions] | None = None
        self._left, self._turn = 0, Lock()

    def confusions(self, read: Callable[[], Sequence[Answered]], changes: int) -> Mapping[str, Confusions]:
        """By guideline, before `changes` more answers; `read` gives all so far. One thread learns, others go on."""
        if (self._people is None or self._left <= 0) and self._turn.acquire(blocking=self._people is None):
            try:
                if self._people is None or self._left <= 0:
                    answered = read()
                    self._people = confusions(answered)
                    self._left = max(_SOONEST, sum(len(each.given) for each in answered) // 5)
            finally:
                self._turn.release()
        assert self._people is not None  # noqa: S101  # whoever was first has learned it
        self._left -= changes
        return self._people


class Reliable(NamedTuple):
    """How reliable somebody is.

    Attributes:
        annotator: the name.
        guideline: of the tasks.
        answers: how many there are.
        right, low, high: the probability that an answer is right, and its interval of 95%.
    """

    annotator: str
    guideline: str
    answers: int
    right: float
    low: float
    high: float


def reliabilities(answered: Sequence[Answered], names: Mapping[int, str]) -> list[Reliable]:
    """How reliable everybody is, by guideline and name; `names` are those of annotators."""
    from tagweave.sources.reliability import Prior, Reliability  # brings Numba, which no answer waits for

    found = []
    for guideline, tasks in _by_guideline(answered).items():
        people, counts = _fitted(tasks)
        labels, who = tuple(map(str, people.answers)), tuple(names[each] for each in people.annotators)
        prior = Prior.plain(len(labels), 0.0, 0.0)
        accuracy = Reliability(labels, who, counts.transpose(0, 2, 1)[:, None], prior).accuracy()
        totals = counts.sum((1, 2)).round().astype(int)
        rows = zip(who, totals.tolist(), accuracy.tolist(), strict=True)
        found += [Reliable(name, guideline, total, *interval) for name, total, interval in rows]
    return sorted(found, key=lambda each: (each.guideline, each.annotator))


def _fitted(answered: Sequence[Answered]) -> tuple[Confusions, Floats]:
    """The matrices, and float64[K, Y, Y], the expected counts that they come from."""
    numbers: dict[Answer, int] = {}
    annotators: dict[int, int] = {}
    tables = _tables(answered, numbers, annotators)
    matrices, accuracies = average(np.zeros((len(annotators), len(numbers), len(numbers))))
    before = np.zeros_like(tables.prior)
    counts = np.zeros_like(matrices[:-1])
    for _ in range(_ITERATIONS):
        found = _posteriors(tables, matrices, accuracies)
        counts = _counts(tables, found, counts.shape)
        matrices, accuracies = average(counts)
        if np.abs(found - before).max(initial=0.0) < _TOLERANCE:
            break
        before = found
    return Confusions(numbers, annotators, matrices, accuracies), counts


def _tables(answered: Sequence[Answered], numbers: dict[Answer, int], annotators: dict[int, int]) -> _Tables:
    shown: list[list[int]] = []
    priors: list[Floats] = []
    known: list[int] = []
    rows: list[tuple[int, int, int]] = []
    for _, candidates, given, right in answered:
        told = [each for each in given if each.answer != CANNOT_TELL]
        answers, own = prior(candidates, [each.answer for each in told] + ([] if right is None else [right]))
        for annotator, answer in told:
            rows.append((len(shown), annotators.setdefault(annotator, len(annotators)), answers.index(answer)))
        shown.append([numbers.setdefault(each, len(numbers)) for each in answers])
        priors.append(own)
        known.append(-1 if right is None else answers.index(right))
    width = max(map(len, shown), default=0)
    padded = np.array([[*each, *[-1] * (width - len(each))] for each in shown], np.int64).reshape(-1, width)
    weights = np.zeros((len(shown), width + 1))
    for at, own in enumerate(priors):
        weights[at, : len(own) - 1], weights[at, width] = own[:-1], own[-1]
    possible = np.array(known)[:, None] == np.append(np.arange(width), -2)
    possible[np.array(known) < 0] = True
    return _Tables(padded, weights, possible, *np.array(rows, np.int64).reshape(-1, 3).T)


def _posteriors(tables: _Tables, matrices: Floats, accuracies: Floats) -> Floats:
    """float64[N, C + 1]."""
    shown, who = tables.shown[tables.task], tables.annotator
    own = matrices[who[:, None, None], shown[:, :, None], shown[:, None, :]]
    likelihood = with_rest(own, accuracies[who], tables.prior[tables.task][:, :-1])[
        np.arange(len(who)), :, tables.column
    ]
    with np.errstate(divide="ignore"):
        scores = np.log(tables.prior * tables.possible)
        np.add.at(scores, tables.task, np.log(likelihood))
    weights: Floats = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return weights


def _counts(tables: _Tables, found: Floats, shape: tuple[int, ...]) -> Floats:
    """float64[K, Y, Y]: how often each annotator is expected to have given each answer where another one was right."""
    width, size = tables.shown.shape[1], shape[1]
    shown = tables.shown[tables.task]
    given = shown[np.arange(len(shown)), tables.column]
    cells = (tables.annotator[:, None] * size + shown) * size + given[:, None]
    weights = np.where(shown >= 0, found[tables.task][:, :width], 0.0)
    cells = np.where(shown >= 0, cells, 0)
    return np.bincount(cells.ravel(), weights.ravel(), int(np.prod(shape))).reshape(shape).astype(np.float64)
