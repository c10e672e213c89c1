"""What is probably right of a task, after some answers; whom to ask further, and when to stop.

The right answer has a prior, the probabilities of the model that proposed the candidates. Each answer is worth what its
annotator's confusion matrix says (Dawid and Skene 1979, one task at a time). A task is agreed on once an answer is sure
enough, and dropped after a maximum of answers. The next annotator is asked where their answer is expected to
reduce entropy most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tagweave.annotate.aggregation import Outcome, Status
from tagweave.annotate.confusions import REST, Confusions, Floats
from tagweave.annotate.task import CANNOT_TELL, Answer, Candidate, label

NAME = "dawid-skene"
"""What the rule is called."""
_LEAST = 0.01  # of prior probability: models are sometimes sure and wrong
_NOBODY = Confusions()
_label = lru_cache(1 << 12)(label)


class Given(NamedTuple):
    """An answer of somebody."""

    annotator: int
    answer: Answer


class Posterior(NamedTuple):
    """What is probably right.

    Attributes:
        answers: the C answers that are shown or were given.
        probabilities: float64[C + 1], the last one of `REST`.
        prior: float64[C + 1], before any answer.
    """

    answers: tuple[Answer, ...]
    probabilities: Floats
    prior: Floats

    @property
    def best(self) -> tuple[Answer | None, float]:
        """The most probable answer with its probability; `REST` is none."""
        at = int(self.probabilities.argmax())
        return (self.answers[at] if at < len(self.answers) else REST), float(self.probabilities[at])

    def ranked(self) -> list[tuple[Answer, float]]:
        """The answers with their probabilities, the most probable first."""
        pairs = zip(self.answers, self.probabilities.tolist(), strict=False)
        return sorted(pairs, key=lambda pair: -pair[1])


def posterior(candidates: Sequence[Candidate], given: Sequence[Given], people: Confusions) -> Posterior:
    """The posterior of a task with these candidates after answers; "can't tell" says nothing."""
    said = [each for each in given if each.answer != CANNOT_TELL]
    answers, weights = prior(candidates, [each.answer for each in said])
    columns = [answers.index(each.answer) for each in said]
    matrices = people.restricted([each.annotator for each in said], answers, weights)
    return _weighed(answers, weights, matrices, columns)


def _weighed(answers: tuple[Answer, ...], weights: Floats, matrices: Floats, columns: Sequence[int]) -> Posterior:
    """The posterior of a prior and float64[A, C + 1, C + 1], the matrices of those who gave the answers `columns`."""
    with np.errstate(divide="ignore"):
        scores = np.log(weights) + np.log(matrices[np.arange(len(columns)), :, columns]).sum(0)
    probabilities = np.exp(scores - scores.max())
    return Posterior(answers, probabilities / probabilities.sum(), weights)


def prior(candidates: Sequence[Candidate], given: Sequence[Answer]) -> tuple[tuple[Answer, ...], Floats]:
    """The answers that are shown or given, and float64[C + 1], their prior probabilities and that of `REST`.

    Answers that are not shown share what the candidates leave.
    """
    shown = {_label(each.label): max(each.probability, _LEAST) for each in candidates}
    answers = (*shown, *(each for each in dict.fromkeys(given) if each not in shown))
    rest = max(1 - sum(shown.values()), _LEAST) / (len(answers) - len(shown) + 1)
    weights = np.array([*shown.values(), *[rest] * (len(answers) - len(shown) + 1)])
    return answers, weights / weights.sum()


def expected_gain(found: Posterior, people: Confusions, annotator: int | None = None) -> float:
    """The expected reduction of entropy, in bits, by an answer of an annotator, or of the average one."""
    joint = found.probabilities[:, None] * people.restricted([annotator], found.answers, found.prior)[0]
    # the information that the answer has about what is right
    positive = joint[joint > 0]
    return max(_entropy(found.probabilities) + _entropy(joint.sum(0)) + float(positive @ np.log2(positive)), 0.0)


def _entropy(probabilities: Floats) -> float:
    """In bits."""
    positive = probabilities[probabilities > 0]
    return -float(positive @ np.log2(positive))


class Judged(NamedTuple):
    """The outcome of a task, and what another answer of the average annotator is expected to gain, in bits."""

    outcome: Outcome
    gain: float


@dataclass(frozen=True)
class PosteriorRule:
    """When a task of labels is agreed on: as soon as its posterior is sure enough.

    Attributes:
        sure: the least probability of the answer.
        most: annotators of a task at most; after that it is dropped.
        people: how annotators answer, by guideline.

    Raises:
        ValueError: a probability that two answers could have at once, or no annotators.
    """

    sure: float = 0.95
    most: int = 6
    people: Mapping[str, Confusions] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0.5 < self.sure < 1 or self.most < 1:
            found = f"{self.sure:g} and {self.most} annotators"
            raise ValueError(f"found {found}, expected a probability above 0.5 and below 1, and 1 annotator or more")

    def confusions(self, guideline: str) -> Confusions:
        """How annotators answer tasks of a guideline."""
        return self.people.get(guideline, _NOBODY)

    def gain(self, guideline: str, candidates: Sequence[Candidate]) -> float:
        """What a first answer of the average annotator is expected to gain, in bits."""
        people = self.confusions(guideline)
        return expected_gain(posterior(candidates, (), people), people)

    def judged(self, guideline: str, candidates: Sequence[Candidate], given: Sequence[Given]) -> Judged:
        """What follows from answers; as long as a task is open, one more annotator is wanted."""
        people, count = self.confusions(guideline), len(given)
        found = posterior(candidates, given, people)
        answer, probability = found.best
        if given and answer is not REST and probability >= self.sure:
            return Judged(Outcome(Status.AGREED, answer, count), 0.0)
        nobody_can_tell = count > 1 and all(each.answer == CANNOT_TELL for each in given)
        if count >= self.most or nobody_can_tell:
            return Judged(Outcome(Status.DROPPED, None, count), 0.0)
        return Judged(Outcome(Status.OPEN, None, count + 1), expected_gain(found, people))
