"""From options of the command line to a recipe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from tagweave.cli.errors import OptionError, as_option_error

if TYPE_CHECKING:
    from tagweave.adapt.parsing import ParserRecipe
    from tagweave.encoding.templates import Templates


def learner_settings(learner: str, texts: Sequence[str], seed: int) -> dict[str, Any]:
    """The settings that `NAME=VALUE` texts give a learner, and the seed if it takes one.

    Raises:
        OptionError: an unknown learner, a setting that it does not have, or a value that is no number.
    """
    from tagweave.adapt.recipe import LEARNERS

    if learner not in LEARNERS:
        raise OptionError(f"unknown learner {learner!r}, expected one of {', '.join(LEARNERS)}")
    kinds = {field.name: str(field.type) for field in fields(LEARNERS[learner])}
    settings: dict[str, Any] = {"seed": seed} if kinds.pop("seed", None) else {}
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


def chosen_templates(presets: Sequence[str], templates: Sequence[str], lexicon: bool = False) -> Templates | None:
    """The templates of all presets and the single ones, each once; `None` where nothing is chosen.

    With a `lexicon` and nothing chosen they are the preset for one.

    Raises:
        OptionError: an unknown preset.
        TemplateError: a template that cannot be read; or as `Templates.check_lexicon`.
    """
    from tagweave.encoding.presets import PRESETS
    from tagweave.encoding.templates import Templates

    texts = dict.fromkeys(text for name in presets for text in _preset(name, PRESETS).texts) | dict.fromkeys(templates)
    if not texts:
        return PRESETS["characters-lexicon"] if lexicon else None
    chosen = Templates(tuple(texts))
    chosen.check_lexicon(lexicon)
    _ = chosen.families  # read them now: a mistake must not come after minutes of loading
    return chosen


def _preset(name: str, presets: dict[str, Templates]) -> Templates:
    if name not in presets:
        raise OptionError(f"unknown preset {name!r}, expected one of {', '.join(presets)}")
    return presets[name]


DROP_COLUMNS = 0.5
"""Chosen on dev sets of four languages: see the page on parsing."""


def parser_recipe(
    templates: Sequence[str],
    learner: str,
    settings: dict[str, Any],
    precision: str,
    threads: int,
    drop_columns: float | None = None,
) -> ParserRecipe:
    """How a parser is fitted, with the usual templates and share of dropped columns where none are given.

    Raises:
        OptionError: an unknown precision.
        ArcTemplateError: a template that cannot be read.
    """
    from tagweave.adapt.parsing import ParserRecipe
    from tagweave.encoding.arc_templates import ArcTemplates

    chosen = ArcTemplates(tuple(templates)) if templates else None
    with as_option_error():
        _ = chosen and chosen.parsed  # read them now: a mistake must not come after minutes of loading
        recipe = ParserRecipe(chosen, learner, settings, precision=precision, threads=threads)
        return replace(recipe, drop_columns=DROP_COLUMNS if drop_columns is None else drop_columns)


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


def sample_sizes(text: str | None, learner: str, sizes: Sequence[int], usual: Sequence[int] = ()) -> tuple[int, ...]:
    """How many sentences of each corpus an iteration visits, from `5000,all`; () where it visits all of them.

    Args:
        text: what the user gave.
        learner: one that sees all sentences at once has no use for a sample.
        sizes: the sentences of every corpus.
        usual: where the user gave nothing.

    Raises:
        OptionError: another number of numbers, something else than whole numbers from 1, or such a learner.
    """
    from tagweave.adapt.sample import IN_BATCHES

    if text is None:
        return tuple(usual) if learner in IN_BATCHES and list(usual) != list(sizes) else ()
    if learner not in IN_BATCHES:
        expected = f"one of {', '.join(IN_BATCHES)}: the others see all sentences at once"
        raise OptionError(f"found --sample with the learner {learner}, expected {expected}")
    parts = text.split(",")
    if len(parts) != len(sizes) or not all(part == "all" or re.fullmatch("[1-9][0-9]{0,8}", part) for part in parts):
        expected = f"{len(sizes)} whole numbers or 'all', one for each training corpus"
        raise OptionError(f"found --sample {text}, expected {expected}")
    return tuple(size if part == "all" else int(part) for part, size in zip(parts, sizes, strict=True))
