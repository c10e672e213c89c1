"""Converts command-line options to parts of a training plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from tagweave.cli.errors import OptionError, as_option_error


def setting_values(texts: Sequence[str]) -> dict[str, str]:
    """Names and values of `NAME=VALUE` texts.

    Raises:
        OptionError: a text without `=`.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, values[name] = text.partition("=")
        if not equals:
            raise OptionError(f"found --set {text}, expected NAME=VALUE")
    return values


def corpus_weights(text: str | None, corpora: int) -> list[float]:
    """The weights of corpora from a text like `1,0.5`; by default 1 each.

    Raises:
        OptionError: the wrong number of weights, or one that is not a positive number.
    """
    if text is None:
        return [1.0] * corpora
    with as_option_error():
        weights = [float(part) for part in text.split(",")]
    if len(weights) != corpora or not all(0 < weight < float("inf") for weight in weights):
        raise OptionError(f"found --weights {text}, expected {corpora} positive numbers, one for each training corpus")
    return weights


def sample_sizes(text: str | None, corpora: int) -> list[int | Literal["all"] | None]:
    """How many sentences of each corpus an iteration visits, from a text like `5000,all`.

    Raises:
        OptionError: the wrong number of values, or one that is neither `all` nor a positive whole number.
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
    rows = zip([*corpora, *sources], numbers, sizes, strict=True)
    corpus_references = [replace(CorpusReference.of(each, format, weight), sample=size) for each, weight, size in rows]
    return {
        "target": tuple(corpus_references[: len(corpora)]),
        "sources": tuple(corpus_references[len(corpora) :]),
        "dev": CorpusReference.of(dev, format) if dev else None,
    }
