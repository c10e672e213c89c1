"""Aggregation of 10 million answers of 1,000 sources: `python -m benchmarks.aggregation [--answers N] [--quick]`."""

from __future__ import annotations

import argparse
import platform
import resource
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.processes import publish
from tagweave.sources.answers import Answers
from tagweave.sources.methods import AGGREGATIONS
from tagweave.sources.posterior import aggregate

ANSWERS, SOURCES, EACH = 10_000_000, 1_000, 5
LABELS = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")
LENGTH = 20  # of a sentence
BOUND = 60.0


def made_truth(random: np.random.Generator, positions: int) -> np.ndarray[Any, Any]:
    """int32[N]: labels of spans of one to three tokens, an eighth of the tokens begins one."""
    outside = LABELS.index("O")
    truth = np.full(positions, outside, np.int32)
    starts = np.flatnonzero(random.random(positions) < 1 / 8)
    kinds, lengths = random.integers(0, 4, len(starts)), random.integers(1, 4, len(starts))
    for ahead in (2, 1):
        inside = starts[(lengths > ahead) & (starts % LENGTH < LENGTH - ahead)]
        truth[inside + ahead] = kinds[(lengths > ahead) & (starts % LENGTH < LENGTH - ahead)] + 4
    truth[starts] = kinds
    return _legal(truth)


def _legal(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The labels, with `O` for `I` that goes on with nothing."""
    for _ in range(2):
        before = np.concatenate([[8], labels[:-1]])
        before[::LENGTH] = 8
        strays = (labels >= 4) & (labels < 8) & (before % 4 != labels % 4) | (labels >= 4) & (labels < 8) & (
            before == 8
        )
        labels[strays] = 8
    return labels


def made_answers(answers: int, seed: int = 0) -> tuple[Answers, np.ndarray[Any, Any]]:
    """Answers of sources that are right in 40 to 95 % of the spans, each to whole sentences; and the truth."""
    random = np.random.default_rng(seed)
    positions = answers // EACH // LENGTH * LENGTH
    truth = made_truth(random, positions)
    right = random.uniform(0.4, 0.95, SOURCES)
    first = random.integers(0, SOURCES, positions // LENGTH)
    sources = (
        first[:, None] + np.arange(EACH) * (SOURCES // EACH) + random.integers(0, SOURCES // EACH, (len(first), EACH))
    ) % SOURCES
    source = np.repeat(np.sort(sources, axis=1), LENGTH, axis=0).astype(np.int32).ravel()
    position = np.repeat(np.arange(positions, dtype=np.int32), EACH)
    label = truth[position]
    wrong = (random.random(len(label)) > right[source]) & (label != 8) | (random.random(len(label)) < 0.005)
    label[wrong] = np.where(random.random(int(wrong.sum())) < 0.7, 8, random.integers(0, 9, int(wrong.sum())))
    ptr = np.arange(0, positions + 1, LENGTH, dtype=np.int64)
    empty = np.zeros(0, np.float32)
    names = tuple(f"source{k}" for k in range(SOURCES))
    return Answers(LABELS, names, ptr, position, source, label.astype(np.int32), empty), truth


def measured(answers: Answers, truth: np.ndarray[Any, Any], method: str) -> dict[str, Any]:
    """CPU seconds of a method with its defaults, its turns, and the share of right labels."""
    lines: list[str] = []
    begin, wall = time.process_time(), time.perf_counter()
    result = aggregate(answers, method, tell=lines.append)
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    turns = sum(line.startswith("turn") for line in lines)
    right = float((result.best == truth).mean())
    return {"method": method, "seconds": seconds, "elapsed": wall, "turns": turns, "right": right}


def lines(found: dict[str, Any]) -> list[str]:
    """The page."""
    page = [
        "# Speed of aggregation",
        "",
        "Written by `python -m benchmarks.aggregation`, on " + found["machine"] + ", one thread.",
        "",
        f"{found['answers']:,} made-up answers of {SOURCES:,} sources, {EACH} for each of",
        f"{found['positions']:,} tokens in sentences of {LENGTH}, with {len(LABELS)} labels of spans. Defaults of",
        f"every method; CPU seconds, compiled code. The bound is {BOUND:.0f} s. The largest memory of the process",
        f"was {found['memory']:.1f} GB, with all answers.",
        "",
        "| method | CPU s | elapsed s | turns | labels right, % |",
        "|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        numbers = f"{row['seconds']:.1f} | {row['elapsed']:.1f} | {row['turns'] or '-'} | {100 * row['right']:.2f}"
        page.append(f"| {row['method']} | {numbers} |")
    return [*page, ""]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.aggregation", description=__doc__)
    parser.add_argument("--answers", type=int, default=ANSWERS)
    parser.add_argument("--only", action="append", choices=AGGREGATIONS, help="a method (repeatable)")
    parser.add_argument("--quick", action="store_true", help="a thousandth, and write nothing")
    options = parser.parse_args(words)
    count = options.answers // 1000 if options.quick else options.answers
    small, truth = made_answers(2000)
    for method in AGGREGATIONS:
        measured(small, truth, method)  # compiles
    answers, truth = made_answers(count)
    rows = []
    for method in options.only or AGGREGATIONS:
        rows.append(measured(answers, truth, method))
        print(rows[-1], flush=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    found = {
        "machine": platform.machine(),
        "answers": len(answers),
        "positions": answers.positions,
        "memory": memory,
        "rows": rows,
    }
    publish("speed-aggregation", lines(found), found, options.quick)


if __name__ == "__main__":
    main()
