"""Tuning on several workers: `python -m benchmarks.cluster_tune [--quick]`.

Tags of Zhuxian, the default learner, its usual search space. The same search runs with one worker, with two, and with
two of Ray; then the plan itself with several seeds, which shows how much a single development score says.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import time
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.processes import measured, publish
from reproductions.lab.corpora import all_corpora
from tagweave.cluster.executor import AUTO, LOCAL, executor_at, results
from tagweave.corpus.load import load
from tagweave.front.evaluation import evaluate
from tagweave.front.model import load_model
from tagweave.front.training import resolve, tune
from tagweave.training.plan import CorpusReference, TrainingPlan
from tagweave.training.plan_task import carry_out, plan_task
from tagweave.training.retraining import plan_in

ROWS = {"local, 1 worker": (LOCAL, 1), "local, 2 workers": (LOCAL, 2), "Ray, 2 workers": (AUTO, 2)}
"""The rows of the table: the cluster, and how many workers."""
_SEEDS, _TESTED = 8, 3


def plan(iterations: int) -> TrainingPlan:
    """Tags of Zhuxian."""
    folder = all_corpora() / "zh" / "zx"
    target, dev = (CorpusReference(str(folder / name)) for name in ("train.txt", "dev.txt"))
    return resolve(TrainingPlan((target,), dev=dev, iterations=iterations), lambda line: None)


def searched(cluster: str, workers: int, trials: int, iterations: int) -> dict[str, Any]:
    """One search: seconds until it begins, of its trials by the clock, of their trainings, and of all."""
    of = plan(iterations)
    ends: list[tuple[float, float]] = []
    begin = time.perf_counter()
    found = tune(
        of,
        trials=trials,
        seeds=1,
        cluster=cluster,
        workers=workers,
        finished=lambda trial: ends.append((time.perf_counter() - begin, trial.seconds)),
    )
    start = min(end - seconds for end, seconds in ends)
    pruned = sum(each.state == "pruned" for each in found.trials)
    means = {each.trial.number: each.mean for each in found.finalists}
    return {
        "wall": time.perf_counter() - begin,
        "start": start,
        "search": ends[-1][0] - start,
        "training": sum(each.seconds for each in found.trials),
        "processors": resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime,
        "workers": workers,
        "pruned": pruned,
        "default": found.trials[0].score,
        "best": max(each.score or 0.0 for each in found.trials if each.state == "complete"),
        "default_mean": means.get(0),
        "chosen_mean": means.get(found.best.number),
        "chosen": dict(found.best.values),
        "result": found.to_json(),
    }


def on_test(plan_of: TrainingPlan) -> dict[str, Any]:
    """The scores of a plan on development and test data, with seeds that no trial had."""
    gold = load(str(all_corpora() / "zh" / "zx" / "test.txt"))
    rows = []
    with executor_at(LOCAL, 2) as executor, TemporaryDirectory() as folder:
        seeds = range(100, 100 + _TESTED)
        tasks = [plan_task(replace(plan_of, seed=seed), executor, with_model=True) for seed in seeds]
        for _, result in results(executor, carry_out, tasks):
            path = Path(folder) / "model"
            path.write_bytes(result.model or b"")
            report = evaluate(gold, {"model": load_model(path)}).to_json()
            rows.append((result.score, report["systems"]["model"]["accuracy"]["value"]))
    return {"dev": fmean(dev for dev, _ in rows), "test": fmean(test for _, test in rows), "seeds": _TESTED}


def noise(iterations: int) -> dict[str, Any]:
    """The development scores of the plan itself with several seeds."""
    of = plan(iterations)
    with executor_at(LOCAL, 2) as executor:
        tasks = [plan_task(replace(of, seed=seed), executor) for seed in range(_SEEDS)]
        return {"scores": [result.score or 0.0 for _, result in results(executor, carry_out, tasks)]}


def lines(found: dict[str, Any], trials: int, iterations: int) -> list[str]:
    """The page."""
    scores = found["noise"]["scores"]
    text = [
        "# Tuning on several workers",
        "",
        f"Written by `python -m benchmarks.cluster_tune` ({platform.machine()}, Python {platform.python_version()}).",
        f"Tags of Zhuxian, AdaGrad with at most {iterations} iterations, {trials} trials, of which the first is the",
        "plan itself, and at the end one more seed for it and for the three best. Two cores, shared with others.",
        "",
        "| | start, s | trials, s | trainings at a time | pruned | best dev | dev of the plan | another seed: chosen"
        " | the plan |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ROWS:
        row = found[name]
        figures = [row[key] for key in ("best", "default", "chosen_mean", "default_mean")]
        cells = [f"{row['start']:.0f}", f"{row['search']:.0f}", f"{row['training'] / row['search']:.2f}"]
        cells += [str(row["pruned"]), *(f"{100 * figure:.2f}" for figure in figures)]
        text.append(f"| {name} | {' | '.join(cells)} |")
    text += [
        "",
        "`start` is the time until the first training begins: corpora, workers, their imports. `trainings at a time`",
        "is the sum of the times of all trainings by that of the search: other programs on the cores stretch both.",
        "Two workers choose other values than one does, since they know less when they begin a trial.",
    ]
    spread = 100 * stdev(scores)
    text += [
        "",
        f"The plan itself with {len(scores)} seeds: {100 * fmean(scores):.2f}, standard deviation {spread:.2f}.",
    ]
    plan_row, chosen = found["test of the plan"], found["test of the chosen plan"]
    seeds = plan_row["seeds"]
    text += [
        "",
        f"The plan chosen with two workers and the plan itself, {seeds} seeds that no trial had:",
        "",
        "| | dev | test |",
        "|---|---|---|",
        *(
            f"| {name} | {100 * row['dev']:.2f} | {100 * row['test']:.2f} |"
            for name, row in (("the plan", plan_row), ("chosen", chosen))
        ),
    ]
    return [*text, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="eight trials of one iteration, nothing written")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--only", choices=[*ROWS, "noise", "test"], help="measure one row, as JSON")
    parser.add_argument("--plan", type=Path, help="with --only test: the file of a plan")
    parser.add_argument("--keep", type=Path, help="a folder of finished rows: a second command goes on")
    options = parser.parse_args()
    trials, iterations = (8, 1) if options.quick else (options.trials, options.iterations)
    if options.only == "noise":
        print(json.dumps(noise(iterations)))
    elif options.only == "test":
        print(json.dumps(on_test(plan_in(str(options.plan)) if options.plan else plan(iterations))))
    elif options.only:
        print(json.dumps(searched(*ROWS[options.only], trials, iterations)))
    else:
        numbers = ("--trials", str(trials), "--iterations", str(iterations))
        found = {name: _row(name, options.keep, "--only", name, *numbers) for name in (*ROWS, "noise")}
        with TemporaryDirectory() as folder:
            file = Path(folder) / "plan.json"
            file.write_text(json.dumps(found["local, 2 workers"]["result"]["plan"]))
            for name, words in (("test of the plan", ()), ("test of the chosen plan", ("--plan", str(file)))):
                found[name] = _row(name, options.keep, "--only", "test", *numbers, *words)
        text = lines(found, trials, iterations)
        for name in ROWS:
            del found[name]["result"]
        publish("cluster-tune", text, found, options.quick)


def _row(name: str, keep: Path | None, *words: str) -> dict[str, Any]:
    file = keep and keep / f"{name}.json"
    if file and file.exists():
        row: dict[str, Any] = json.loads(file.read_text())
        return row
    row = measured("cluster_tune", *words)
    if file:
        file.write_text(json.dumps(row))
    return row


if __name__ == "__main__":
    main()
