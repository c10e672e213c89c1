"""Simulated annotators: they know the gold answer, and sometimes make a mistake.

A mistake is one of the other candidates, drawn in proportion to the model's probabilities; in spans it is one proposed
span too many, in place of those that it overlaps, or one that is missing. The probability of a mistake may depend on
the task: the more the mistakes of different people coincide, the more tasks are dropped.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol

from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, AnnotationTask, Answer, Asks, label, marked
from tagweave.corpus.spans import ANY

Chance = Callable[[AnnotationTask, Answer], float]
"""The probability that an annotator answers a task correctly, given the right answer."""

_HALVINGS = 25


class Desk(Protocol):
    """Where an annotator gets tasks and answers them: a store or a server."""

    def claim(self) -> tuple[int, AnnotationTask] | None:
        """The number of a task, and the task; `None` if nothing is left for the annotator."""

    def answer(self, number: int, answer: Answer) -> None:
        """Answer a claimed task; returns when the answer is acknowledged."""


class StoreDesk(NamedTuple):
    """The desk of an annotator at a store."""

    store: Store
    annotator: int

    def claim(self) -> tuple[int, AnnotationTask] | None:
        """See `Desk`."""
        lease = self.store.claim(self.annotator)
        return None if lease is None else (lease.task_id, lease.task)

    def answer(self, number: int, answer: Answer) -> None:
        """See `Desk`."""
        self.store.answer(self.annotator, number, answer)


class Simulated:
    """A simulated annotator at a desk.

    Args:
        desk: where tasks come from.
        gold: the right answer to a task.
        chance: the probability of giving it.
        seed: seed of the mistakes.
    """

    def __init__(self, desk: Desk, gold: Callable[[AnnotationTask], Answer], chance: Chance, seed: int) -> None:
        self._desk, self._gold, self._chance, self._random = desk, gold, chance, Random(seed)

    def step(self) -> bool:
        """Answer one task; `False` if there is none."""
        claimed = self._desk.claim()
        if claimed is None:
            return False
        number, task = claimed
        right = self._gold(task)
        chances = answer_chances(task, right, self._chance(task, right))
        self._desk.answer(number, self._random.choices([*chances], [*chances.values()])[0])
        return True


def work_all(annotators: Sequence[Simulated], seed: int = 0) -> int:
    """Let all annotators work in turns, in random order, until no task is left. Returns the number of answers."""
    random, answers = Random(seed), 0
    while worked := sum(each.step() for each in random.sample(annotators, len(annotators))):
        answers += worked
    return answers


def even(accuracy: float) -> Chance:
    """The same accuracy on every task, so that the mistakes of different people are independent."""
    return lambda _task, _right: accuracy


def uneven(share: float, accuracy: float) -> Chance:
    """This accuracy on a share of the tasks, which are hard; nobody makes mistakes on the others.

    Whether a task is hard depends only on its location and focus.
    """
    return lambda task, _right: accuracy if _draw(task) < share else 1.0


def as_the_model(odds: float) -> Chance:
    """Annotators are as uncertain as the model, except that their odds of the right answer are `odds` times as high."""

    def chance(task: AnnotationTask, right: Answer) -> float:
        probabilities = {each.label: each.probability for each in task.candidates}
        rest = max(1.0 - sum(probabilities.values()), 1e-4)  # of all other labels
        probability = probabilities.get(right.label or "", rest)
        return odds * probability / (odds * probability + 1.0 - min(probability, 1.0)) if probability < 1 else 1.0

    return chance


def answer_chances(task: AnnotationTask, right: Answer, accuracy: float) -> dict[Answer, float]:
    """The probability of every answer to a task, for an annotator of this accuracy."""
    if task.asks is Asks.SPANS:
        others = _span_mistakes(task, right)
    else:
        others = {label(each.label): each.probability for each in task.candidates if label(each.label) != right}
    total = sum(others.values())
    if total <= 0:
        others, total = {CANNOT_TELL: 1.0}, 1.0
    return {right: accuracy, **{answer: (1 - accuracy) * share / total for answer, share in others.items()}}


def _span_mistakes(task: AnnotationTask, right: Answer) -> dict[Answer, float]:
    """Answers with one wrong span, each with the probability of the proposal, or with the smallest one if it misses."""
    typed = (each for each in task.candidates if each.label != ANY)
    wrong = {each.span: each.probability for each in typed if each.span not in right.spans}
    others = {}
    for span, probability in wrong.items():
        apart = (each for each in right.spans if (each.stop or 0) <= span.start or (span.stop or 0) <= each.start)
        others[marked([*apart, span])] = probability
    least = min(wrong.values(), default=1.0)
    for missing in right.spans:
        others[marked(each for each in right.spans if each != missing)] = least
    return others


class Shares(NamedTuple):
    """Shares of tasks: agreed by the first two annotators, agreed by three of four, and dropped."""

    two: float
    four: float
    dropped: float


def expected_shares(chances: Sequence[dict[Answer, float]]) -> Shares:
    """The outcomes of two annotators, and two more if they differ, all of whom answer task i by `chances[i]`.

    With q the probabilities of the answers to a task, the first two agree with probability sum q^2. They differ, and
    three of four agree, with probability sum 2 q^3 (1 - q): one answer thrice, the other one among the first two.
    """
    two = sum(sum(q**2 for q in each.values()) for each in chances) / len(chances)
    four = sum(sum(2 * q**3 * (1 - q) for q in each.values()) for each in chances) / len(chances)
    return Shares(two, four, 1 - two - four)


def with_agreement(
    agreement: float,
    kind: Callable[[float], Chance],
    low: float,
    high: float,
    tasks: Sequence[tuple[AnnotationTask, Answer]],
) -> float:
    """The parameter of `kind` in `low` .. `high` for which two annotators agree this often; agreement rises with it.

    Raises:
        ValueError: no parameter in the range has this agreement.
    """

    def agreed(number: float) -> float:
        chance = kind(number)
        return expected_shares([answer_chances(task, right, chance(task, right)) for task, right in tasks]).two

    if not agreed(low) <= agreement <= agreed(high):
        found = f"{agreed(low):.3f} .. {agreed(high):.3f}"
        raise ValueError(f"found an agreement of {agreement:.3f}, expected one in {found}")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if agreed(middle) < agreement else (low, middle)
    return (low + high) / 2


def _draw(task: AnnotationTask) -> float:
    """A number in 0 .. 1 that depends only on location and focus."""
    which = f"{task.sentence.location.path}:{task.sentence.location.line}:{task.start}:{task.stop}"
    return zlib.crc32(which.encode()) / 2**32
