"""Measure tagweave beside python-crfsuite, and write the table: `python -m benchmarks [--quick]`."""

from __future__ import annotations

import argparse
import platform
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks.processes import measured, publish

LEARNERS = {"lbfgs": 250, "l2sgd": 100, "ap": 20, "pa": 20, "arow": 20}
"""CRFsuite's learners and the iterations that each gets at most; L-BFGS and SGD stop earlier if they converge."""


_ITERATION_ROWS = (
    ("seconds per L-BFGS iteration", "iteration", "{:.3f}"),
    ("peak memory of L-BFGS training, MB", "peak_megabytes", "{:.0f}"),
    ("seconds to make features", "features", "{:.2f}"),
)


measure = partial(measured, "measure")


def run_workload(name: str, lines: int, quick: bool, progress: Progress) -> dict[str, Any]:
    """All measurements of one workload: the two programs in turn, ours on one thread and on two."""
    common = [name, "--lines", str(lines)]
    learners = dict.fromkeys(LEARNERS, 2) if quick else LEARNERS
    task = progress.add_task(name, total=len(learners) + 11)
    measure("iteration", *common, "--iterations", "2")  # compiles; not counted
    measure("learner", *common, "--iterations", "1")
    measure("tag", *common)
    progress.advance(task, 3)
    found: dict[str, Any] = {"crfsuite": {}, "iteration": {}, "learner": {}, "tag": {}}
    rounds = 1 if quick else 2
    pairs: dict[str, list[dict[str, Any]]] = {"crfsuite": [], "1": [], "2": []}
    for _ in range(rounds):  # in turn, so that a change of the machine's speed meets both
        pairs["crfsuite"].append(measure("crfsuite", *common, "--algorithm", "lbfgs", "--iterations", "12"))
        for threads in ("1", "2"):
            pairs[threads].append(measure("iteration", *common, "--iterations", "15", "--threads", threads))
        progress.advance(task, 2)
    found["iteration"] = {key: min(results, key=lambda r: r["iteration"]) for key, results in pairs.items()}
    for algorithm, iterations in learners.items():
        found["crfsuite"][algorithm] = measure(
            "crfsuite", *common, "--algorithm", algorithm, "--iterations", str(iterations)
        )
        progress.advance(task)
    target = max(result["score"] for result in found["crfsuite"].values())
    for threads in ("1", "2"):
        words = ["--threads", threads, "--target", str(target), "--iterations", "30"]
        found["learner"][threads] = measure("learner", *common, *words)
        found["tag"][threads] = measure("tag", *common, "--threads", threads)
        progress.advance(task, 2)
    return found


def table(name: str, found: dict[str, Any]) -> list[str]:
    """The rows of one workload."""
    iterations, learners = found["iteration"], found["crfsuite"]
    best = max(learners, key=lambda algorithm: learners[algorithm]["score"])
    theirs = learners[best]
    their_seconds = theirs["features"] + theirs["train"]
    rows = [
        f"## {name}",
        "",
        "| | python-crfsuite | tagweave, 1 thread | ratio | tagweave, 2 threads | ratio |",
        "|---|---|---|---|---|---|",
    ]

    def row(what: str, their: float, ours: list[float], form: str, more_is_better: bool = False) -> None:
        ratios = [own / their if more_is_better else their / own for own in ours]
        cells = [form.format(their)]
        for own, ratio in zip(ours, ratios, strict=True):
            cells += [form.format(own), f"{ratio:.1f}x"]
        rows.append(f"| {what} | " + " | ".join(cells) + " |")

    for what, key, form in _ITERATION_ROWS:
        row(what, iterations["crfsuite"][key], [iterations[t][key] for t in "12"], form)
    row(
        f"seconds to quality ({best}: {100 * theirs['score']:.2f})",
        their_seconds,
        [found["learner"][t]["seconds"] for t in "12"],
        "{:.1f}",
    )
    row(
        "tokens a second, tagging",
        theirs["tokens_per_second"],
        [found["tag"][t]["tokens_per_second"] for t in "12"],
        "{:,.0f}",
        True,
    )
    reached = [f"{100 * found['learner'][t]['score']:.2f} after {found['learner'][t]['passes']} passes" for t in "12"]
    rows += [
        "",
        f"Quality reached by tagweave's default learner: {reached[0]} (1 thread), {reached[1]} (2 threads).",
        "",
    ]
    rows += ["| python-crfsuite learner | score | features, s | training, s | iterations |", "|---|---|---|---|---|"]
    for algorithm, result in learners.items():
        numbers = (100 * result["score"], result["features"], result["train"])
        score, features, train = (f"{number:.{digits}f}" for number, digits in zip(numbers, (2, 1, 1), strict=True))
        rows.append(f"| {algorithm} | {score} | {features} | {train} | {result['iterations']} |")
    return [*rows, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few hundred lines, a few iterations, nothing written")
    options = parser.parse_args()
    lines = 400 if options.quick else 8000
    with Progress(console=Console(stderr=True)) as progress:
        found = {name: run_workload(name, lines, options.quick, progress) for name in ("segment", "tag")}
    text = [
        "# Speed",
        "",
        f"Written by `python -m benchmarks` ({platform.machine()}, Python {platform.python_version()}). Training data",
        f"are the first {lines:,} lines of the People's Daily; scores are on its development data: F of words for",
        "segmentation, accuracy for tagging.",
        "Both programs have the same features and the same weights (observed feature/label pairs) in the L-BFGS rows.",
        "",
        *[line for name, result in found.items() for line in table(name, result)],
    ]
    publish("speed", text, found, options.quick)


if __name__ == "__main__":
    main()
