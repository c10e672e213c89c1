"""How annotators answer: for each of them, the probability of every answer to a task, given what is right.

A task shows a few labels, and whoever is wrong mostly chooses another one of these, and rather one that the model finds
probable, as the model's doubts are people's, too. So a row of a confusion matrix is restricted to what is shown or was
answered, with wrong answers in proportion to their prior probabilities; all other labels together are `REST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.task import Answer

Floats = NDArray[np.float64]
REST = None
"""Any right answer that is neither shown nor given by anybody."""
SHOWN = 0.9
"""The share of wrong answers that are among those shown."""
USUAL_ACCURACY = 0.9
"""Of an annotator of whom nothing is known, if nothing is known of the others either."""


@dataclass(frozen=True, eq=False)
class Confusions:
    """The confusion matrices of the annotators of a guideline.

    Attributes:
        answers: the Y answers that have a row.
        annotators: numbers in the store, with the number k of their matrix; all others answer as the average one does.
        matrices: float64[K + 1, Y, Y]: P(answer a | y is right) is `matrices[k, y, a]`; the last one is the average.
        accuracies: float64[K + 1]: how often each is right.
    """

    answers: Mapping[Answer, int] = field(default_factory=dict)
    annotators: Mapping[int, int] = field(default_factory=dict)
    matrices: Floats = field(default_factory=lambda: np.zeros((1, 0, 0)))
    accuracies: Floats = field(default_factory=lambda: np.full(1, USUAL_ACCURACY))

    def restricted(self, annotators: Sequence[int | None], shown: Sequence[Answer], prior: Floats) -> Floats:
        """float64[A, C + 1, C + 1]: the matrices of annotators for C answers and `REST`; `None`: of the average one.

        `prior` is float64[C + 1].
        """
        who = [-1 if each is None else self.annotators.get(each, -1) for each in annotators]
        numbers = [self.answers.get(each, -1) for each in shown]
        accuracies, priors = self.accuracies[who], np.broadcast_to(prior[:-1], (len(who), len(shown)))
        if -1 not in numbers:
            return with_rest(self.matrices[who][:, numbers][:, :, numbers], accuracies, priors)
        matrices = np.repeat((1 - accuracies)[:, None, None], len(shown), 1).repeat(len(shown), 2)
        diagonal = np.arange(len(shown))
        matrices[:, diagonal, diagonal] = accuracies[:, None]
        known = [at for at, number in enumerate(numbers) if number >= 0]
        rows, columns = np.ix_(known, known)
        own = [numbers[at] for at in known]
        matrices[:, rows, columns] = self.matrices[who][:, own][:, :, own]
        return with_rest(matrices, accuracies, priors)


def with_rest(matrices: Floats, accuracies: Floats, priors: Floats) -> Floats:
    """float64[A, C + 1, C + 1]: matrices of C answers with a row and a column for `REST`, so that rows sum to 1.

    Args:
        matrices: float64[A, C, C]; of wrong answers, only the proportions in a row matter.
        accuracies: float64[A].
        priors: float64[A, C], prior probabilities; 0 of answers that a task does not have.
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
    """Matrices and accuracies of K annotators and of the average one from expected counts, float64[K, Y, Y].

    The less is known of somebody, the more they are taken to be like the average one.
    """
    size = counts.shape[1]
    pooled, right = counts.sum(0), np.einsum("kyy->k", counts)
    usual = (right.sum() + _WEIGHT * USUAL_ACCURACY) / (pooled.sum() + _WEIGHT)
    own = (right + _WEIGHT * usual) / (counts.sum((1, 2)) + _WEIGHT)
    accuracies = np.append(own, usual)
    errors = (pooled + 0.5) * (1 - np.eye(size))
    errors /= np.maximum(errors.sum(1, keepdims=True), 1e-9)  # there may be one answer only
    base = (1 - accuracies)[:, None, None] * errors + accuracies[:, None, None] * np.eye(size)
    every = np.concatenate([counts, pooled[None]])
    return (every + _WEIGHT * base) / (every.sum(2, keepdims=True) + _WEIGHT), accuracies


_WEIGHT = 10.0  # answers that the prior is worth
