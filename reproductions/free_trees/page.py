"""The page, from its numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reproductions.free_trees.cells import FREE, MIXED, PROJECTIVE
from reproductions.free_trees.treebanks import SHARE
from reproductions.lab.page import opening, score, significance, table

_PARTS = ("train", "dev", "test")


def lines(summary: dict[str, Any]) -> Iterator[str]:
    """The page, line by line."""
    yield from opening("Trees whose arcs cross", summary["command"])
    yield from _setup(summary)
    for bank in summary["treebanks"]:
        yield from _of_bank(bank)
    yield "## Time\n"
    yield "Seconds of one processor for a training, relations and scores on dev included; microseconds a token for the"
    yield "sums over all trees of the training sentences.\n"
    rows = [_cost(bank) for bank in summary["treebanks"]]
    yield from table(["treebank", "projective, s", "free, s", "projective, sums", "free, sums", "ratio of sums"], rows)


def _setup(summary: dict[str, Any]) -> Iterator[str]:
    yield f"- `{PROJECTIVE}`: trained on projective trees, others lifted, and decoded as such; the default. `{MIXED}`:"
    yield f"  the same weights, decoded by the best of all trees (`tag --non-projective`). `{FREE}`: trained over all"
    yield "  trees by the matrix-tree theorem and decoded by the best of them (`train --non-projective`)."
    yield f"- Every training: {summary['iterations']} iterations of AdaGrad with the parser's defaults, the one that is"
    yield "  best on dev by its own decoding. Gold tags and FEATS; punctuation counts, subtypes of relations do not."
    yield "- In the simulated treebank words, tags and arcs are those of the treebank, but not the order of words: of"
    yield f"  modifiers after nouns, and of objects and adverbials in dependent clauses, {SHARE:.0%} are moved to the"
    yield "  end or the front of the phrase above (`extraposition.py`)."
    yield "- `crossing`: only sentences whose gold arcs cross. Scores are means over the seeds, in brackets each seed."
    yield significance(summary["trials"])


def _of_bank(bank: dict[str, Any]) -> Iterator[str]:
    yield f"\n## {bank['name']}\n"
    sizes = ", ".join(f"{name} {bank['crossing'][name]:,} of {bank['sizes'][name][0]:,}" for name in _PARTS)
    yield f"{bank['told']}. Sentences whose arcs cross: {sizes}.\n"
    for part in ("dev", "test"):
        measures = [f"{part} {name}{rest}" for rest in ("", ", crossing") for name in ("UAS", "LAS")]
        rows = [
            [name, *(score(found["scores"][measure]) for measure in measures)]
            for name, found in bank["systems"].items()
        ]
        yield from table(["system", *measures], rows)
    yield from table(
        ["on test", f"UAS, to `{PROJECTIVE}`", "p", "LAS", "p", "UAS, crossing", "p", "trees that cross"],
        [[name, *_differences(found)] for name, found in bank["systems"].items()],
    )


def _differences(found: dict[str, Any]) -> Iterator[str]:
    for measure in ("test UAS", "test LAS", "test UAS, crossing"):
        test = found["against"][measure]
        yield f"{test['difference']:+.2f}"
        yield f"{test['p_all']:.4f}"
    yield f"{np.mean(found['crossing']):.0f}"


def _cost(bank: dict[str, Any]) -> list[str]:
    one, other = (bank["cost"][name] for name in (PROJECTIVE, FREE))
    seconds = [f"{np.mean(each['seconds']):.1f}" for each in (one, other)]
    sums = [float(np.mean(each["sums"])) for each in (one, other)]
    return [bank["name"], *seconds, *(f"{each:.2f}" for each in sums), f"{sums[1] / sums[0]:.2f}"]
