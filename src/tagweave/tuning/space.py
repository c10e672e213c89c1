"""Search spaces: the values to try, by names of fields of a plan, of settings of its learner and of options of its
method."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from operator import getitem
from typing import Any, get_origin, get_type_hints

from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from optuna.trial import Trial

from tagweave.errors import PlanError, as_plan_error
from tagweave.structures import CHAIN, STRUCTURES, TREE
from tagweave.training.fit.recipe import LEARNERS, template_texts
from tagweave.training.methods import METHODS, read_plan
from tagweave.training.plan import Plan, ResolvedPlan
from tagweave.training.resolve import checked

Range = CategoricalDistribution | FloatDistribution | IntDistribution
Place = tuple[str | int, ...]
"""The way from a plan as JSON to a value in it."""

_FIELDS = (
    "learner",
    "method",
    "templates",
    "coding",
    "feature_weights",
    "minimum_count",
    "drop_columns",
    "precision",
    "iterations",
    "patience",
)
"""The fields of a plan that can be searched."""
_EXPECTED = "log:LOW:HIGH, float:LOW:HIGH, int:LOW:HIGH, int-log:LOW:HIGH or choice:A,B,..."
_CHAIN_RANGES = {"minimum_count": "int:1:4", "feature_weights": "choice:all,observed"}
_METHOD_RANGES = {
    "coupled": {"views": "choice:both,joint,separate"},
    "stacked": {"guide": "choice:window,joined"},
    "transform": {"guide": "choice:window,joined"},
    "iterate": {"guide": "choice:window,joined"},
}
_WEIGHED = ("coupled", "merged")
"""The methods whose models learn from all corpora at once, so that the weights of sources matter."""


def distribution(value: object) -> Range:
    """Return Optuna's distribution of a text such as `log:0.01:1` or `choice:all,observed`, or one as it is.

    Raises:
        PlanError: another value, or a range that has no values.
    """
    if isinstance(value, Range):
        return value
    kind, _, text = value.partition(":") if isinstance(value, str) else ("", "", "")
    try:
        if kind == "choice":
            return CategoricalDistribution([_choice(name) for name in text.split(",")])
        if kind in ("int", "int-log"):
            least, most = map(int, text.split(":"))
            return IntDistribution(least, most, log=kind == "int-log")
        if kind in ("float", "log"):
            low, high = map(float, text.split(":"))
            if math.isfinite(low) and math.isfinite(high):
                return FloatDistribution(low, high, log=kind == "log")
    except ValueError as error:
        raise PlanError(f"found the range {value!r} ({error}), expected {_EXPECTED}") from error
    raise PlanError(f"found the range {value!r}, expected {_EXPECTED}")


def _choice(text: str) -> str | float | bool | None:
    """Return a choice as JSON has it: `null`, `true` or `2`; anything else is text."""
    try:
        value: str | float | bool | None = json.loads(text)
    except ValueError:
        return text
    return value


@dataclass(frozen=True)
class Space:
    """What a search may change in a plan with all its choices made, by name; `learner` and `method` come first."""

    plan: ResolvedPlan
    ranges: Mapping[str, Range]

    @classmethod
    def of(cls, plan: ResolvedPlan, ranges: Mapping[str, Any]) -> Space:
        """Return the space of ranges that `distribution` reads; without any, the usual one of the plan.

        Raises:
            PlanError: an unknown name, or a range with a limit or a choice that the plan cannot have.
        """
        by_name = {name: distribution(value) for name, value in (ranges or usual_ranges(plan)).items()}
        first = [name for name in ("learner", "method") if name in by_name]
        space = cls(plan, {name: by_name[name] for name in dict.fromkeys((*first, *by_name))})
        space._check()
        return space

    def applies(self, name: str, values: Mapping[str, Any]) -> bool:
        """Return whether a name means anything in a plan of the space with these values."""
        return name in _places(self.plan, [self._learner(values)], [self._method(values)])

    def suggested(self, trial: Trial, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of a trial, which Optuna chooses, of those names that mean something with the others."""
        values: dict[str, Any] = {}
        for name in names:
            if not self.applies(name, values):
                continue
            values_to_try = self.ranges[name]
            if isinstance(values_to_try, CategoricalDistribution):
                values[name] = trial.suggest_categorical(name, values_to_try.choices)
                continue
            low, high, step, log = (getattr(values_to_try, key) for key in ("low", "high", "step", "log"))
            suggest: Any = trial.suggest_int if isinstance(values_to_try, IntDistribution) else trial.suggest_float
            values[name] = suggest(name, low, high, step=step, log=log)
        return values

    def with_values(self, values: Mapping[str, Any]) -> Plan:
        """Return the plan with values by name. A new learner or method begins with its own defaults."""
        learner, method = self._learner(values), self._method(values)
        plain: Any = self.plan.to_json()
        if learner != self.plan.learner:
            plain["settings"] = {}
        if method != self.plan.method:
            plain["options"] = {}
        places = _places(self.plan, [learner], [method])
        for name, value in values.items():
            *way, last = places[name]
            reduce(getitem, way, plain)[last] = _as_in_plan(name, value, method, self.plan.task)
        return read_plan(plain)

    def plan_values(self) -> dict[str, Any]:
        """Return the values of the plan itself that are in the space."""
        values: dict[str, Any] = {}
        for name, values_to_try in self.ranges.items():
            if self.applies(name, {}):
                value = self._plan_value(name)
                if _contains(values_to_try, value):
                    values[name] = value
        return values

    def to_json(self) -> dict[str, Any]:
        """Return the distributions as Optuna writes them."""
        return {name: json.loads(distribution_to_json(values)) for name, values in self.ranges.items()}

    def _plan_value(self, name: str) -> Any:
        *way, last = _places(self.plan, [self.plan.learner], [self._method({})])[name]
        plain: Any = self.plan.to_json()
        values = reduce(getitem, way, plain)
        if way == ["settings"] and last not in values:
            return getattr(LEARNERS[self.plan.learner](), str(last))
        return values[last]

    def _learner(self, values: Mapping[str, Any]) -> str:
        return str(values.get("learner", self.plan.learner))

    def _method(self, values: Mapping[str, Any]) -> str:
        return str(values.get("method", self.plan.method))

    def _check(self) -> None:
        """Raise unless every name is known, and the plan can have the values that limit every range."""
        choices = [_limits(self.ranges[name]) if name in self.ranges else () for name in ("learner", "method")]
        learners = [self.plan.learner, *choices[0]]
        methods = [self.plan.method, *choices[1]]
        _check_known("learner", learners, LEARNERS)
        _check_known("method", methods, METHODS)
        _check_known("name", self.ranges, _places(self.plan, learners, methods))
        pairs = [{"learner": learner, "method": method} for learner in learners for method in methods]
        for name, values_to_try in self.ranges.items():
            beside = next(values for values in pairs if self.applies(name, values))
            for value in _limits(values_to_try):
                with as_plan_error():
                    checked(self.with_values({**beside, name: value}), self.plan.task)


def check_names(plan: Plan, names: Iterable[str]) -> None:
    """Raise PlanError if a name means nothing with any learner and method, which a race may still have to choose."""
    _check_known("name", names, _places(plan, LEARNERS, METHODS))


def _check_known(what: str, names: Iterable[Any], allowed: Iterable[str]) -> None:
    for name in names:
        if name not in allowed:
            raise PlanError(f"unknown {what} {name!r} in the search, expected one of {', '.join(allowed)}")


def _limits(values: Range) -> tuple[Any, ...]:
    """Return values that show whether a plan can have all of a range: its limits, or every choice."""
    return tuple(values.choices) if isinstance(values, CategoricalDistribution) else (values.low, values.high)


def _contains(values: Range, value: Any) -> bool:
    if isinstance(values, CategoricalDistribution):
        return value in values.choices
    return type(value) in (int, float) and values.low <= value <= values.high


def usual_ranges(plan: ResolvedPlan) -> dict[str, str]:
    """Return the ranges that suit the structure, learner and method of a plan."""
    is_tree = STRUCTURES[plan.task] == TREE
    method = plan.method
    chosen = {**LEARNERS[plan.learner].ranges, **({} if is_tree else _CHAIN_RANGES)}
    for name, text in _METHOD_RANGES.get(method, {}).items():
        if not is_tree or METHODS[method].options.__dataclass_fields__[name].metadata["structure"] != CHAIN:
            chosen[name] = text
    if method in _WEIGHED:
        chosen |= {f"sources.{at}.weight": "log:0.1:10" for at in range(len(plan.sources))}
    return chosen


def _places(plan: Plan, learners: Iterable[str], methods: Iterable[str]) -> dict[str, Place]:
    """By name the place of every value that can be searched, with these learners and methods."""
    usable = ("", STRUCTURES[plan.task] if plan.task else CHAIN)
    by_name = {field.name: field for field in fields(Plan)}
    places: dict[str, Place] = {name: (name,) for name in _FIELDS if by_name[name].metadata["structure"] in usable}
    for learner in learners:
        names = [field.name for field in fields(LEARNERS[learner])]
        places |= {name: ("settings", name) for name in names if name != "seed"}
    for method in methods:
        options = [field for field in fields(METHODS[method].options) if field.metadata["structure"] in usable]
        places |= {field.name: ("options", field.name) for field in options}
    for name, corpora in (("target", plan.target), ("sources", plan.sources)):
        for at in range(len(corpora)):
            places |= {f"{name}.{at}.{key}": (name, at, key) for key in ("weight", "sample")}
    return places


def _as_in_plan(name: str, value: Any, method: str, task: str) -> Any:
    """Return a value as the plan has it: the texts of the templates of a preset, and lists where options are lists."""
    if name == "templates":
        return list(template_texts(task, [value], ()))
    kind = get_type_hints(METHODS[method].options).get(name)
    return [value] if get_origin(kind) is tuple else value
