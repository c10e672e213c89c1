"""Search spaces: ranges by the names of fields of a plan, of settings of its learner and of options of its method.

Ranges: the values that a search may try for one field of a plan.

As text `log:0.01:1`, `float:0:0.5`, `int:1:5`, `int-log:1:64` and `choice:all,observed`; in JSON the same with typed
values, `{"log": [0.01, 1]}` and `{"choice": ["all", "observed"]}`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from tagweave.errors import PlanError, as_plan_error
from tagweave.structures import CHAIN, STRUCTURES, TREE
from tagweave.training.methods import METHODS, SINGLE
from tagweave.training.plan import TrainingPlan, read_plan
from tagweave.training.recipe import LEARNERS, template_texts
from tagweave.training.resolve import checked

KINDS = ("float", "log", "int", "int-log", "choice")
"""How values are spread."""
_EXPECTED = "log:LOW:HIGH, float:LOW:HIGH, int:LOW:HIGH, int-log:LOW:HIGH or choice:A,B,..."


@dataclass(frozen=True)
class Range:
    """The values to try."""

    kind: str  # `float` and `int` spread evenly, `log` and `int-log` over orders of magnitude; `choice` is a list
    # the lowest and the highest number, both included; of a choice, all values, as JSON can hold them
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise PlanError(f"found a range {self.kind!r}, expected {_EXPECTED}")
        if self.kind == "choice":
            if not self.values or len(set(self.labels)) < len(self.values):
                raise PlanError(f"found the choice {self.text()}, expected different values")
            return
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
        """Return the range of a text such as `log:0.01:1`, or of JSON such as `{"log": [0.01, 1]}`."""
        if isinstance(value, Range):
            return value
        if isinstance(value, str) and ":" in value:
            kind, _, rest = value.partition(":")
            parts = rest.split("," if kind == "choice" else ":")
            values: list[Any] = []
            for part in parts:
                try:
                    values.append(json.loads(part))
                except ValueError:
                    values.append(part)
            return cls(kind, tuple(values))
        if isinstance(value, Mapping) and len(value) == 1:
            [(kind, given)] = value.items()
            if isinstance(given, list | tuple):
                return cls(kind, tuple(given))
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
        separator = "," if self.kind == "choice" else ":"
        return f"{self.kind}:{separator.join(self.labels)}"

    def to_json(self) -> dict[str, Any]:
        return {self.kind: list(self.values)}


def shown(value: Any) -> str:
    """Return a value as text."""
    return value if isinstance(value, str) else json.dumps(value)


_FIELDS = {
    "learner": "",
    "method": "",
    "templates": CHAIN,
    "coding": CHAIN,
    "weights": CHAIN,
    "minimum_count": CHAIN,
    "drop_columns": TREE,
    "precision": "",
    "iterations": "",
    "patience": "",
}
"""The fields of a plan that can be searched, with the structure that uses them; "" for every one. The choices that
decide which others there are come first."""
_OF_CHAINS = {"minimum_count": "int:1:4", "weights": "choice:all,observed"}
_OF_METHODS = {
    "coupled": {"views": "choice:both,joint,separate"},
    "stacked": {"guide": "choice:window,joined"},
    "transform": {"guide": "choice:window,joined"},
    "iterate": {"guide": "choice:window,joined"},
}
_WEIGHED = ("coupled", "merged")
"""The methods whose models learn from all corpora at once, so that the weights of sources matter."""


@dataclass(frozen=True)
class Space:
    """What a search may change in a plan with all its choices made, by name; `learner` and `method` come first."""

    plan: TrainingPlan
    ranges: Mapping[str, Range]

    @classmethod
    def of(cls, plan: TrainingPlan, ranges: Mapping[str, Any]) -> Space:
        """A space of ranges, or of texts and JSON that `Range.of` reads; without any, the usual one of the plan."""
        typed = {name: Range.of(value) for name, value in (ranges or usual_ranges(plan)).items()}
        first = [name for name in ("learner", "method") if name in typed]
        space = cls(plan, {name: typed[name] for name in dict.fromkeys((*first, *typed))})
        space._check()
        return space

    def applies(self, name: str, values: Mapping[str, Any]) -> bool:
        """Return whether a name means anything in a plan of the space with these values."""
        return name in _places(self.plan, [self._learner(values)], [self._method(values)])

    def with_values(self, values: Mapping[str, Any]) -> TrainingPlan:
        """Return the plan with values by name. A new learner or method begins with its own defaults."""
        learner, method = self._learner(values), self._method(values)
        plain: Any = self.plan.to_json()
        if learner != self.plan.learner:
            plain["settings"] = {}
        if method != (self.plan.method or SINGLE):
            plain["options"] = {}
        places = _places(self.plan, [learner], [method])
        for name, value in values.items():
            *way, last = places[name]
            reduce(getitem, way, plain)[last] = _listed(name, value, method, self.plan.task)
        return read_plan(plain)

    def own_value(self, name: str) -> Any:
        """The value of the plan itself; `None` where it leaves the choice to the program, or the name means nothing."""
        if not self.applies(name, {}):
            return None
        *way, last = _places(self.plan, [self.plan.learner], [self._method({})])[name]
        plain: Any = self.plan.to_json()
        values = reduce(getitem, way, plain)
        if way == ["settings"] and last not in values:
            return getattr(LEARNERS[self.plan.learner](), str(last))
        return values[last]

    def to_json(self) -> dict[str, Any]:
        return {name: each.to_json() for name, each in self.ranges.items()}

    def _learner(self, values: Mapping[str, Any]) -> str:
        return str(values.get("learner", self.plan.learner))

    def _method(self, values: Mapping[str, Any]) -> str:
        return str(values.get("method", self.plan.method or SINGLE))

    def _check(self) -> None:
        """Raise unless every name is known, and the plan can have the values that limit every range."""
        choices = [self.ranges[name].values if name in self.ranges else () for name in ("learner", "method")]
        learners = [self.plan.learner, *choices[0]]
        methods = [self.plan.method or SINGLE, *choices[1]]
        _check_known("learner", learners, LEARNERS)
        _check_known("method", methods, METHODS)
        known = _places(self.plan, learners, methods)
        _check_known("name", self.ranges, known)
        for name, each in self.ranges.items():
            alternatives = [{"learner": a, "method": b} for a in learners for b in methods]
            beside = next(values for values in alternatives if self.applies(name, values))
            for value in each.examples:
                with as_plan_error():
                    checked(self.with_values({**beside, name: value}))


def check_names(plan: TrainingPlan, names: Iterable[str]) -> None:
    """Raise PlanError if a name means nothing with any learner and method, which a race may still have to choose."""
    _check_known("name", names, _places(plan, LEARNERS, METHODS))


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise PlanError(f"unknown {what} {name!r} in the search, expected one of {', '.join(known)}")


def usual_ranges(plan: TrainingPlan) -> dict[str, str]:
    """Return the ranges that suit the structure, learner and method of a plan."""
    of_tree = STRUCTURES[plan.task] == TREE
    method = plan.method or SINGLE
    chosen = {**LEARNERS[plan.learner].ranges, **({} if of_tree else _OF_CHAINS)}
    for name, text in _OF_METHODS.get(method, {}).items():
        if not of_tree or METHODS[method].options.__dataclass_fields__[name].metadata["structure"] != CHAIN:
            chosen[name] = text
    if method in _WEIGHED:
        chosen |= {f"sources.{at}.weight": "log:0.1:10" for at in range(len(plan.sources))}
    return chosen


def read_search(texts: Iterable[str]) -> dict[str, Any]:
    """Ranges by name from texts like `rate=log:0.01:1`, and from files of JSON like `{"rate": {"log": [0.01, 1]}}`."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if equals:
            found[name] = Range.of(value)
            continue
        try:
            values = json.loads(Path(text).read_text(encoding="utf-8"))
        except ValueError as error:
            raise PlanError(f"{text}: {error}") from error
        if not isinstance(values, dict):
            raise PlanError(f"{text}: found {type(values).__name__}, expected an object of ranges by name")
        found |= {name: Range.of(value) for name, value in values.items()}
    return found


Place = tuple[str | int, ...]
"""The way from a plan as JSON to a value in it."""


def _places(plan: TrainingPlan, learners: Iterable[str], methods: Iterable[str]) -> dict[str, Place]:
    """By name the place of every value that can be searched, with these learners and methods."""
    structure = STRUCTURES[plan.task]
    places: dict[str, Place] = {name: (name,) for name, of in _FIELDS.items() if of in ("", structure)}
    for learner in learners:
        names = [each.name for each in fields(LEARNERS[learner])]
        places |= {name: ("settings", name) for name in names if name != "seed"}
    for method in methods:
        options = [f for f in fields(METHODS[method].options) if f.metadata["structure"] in ("", structure)]
        places |= {each.name: ("options", each.name) for each in options}
    for name, corpora in (("target", plan.target), ("sources", plan.sources)):
        for at in range(len(corpora)):
            places |= {f"{name}.{at}.{key}": (name, at, key) for key in ("weight", "sample")}
    return places


def _listed(name: str, value: Any, method: str, task: str) -> Any:
    """The value as the plan has it: texts of templates for the name of a preset, and lists where options are lists."""
    if name == "templates":
        return list(template_texts(task, [value] if isinstance(value, str) else value, ()))
    kind = get_type_hints(METHODS[method].options).get(name)
    return [value] if get_origin(kind) is tuple and not isinstance(value, list) else value
