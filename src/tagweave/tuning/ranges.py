"""Ranges: the values that a search may try for one field of a plan.

As text `log:0.01:1`, `float:0:0.5`, `int:1:5`, `int-log:1:64` and `choice:all,observed`; in JSON the same with typed
values, `{"log": [0.01, 1]}` and `{"choice": ["all", "observed"]}`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagweave.training.errors import PlanError

KINDS = ("float", "log", "int", "int-log", "choice")
"""How values are spread."""
_EXPECTED = "log:LOW:HIGH, float:LOW:HIGH, int:LOW:HIGH, int-log:LOW:HIGH or choice:A,B,..."


@dataclass(frozen=True)
class Range:
    """The values to try.

    Attributes:
        kind: `float` and `int` spread evenly, `log` and `int-log` over orders of magnitude; `choice` is a list.
        values: the lowest and the highest number, both included; of a choice, all values, as JSON can hold them.

    Raises:
        PlanError: limits that are no numbers or in the wrong order, or a choice without values or with one twice.
    """

    kind: str
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise PlanError(f"found a range {self.kind!r}, expected {_EXPECTED}")
        if self.kind == "choice":
            self._check_choice()
        else:
            self._check_limits()

    def _check_choice(self) -> None:
        if not self.values or len(set(self.labels)) < len(self.values):
            raise PlanError(f"found the choice {self.text()}, expected different values")

    def _check_limits(self) -> None:
        kinds = (int,) if self.kind.startswith("int") else (int, float)
        if len(self.values) != 2 or not all(type(each) in kinds and math.isfinite(each) for each in self.values):
            what = "whole numbers" if kinds == (int,) else "numbers"
            raise PlanError(f"found the range {self.text()}, expected two {what}, as in {self.kind}:1:5")
        low, high = self.values
        if low > high or (self.kind.endswith("log") and low <= 0):
            above = " above 0" if self.kind.endswith("log") else ""
            raise PlanError(f"found the range {self.text()}, expected the lower number first{above}")

    @classmethod
    def of(cls, value: object) -> Range:
        """The range of a text such as `log:0.01:1`, or of JSON such as `{"log": [0.01, 1]}`.

        Raises:
            PlanError: neither.
        """
        if isinstance(value, Range):
            return value
        if isinstance(value, str) and ":" in value:
            kind, _, rest = value.partition(":")
            parts = rest.split("," if kind == "choice" else ":")
            return cls(kind, tuple(map(_plain, parts)))
        if isinstance(value, Mapping) and len(value) == 1:
            [(kind, values)] = value.items()
            if isinstance(values, list | tuple):
                return cls(kind, tuple(values))
        raise PlanError(f"found the range {value!r}, expected {_EXPECTED}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The values of a choice as text: a searcher needs no more than to tell them apart."""
        return tuple(shown(each) for each in self.values)

    def __contains__(self, value: object) -> bool:
        if self.kind == "choice":
            return any(type(each) is type(value) and each == value for each in self.values)
        if type(value) not in ((int,) if self.kind.startswith("int") else (int, float)):
            return False
        return bool(self.values[0] <= value <= self.values[1])

    @property
    def examples(self) -> tuple[Any, ...]:
        """Values that show whether something can have all of them: the limits and a fraction, or every choice."""
        if self.kind not in ("float", "log"):
            return self.values
        low, high = self.values
        return low, low + (high - low) / 3.7, high

    def parameter(self, value: Any) -> Any:
        """The value as a searcher has it."""
        return self.labels[self.values.index(value)] if self.kind == "choice" else value

    def value(self, parameter: Any) -> Any:
        """The value that a searcher's parameter means: of a number three digits, which are enough to search with."""
        if self.kind == "choice":
            return self.values[self.labels.index(parameter)]
        if self.kind.startswith("int"):
            return int(parameter)
        low, high = self.values
        return min(max(float(f"{parameter:.3g}"), low), high)

    def text(self) -> str:
        """The range as `of` reads it."""
        separator = "," if self.kind == "choice" else ":"
        return f"{self.kind}:{separator.join(self.labels)}"

    def to_json(self) -> dict[str, Any]:
        """The range as JSON, as `of` reads it."""
        return {self.kind: list(self.values)}


def _plain(text: str) -> Any:
    """The value of a text: a number, true, false and null as in JSON, otherwise the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def shown(value: Any) -> str:
    """A value as text."""
    return value if isinstance(value, str) else json.dumps(value)
