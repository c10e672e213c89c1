"""A room without a store: it hands out tasks and settles them as the store does, in memory, for many people's answers.

People answer one after the other, so nobody waits for a slot; what the store does besides has no part in who is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

import numpy as np

from tagweave.annotate.reliability import Answered, Confusions, GivenAnswer, LearnedConfusions
from tagweave.annotate.task import AnnotationTask, Answer, Settings, Status, TaskOutcome, aggregate


class Room:
    """Tasks, and what was answered.

    Attributes:
        tasks: the questions.
        given: the answers to each, in order.
        outcomes: what came of each so far.
    """

    def __init__(self, tasks: Sequence[AnnotationTask], settings: Settings, people: int, seed: int) -> None:
        self.tasks, self._settings, self._random = tasks, settings, Random(seed)
        self.given: list[list[GivenAnswer]] = [[] for _ in tasks]
        self.outcomes = [TaskOutcome(Status.OPEN, None, 1) for _ in tasks]
        self._learned = LearnedConfusions()
        rule = settings.posterior
        self._gain = np.array([rule.gain(e.guideline, e.candidates) if rule else e.uncertainty for e in tasks])
        self._is_left = np.ones((people, len(tasks)), np.bool_)

    def answered(self) -> list[Answered]:
        """All answers so far, to learn reliabilities from."""
        pairs = zip(self.tasks, self.given, strict=True)
        return [Answered(task.guideline, task.candidates, given) for task, given in pairs if given]

    def claim(self, person: int) -> int | None:
        """One of the tasks that gain most, at random."""
        left = np.flatnonzero(self._is_left[person])
        if not len(left):
            return None
        most = left[np.argsort(-self._gain[left], kind="stable")[: self._settings.window]]
        return int(self._random.choice(most))

    def answer(self, person: int, number: int, answer: Answer) -> None:
        """Take an answer, and settle the task."""
        people = self._learned.confusions(self.answered, 1) if self._settings.posterior else {}
        self.given[number].append(GivenAnswer(person, answer))
        self._is_left[person, number] = False
        self.outcomes[number] = self._judged(number, people)
        self._gain[number] = self.outcomes[number].gain
        if self.outcomes[number].status is not Status.OPEN:
            self._is_left[:, number] = False

    def _judged(self, number: int, people: Mapping[str, Confusions]) -> TaskOutcome:
        task, given, rule = self.tasks[number], self.given[number], self._settings.posterior
        if rule is None:
            outcome = aggregate([each.answer for each in given], self._settings.rule)
            return outcome._replace(gain=self._gain[number])
        return replace(rule, people=people).judged(task.guideline, task.candidates, given)


class RoomDesk(NamedTuple):
    """The desk of somebody in a room."""

    room: Room
    person: int

    def claim(self) -> tuple[int, AnnotationTask] | None:
        """See `Desk`."""
        number = self.room.claim(self.person)
        return None if number is None else (number, self.room.tasks[number])

    def answer(self, number: int, answer: Answer) -> None:
        """See `Desk`."""
        self.room.answer(self.person, number, answer)
