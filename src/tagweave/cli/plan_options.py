"""From options of the command line to a training plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

from tagweave.cli.errors import OptionError, as_option_error

if TYPE_CHECKING:
    from tagweave.training.plan import TrainingPlan


def learner_settings(learner: str, texts: Sequence[str]) -> dict[str, int | float]:
    """The settings that `NAME=VALUE` texts give a learner.

    Raises:
        OptionError: an unknown learner, a setting that it does not have, or a value that is no number.
    """
    from tagweave.training.recipe import LEARNERS

    if learner not in LEARNERS:
        raise OptionError(f"unknown learner {learner!r}, expected one of {', '.join(LEARNERS)}")
    kinds = {field.name: str(field.type) for field in fields(LEARNERS[learner]) if field.name != "seed"}
    settings: dict[str, int | float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"found --set {text}, expected NAME=VALUE")
        if name not in kinds:
            raise OptionError(f"unknown setting {name!r} of {learner}, expected one of {', '.join(kinds)}")
        settings[name] = _number(name, value, kinds[name])
    return settings


def _number(name: str, value: str, kind: str) -> int | float:
    try:
        return int(value) if kind == "int" else float(value)
    except ValueError:
        expected = "a whole number" if kind == "int" else "a number"
        raise OptionError(f"found --set {name}={value}, expected {expected}") from None


def template_texts(presets: Sequence[str], templates: Sequence[str]) -> tuple[str, ...]:
    """The templates of all presets and the single ones, each once.

    Raises:
        OptionError: an unknown preset.
    """
    from tagweave.features.presets import PRESETS

    for name in presets:
        if name not in PRESETS:
            raise OptionError(f"unknown preset {name!r}, expected one of {', '.join(PRESETS)}")
    texts = [text for name in presets for text in PRESETS[name].texts]
    return tuple(dict.fromkeys([*texts, *templates]))


def corpus_weights(text: str | None, corpora: int) -> list[float]:
    """The weights `1,0.5,...` of so many corpora; 1 each where none are given.

    Raises:
        OptionError: another number of weights, or one that is no positive number.
    """
    if text is None:
        return [1.0] * corpora
    with as_option_error():
        weights = [float(part) for part in text.split(",")]
    if len(weights) != corpora or not all(0 < weight < float("inf") for weight in weights):
        raise OptionError(f"found --weights {text}, expected {corpora} positive numbers, one for each training corpus")
    return weights


def sample_sizes(text: str | None, corpora: int) -> list[int | Literal["all"] | None]:
    """How many sentences of each of so many corpora an iteration visits, from `5000,all`.

    Raises:
        OptionError: another number of numbers, or something else than whole numbers from 1.
    """
    if text is None:
        return [None] * corpora
    parts = text.split(",")
    if len(parts) != corpora or not all(part == "all" or re.fullmatch("[1-9][0-9]{0,8}", part) for part in parts):
        expected = f"{corpora} whole numbers or 'all', one for each training corpus"
        raise OptionError(f"found --sample {text}, expected {expected}")
    return ["all" if part == "all" else int(part) for part in parts]


def references(
    corpora: Sequence[str],
    sources: Sequence[str],
    dev: str | None,
    format: str | None,  # noqa: A002
    weights: str | None = None,
    sample: str | None = None,
) -> dict[str, Any]:
    """The fields of a plan that name corpora. Raises as `corpus_weights`, `sample_sizes`."""
    from tagweave.training.plan import CorpusReference

    count = len(corpora) + len(sources)
    numbers, sizes = corpus_weights(weights, count), sample_sizes(sample, count)
    given = zip([*corpora, *sources], numbers, sizes, strict=True)
    found = [replace(CorpusReference.of(each, format, weight), sample=size) for each, weight, size in given]
    return {
        "target": tuple(found[: len(corpora)]),
        "sources": tuple(found[len(corpora) :]),
        "dev": CorpusReference.of(dev, format) if dev else None,
    }


def plan_in(path: str) -> TrainingPlan:
    """The plan in a JSON file.

    Raises:
        OptionError: not a plan.
        OSError: the file cannot be read.
    """
    import json
    from pathlib import Path

    from tagweave.training.errors import PlanError
    from tagweave.training.plan_json import read_plan

    try:
        return read_plan(json.loads(Path(path).read_text(encoding="utf-8")))
    except (ValueError, PlanError) as error:
        raise OptionError(f"{path}: {error}") from error


def plan_of_model(path: str) -> TrainingPlan:
    """The plan by which a model was trained.

    Raises:
        OptionError: the model does not tell.
        ModelFileError, FileNotFoundError: as `describe_model`.
    """
    from tagweave.models.storage import describe_model
    from tagweave.training.again import plan_of

    with as_option_error():
        return plan_of(describe_model(path)["about"])
