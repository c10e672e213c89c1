"""Simulated annotators: they know the gold answer, and are wrong now and then.

Who is wrong says one of the other candidates, in proportion to the model's probabilities. How often somebody is wrong
may depend on the task: where mistakes of different people meet on the same tasks, more of those are dropped.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol

from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, AnnotationTask, Answer, label

Chance = Callable[[AnnotationTask, Answer], float]
"""The probability that somebody answers a task right, given what is right."""

_HALVINGS = 25


class Desk(Protocol):
    """Where somebody gets tasks and answers them: a store, or a server."""

    def claim(self) -> tuple[int, AnnotationTask] | None:
        """The number of a task, and the task; `None` where nothing is left for them."""

    def answer(self, number: int, answer: Answer) -> None:
        """Answer a task that was claimed; returns when the answer is acknowledged."""


class StoreDesk(NamedTuple):
    """A desk at a store, of an annotator's number."""

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
    """Somebody at a desk.

    Args:
        desk: where tasks come from.
        gold: what is right.
        chance: how often it is said.
        seed: of mistakes.
    """

    def __init__(self, desk: Desk, gold: Callable[[AnnotationTask], Answer], chance: Chance, seed: int) -> None:
        self._desk, self._gold, self._chance, self._random = desk, gold, chance, Random(seed)

    def step(self) -> bool:
        """Answer one task; `False` where there is none."""
        claimed = self._desk.claim()
        if claimed is None:
            return False
        number, task = claimed
        right = self._gold(task)
        chances = answer_chances(task, right, self._chance(task, right))
        self._desk.answer(number, self._random.choices([*chances], [*chances.values()])[0])
        return True


def work_all(annotators: Sequence[Simulated], seed: int = 0) -> int:
    """Let everybody work, by turns in random order, until nothing is left for anybody; how many answers there were."""
    random, answers = Random(seed), 0
    while worked := sum(each.step() for each in random.sample(annotators, len(annotators))):
        answers += worked
    return answers


def even(accuracy: float) -> Chance:
    """As often right on every task: mistakes of different people have nothing to do with one another."""
    return lambda _task, _right: accuracy


def uneven(share: float, accuracy: float) -> Chance:
    """A share of the tasks is hard, with this accuracy on them; nobody is wrong on the others.

    Which ones are hard depends on place and focus alone.
    """
    return lambda task, _right: accuracy if _draw(task) < share else 1.0


def as_the_model(odds: float) -> Chance:
    """The doubts of people are those of the model, with odds of the right answer so many times as high."""

    def chance(task: AnnotationTask, right: Answer) -> float:
        believed = {each.label: each.probability for each in task.candidates}
        left = max(1.0 - sum(believed.values()), 1e-4)  # what no candidate has
        probability = believed.get(right.label or "", left)
        return odds * probability / (odds * probability + 1.0 - min(probability, 1.0)) if probability < 1 else 1.0

    return chance


def answer_chances(task: AnnotationTask, right: Answer, accuracy: float) -> dict[Answer, float]:
    """The probability of every answer that somebody of an accuracy gives to a task."""
    others = {label(each.label): each.probability for each in task.candidates if label(each.label) != right}
    total = sum(others.values())
    if total <= 0:
        others, total = {CANNOT_TELL: 1.0}, 1.0
    return {right: accuracy, **{answer: (1 - accuracy) * share / total for answer, share in others.items()}}


class Shares(NamedTuple):
    """Shares of tasks: agreed by the first two, by three of four, and dropped."""

    two: float
    four: float
    dropped: float


def expected_shares(chances: Sequence[dict[Answer, float]]) -> Shares:
    """What two and two more annotators come to, where each answers task i by `chances[i]`, whoever it is.

    With q the chances of a task, the first two agree with sum q^2; they differ, and three of four agree, with
    sum 2 q^3 (1 - q): one answer thrice, the other one among the first two.
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
    """The number in `low` .. `high` with which two annotators agree so often; more of it, more agreement.

    Raises:
        ValueError: an agreement that no number in the range has.
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
    """A number in 0 .. 1 that belongs to place and focus."""
    which = f"{task.sentence.location.path}:{task.sentence.location.line}:{task.start}:{task.stop}"
    return zlib.crc32(which.encode()) / 2**32
