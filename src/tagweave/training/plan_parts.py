"""Parts of a plan from user input: settings of learners, and presets of templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from tagweave.errors import PlanError
from tagweave.features.templates import PRESETS
from tagweave.training.recipe import LEARNERS
from tagweave.training.task import TASKS

_SWITCH = {"true": True, "1": True, "false": False, "0": False}


def learner_settings(learner: str, values: Mapping[str, str]) -> dict[str, int | float | bool]:
    """The settings of a learner in its types, from names and values as text."""
    if learner not in LEARNERS:
        raise PlanError(f"unknown learner {learner!r}, expected one of {', '.join(LEARNERS)}")
    kinds = {field.name: str(field.type) for field in fields(LEARNERS[learner]) if field.name != "seed"}
    if unknown := [name for name in values if name not in kinds]:
        raise PlanError(f"unknown setting {unknown[0]!r} of {learner}, expected one of {', '.join(kinds)}")
    return {name: _number(name, value, kinds[name]) for name, value in values.items()}


def _number(name: str, value: str, kind: str) -> int | float | bool:
    if kind == "bool":
        if value.lower() not in _SWITCH:
            raise PlanError(f"found `settings={name}={value}`, expected true or false")
        return _SWITCH[value.lower()]
    try:
        return int(value) if kind == "int" else float(value)
    except ValueError:
        expected = "a whole number" if kind == "int" else "a number"
        raise PlanError(f"found `settings={name}={value}`, expected {expected}") from None


def template_texts(task: str, presets: Sequence[str], templates: Sequence[str]) -> tuple[str, ...]:
    """The templates of all presets and the individual ones, without repeats."""
    if presets and task not in TASKS:
        raise PlanError(f"found `preset` with the task {task}, expected it without: it is for tags and words")
    for name in presets:
        if name not in PRESETS:
            raise PlanError(f"unknown preset {name!r}, expected one of {', '.join(PRESETS)}")
    texts = [text for name in presets for text in PRESETS[name].texts]
    return tuple(dict.fromkeys([*texts, *templates]))
