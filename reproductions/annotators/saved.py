"""What the posterior saves in answers against the paper's rule: `python -m reproductions annotators --saved`.

People of three crowds answer tasks of the study until nobody is asked any more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from reproductions.annotators.room import Room, RoomDesk
from reproductions.lab.simulated_annotators import Chance, Simulated, even, work_all
from tagweave.annotate.reliability import PosteriorRule, confusions, posterior
from tagweave.annotate.task import AnnotationTask, Answer, Settings, Status

PEOPLE = (2, 4, 8)
SURE = (0.9, 0.95, 0.98, 0.99, 0.995, 0.998)
BEST = 0.995
"""The best of people who differ; the others are as far apart, and on average as often right as where all are equal."""

Known = list[tuple[AnnotationTask, Answer]]


class Crowd(NamedTuple):
    """People: what to call them, and the chance of each of so many to be right."""

    name: str
    chances: Callable[[int], list[Chance]]


def crowds(accuracy: float, as_the_model: Chance) -> Iterator[Crowd]:
    """People who are wrong equally on every task, where the model doubts, and of whom some are better than others."""
    yield Crowd("equally on every task", lambda count: [even(accuracy)] * count)
    yield Crowd("where the model doubts", lambda count: [as_the_model] * count)
    yield Crowd(
        "some more than others", lambda count: [even(p) for p in np.linspace(BEST, 2 * accuracy - BEST, count).tolist()]
    )


def compared(known: Known, crowd: Crowd, people: int, seeds: int) -> dict[str, Any]:
    """Of every rule, what each seed found."""
    rules = {"li-2015": Settings(), **{f"sure {sure}": Settings(posterior=PosteriorRule(sure)) for sure in SURE}}
    found = {
        name: [simulate(known, crowd.chances(people), settings, seed) for seed in range(seeds)]
        for name, settings in rules.items()
    }
    return {"crowd": crowd.name, "people": people, "rules": found}


def simulate(known: Known, chances: list[Chance], settings: Settings, seed: int) -> dict[str, float]:
    """Let people answer until nobody is asked any more, and count.

    `kept` and `right` are shares of tasks, `answers` is a task; `best` is how often the most probable answer is right
    of all tasks, kept or not, and `believed` its mean probability.
    """
    tasks, right = [task for task, _ in known], {(task.sentence.location, task.start): gold for task, gold in known}

    def gold(task: AnnotationTask) -> Answer:
        return right[task.sentence.location, task.start]

    room = Room(tasks, settings, len(chances), seed)
    desks = [RoomDesk(room, person) for person in range(len(chances))]
    everybody = enumerate(zip(desks, chances, strict=True))
    answers = work_all([Simulated(desk, gold, chance, 1000 * seed + i) for i, (desk, chance) in everybody], seed)
    pairs = list(zip(tasks, room.outcomes, strict=True))
    kept = [outcome.answer == gold(task) for task, outcome in pairs if outcome.status is Status.AGREED]
    people = confusions(room.answered())[tasks[0].guideline]
    best = [posterior(task.candidates, given, people).best for task, given in zip(tasks, room.given, strict=True)]
    return {
        "answers": answers / len(tasks),
        "kept": len(kept) / len(tasks),
        "right": sum(kept) / len(tasks),
        "best": float(np.mean([answer == gold(task) for task, (answer, _) in zip(tasks, best, strict=True)])),
        "believed": float(np.mean([probability for _, probability in best])),
    }


def summary(known: Known, accuracy: float, as_the_model: Chance, number: int, seeds: int) -> dict[str, Any]:
    """Of all crowds, on so many of the tasks."""
    some = random.Random(0).sample(known, min(number, len(known)))
    every = [(crowd, people) for crowd in crowds(accuracy, as_the_model) for people in PEOPLE]
    return {
        "tasks": len(some),
        "seeds": seeds,
        "accuracy": accuracy,
        "rows": [compared(some, crowd, people, seeds) for crowd, people in every],
    }
