"""The pages of the study of sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reproductions.lab.page import opening, significance, table
from reproductions.sources.aggregation import DAWID_SKENE, MAJORITY
from reproductions.sources.crowd_training import BY_TURNS, ROUNDS, USUAL
from reproductions.sources.rivals import VERSIONS

_HEAD = ["method", "F", "P", "R", "labels right", "calibration error", "CPU s"]
_TESTS = [f"{what} {name}" for name in (MAJORITY, DAWID_SKENE) for what in ("against", "p,")]


def aggregation_lines(found: dict[str, Any], trials: int) -> Iterator[str]:
    """The page of what real people marked."""
    yield from opening("What 47 people marked, aggregated", found["command"])
    yield f"`en/crowd-ner/val.txt`: {found['sentences']:,} sentences, {found['tokens']:,} tokens, {found['sources']}"
    yield f"people of Mechanical Turk (Rodrigues et al. 2014), {found['answers']:,} labels."
    yield "The gold standard scores, and nothing is learnt from it. All options are the defaults. Their pseudo-counts"
    yield "were chosen on [simulated crowds](sources-priors.md) before anything was scored here. One default was"
    yield "changed after a first look at this table: MACE estimates the proportions of labels.\n"
    yield "F, precision and recall of exact spans, in percent; the share of right labels, and the expected calibration"
    yield "error of the best label (ten bins), over tokens that somebody saw. CPU seconds without compilation.\n"
    yield f"The other packages ({VERSIONS}) run with their defaults; a label of theirs is the most probable one. skweak"
    yield "gets tables of observations, in which a person who saw a sentence and marked nothing says `O`: from spans"
    yield "alone it takes such a person for absent. It has no state for an `I` that goes on with nothing: it is"
    yield "read as `B`.\n"
    yield from [significance(trials), ""]
    yield from table([*_HEAD, *_TESTS], (_row(row) for row in found["rows"]))


def _row(row: dict[str, Any]) -> list[str]:
    numbers = [
        f"**{row['f']:.2f}**",
        *(f"{row[name]:.2f}" for name in ("precision", "recall", "accuracy", "calibration")),
    ]
    tests = []
    for other in (MAJORITY, DAWID_SKENE):
        own = row["against"].get(other)
        tests += [f"{own['difference']:+.2f}", f"{own['p_all']:.4f}"] if own else ["", ""]
    return [row["name"], *numbers, f"{row['seconds']:.1f}", *tests]


def priors_lines(found: dict[str, Any]) -> Iterator[str]:
    """The page of simulated crowds."""
    yield from opening("Priors of sources, on simulated crowds", found["command"])
    yield "Simulated people miss spans, take types for others, shift boundaries, split spans, and mark too much; the"
    yield "rates of each are drawn from the Beta distributions below. F, P, R of exact spans and the calibration error,"
    yield "in percent, means over seeds. The defaults of the methods are from here.\n"
    for crowd in found["crowds"]:
        yield f"## {crowd['title']}\n"
        yield f"`{crowd['path']}`, " + ", ".join(f"{name} {value}" for name, value in crowd["crowd"].items()) + ".\n"
        yield from table(["method", "options", "F", "P", "R", "calibration error"], (_of(row) for row in crowd["rows"]))


def _of(row: dict[str, Any]) -> list[str]:
    options = " ".join(f"{name}={value:g}" for name, value in row["options"].items())
    return [row["method"], options, *(f"{value:.2f}" for value in row["numbers"])]


def training_lines(found: dict[str, Any], trials: int) -> Iterator[str]:
    """The page of taggers trained on what real people marked."""
    yield from opening("Taggers of what 47 people marked, and of four noisy sources", found["command"])
    yield f"`best labels` are certain, `probabilities` are posteriors: `{USUAL}` is what `aggregate` and `train` do"
    yield f"by default. `{BY_TURNS}` is `train --method sources` with {ROUNDS} rounds at most. `gold` is the limit:"
    yield "no other row sees it. The iteration is the best on dev data.\n"
    yield "F of exact spans, in percent; in brackets each seed. The F of labels is that of the most probable labels of"
    yield "the training text.\n"
    yield from [significance(trials), ""]
    head = ["trained on", "F of labels", "dev", "test", "seeds", "P", "R", "CPU s", f"against {USUAL}", "p"]
    for each in found["texts"]:
        yield f"{each['what']}: {each['sentences']:,} sentences.\n"
        yield from [*table(head, map(_of_training, each["rows"])), ""]


def _of_training(row: dict[str, Any]) -> list[str]:
    labels, against = row["labels"], row["against"]
    means = [
        f"{np.mean(row['dev']):.2f}",
        f"**{np.mean(row['f']):.2f}**",
        f"({', '.join(f'{f:.2f}' for f in row['f'])})",
    ]
    numbers = [f"{row['precision']:.2f}", f"{row['recall']:.2f}", f"{row['seconds']:.0f}"]
    test = ["", ""] if against is None else [f"{against['difference']:+.2f}", f"{against['p_all']:.4f}"]
    return [row["name"], "" if labels is None else f"{labels:.2f}", *means, *numbers, *test]
