"""Layout of a plot of the accuracy of models against minutes of annotation, in units of an SVG's view box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tagweave.annotate.questions import ModelVersion

WIDTH, HEIGHT = 460, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 12, 44
_TICKS = 6  # at most, plus one where the ends are rounded
_STEPS = (1.0, 2.0, 5.0, 10.0)
_SHORTEST = 0.01  # length of an axis, in per cent or minutes


class Point(NamedTuple):
    """A model and its coordinates."""

    x: float
    y: float
    model: ModelVersion


class Tick(NamedTuple):
    """A coordinate on an axis, and the number there."""

    at: float
    text: str


class Plot(NamedTuple):
    """Everything that the template draws.

    Attributes:
        left, right, top, bottom: the frame.
        points: the models, by minutes.
        minutes, accuracies: ticks of the horizontal axis, and of the vertical one, which is in per cent.
    """

    left: float
    right: float
    top: float
    bottom: float
    points: tuple[Point, ...]
    minutes: tuple[Tick, ...]
    accuracies: tuple[Tick, ...]


class _Axis(NamedTuple):
    """From `low` to `high` in round steps, drawn from `begin` to `end`."""

    low: float
    high: float
    step: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        return round(self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin), 1)

    def ticks(self) -> tuple[Tick, ...]:
        decimals = max(0, -math.floor(math.log10(self.step) + 1e-9))
        number = round((self.high - self.low) / self.step)
        values = (self.low + k * self.step for k in range(number + 1))
        return tuple(Tick(self.at(value), f"{value:.{decimals}f}") for value in values)


def plot(models: Sequence[ModelVersion]) -> Plot | None:
    """A plot of the models that have an accuracy; `None` if none has."""
    known = sorted(
        ((each.minutes, 100 * each.accuracy, each) for each in models if each.accuracy is not None),
        key=lambda each: (each[0], each[2].version),
    )
    if not known:
        return None
    left, right, top, bottom = _LEFT, WIDTH - _RIGHT, _TOP, HEIGHT - _BOTTOM
    across = _axis(0.0, max(minutes for minutes, _, _ in known), left, right)
    up = _axis(min(y for _, y, _ in known), max(y for _, y, _ in known), bottom, top)
    points = tuple(Point(across.at(minutes), up.at(accuracy), model) for minutes, accuracy, model in known)
    return Plot(left, right, top, bottom, points, across.ticks(), up.ticks())


def _axis(low: float, high: float, begin: float, end: float) -> _Axis:
    """An axis with round ends around `low` .. `high`."""
    if high - low < _SHORTEST:  # one model, or several of the same accuracy
        low, high = max(0.0, low - 0.5), high + 0.5
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = unit * next(each for each in _STEPS if each * unit >= rough * (1 - 1e-9))
    return _Axis(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step, begin, end)
