"""The page of the defaults: what they gain over those of before, and over a logistic regression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from reproductions.defaults.cell import BEFORE, BEFORE_PASSES, NOW, REGRESSION, Cell
from reproductions.lab.cache import Result
from reproductions.lab.page import opening, table

Summary = dict[str, Any]


def summary(results: Sequence[tuple[Cell, Result]]) -> Summary:
    """By size and by task and corpus: the mean score of each training over its subsets, and its seconds."""
    rows: dict[tuple[int, str, str], dict[str, list[Result]]] = {}
    for cell, found in results:
        of_row = rows.setdefault((cell.tokens, cell.task, cell.text.name), {})
        of_row.setdefault(cell.trained, []).append(found)
    return {"rows": [_row(*key, found) for key, found in rows.items()]}


def _row(tokens: int, task: str, text: str, found: dict[str, list[Result]]) -> Summary:
    trained = {
        name: {"score": _mean(each, "score"), "seconds": _mean(each, "seconds"), "subsets": len(each)}
        for name, each in found.items()
    }
    return {
        "size": tokens,
        "task": task,
        "text": text,
        "tokens": _mean(found[NOW], "tokens"),
        "trained": trained,
        "over regression": _alike(found),
    }


def _alike(found: dict[str, list[Result]]) -> float | None:
    """How much better the defaults are than the regression, on the subsets that it has."""
    theirs = found.get(REGRESSION)
    return None if not theirs else _mean(found[NOW][: len(theirs)], "score") - _mean(theirs, "score")


def _mean(found: Sequence[Result], key: str) -> float:
    return round(float(np.mean([each[key] for each in found])), 4)


def lines(told: Summary, command: str) -> Iterator[str]:
    """The lines of the page."""
    yield from opening("The defaults, by the size of the corpus", command)
    yield "Taggers of words, segmenters, and both at once, from a part of each training corpus, scored on development"
    yield "data, of which training sees nothing: accuracy, or F of words (segtag: with their tags), x 100. Scores of"
    yield "1,000 words are means of parts from several places in the corpus, if there are; all other parts are its"
    yield "beginning."
    yield "Development data is what the defaults were chosen by; test sets were not looked at.\n"
    yield f"- before: `--preset li-2015` (characters: `liu-2014`) `--set initial=1e-8 --set batch=16`, {BEFORE_PASSES}"
    yield "  iterations, the defaults of earlier versions. defaults: no option at all."
    yield "- regression: scikit-learn's `LogisticRegression` as it comes (C = 1), of single tokens, over the features"
    yield "  of the defaults, on the first part of a size; to regression: how much better the defaults are there."
    yield "- s before, s: processor seconds of a training and its score, with the defaults of before and these.\n"
    sizes = list(dict.fromkeys(row["size"] for row in told["rows"]))
    yield "### On average\n"
    yield from table(
        ["words", "task", "corpora", "before", "defaults", "gain", "regression", "to regression", "the least"],
        [_average(size, task, rows) for size in sizes for task, rows in _by_task(told["rows"], size)],
    )
    for size in sizes:
        yield f"### {_size(size)}\n"
        yield from table(
            ["task", "corpus", "words", "before", "defaults", "gain", "regression", "to regression", "s before", "s"],
            [_cells(row) for row in told["rows"] if row["size"] == size],
        )


def _by_task(rows: Sequence[Summary], size: int) -> list[tuple[str, list[Summary]]]:
    own = [row for row in rows if row["size"] == size]
    tasks = dict.fromkeys(row["task"] for row in own)
    return [(task, [row for row in own if row["task"] == task]) for task in tasks]


def _average(size: int, task: str, rows: Sequence[Summary]) -> list[str]:
    scores = {name: np.mean([row["trained"][name]["score"] for row in rows]) for name in (BEFORE, NOW)}
    beside = [row for row in rows if row["over regression"] is not None]
    head = [_size(size), task, str(len(rows)), *(f"{scores[name]:.2f}" for name in (BEFORE, NOW))]
    head.append(f"{scores[NOW] - scores[BEFORE]:+.2f}")
    if not beside:
        return [*head, "-", "-", "-"]
    theirs = np.mean([row["trained"][REGRESSION]["score"] for row in beside])
    gains = [row["over regression"] for row in beside]
    return [*head, f"{theirs:.2f}", f"{np.mean(gains):+.2f}", f"{min(gains):+.2f}"]


def _cells(row: Summary) -> list[str]:
    found = row["trained"]
    before, now = found[BEFORE], found[NOW]
    scores = [f"{before['score']:.2f}", f"{now['score']:.2f}", f"{now['score'] - before['score']:+.2f}"]
    beside = ["-", "-"]
    if REGRESSION in found:
        beside = [f"{found[REGRESSION]['score']:.2f}", f"{row['over regression']:+.2f}"]
    seconds = [f"{each['seconds']:.1f}" for each in (before, now)]
    return [row["task"], row["text"], f"{row['tokens']:,.0f}", *scores, *beside, *seconds]


def _size(tokens: int) -> str:
    return f"{tokens:,}" if tokens else "all"
