"""Training and tagging beside python-crfsuite: `python -m benchmarks.speed [--quick]`.

Both programs have the same sentences and features of the People's Daily: for segmentation (4 labels) and tagging (42).
Every measurement is a process of its own, `python -m benchmarks.speed WHAT WORKLOAD [options]`, so that its peak memory
is its own; it prints a JSON object on its last line.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks.characters import corpora_folder
from benchmarks.processes import measured, publish
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.features.templates import PRESETS, Templates
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

LINES, QUICK_LINES = 4_000, 400
"""Of training data."""
LEARNERS = {"lbfgs": 250, "l2sgd": 100, "ap": 20, "pa": 20, "arow": 20}
"""CRFsuite's learners and the iterations that each gets at most; L-BFGS and SGD stop earlier if they converge."""
NGRAMS = Templates(PRESETS["liu-2014"].texts[:12])  # the character n-grams of liu-2014, Table 2


@dataclass(frozen=True)
class Workload:
    """Training and development corpora, prepared for a task."""

    name: str
    train: Corpus
    dev: Corpus
    recipe: Recipe


def workload(name: str, lines: int) -> Workload:
    """`segment` or `tag` on the first lines of People's Daily."""
    folder = corpora_folder() / "zh" / "pd199801"
    train, dev = load(str(folder / "train.txt")), load(str(folder / "dev.txt"))
    train = train.with_sentences(train.sentences[:lines])
    if name == "segment":
        recipe = Recipe(task=Task("segment"), templates=NGRAMS)
    else:
        recipe = Recipe(templates=PRESETS["li-2015"])
    return Workload(name, recipe.task.prepare(train), recipe.task.prepare(dev), recipe)


def attributes(name: str, forms: Sequence[str]) -> list[list[str]]:
    """The same features as lists of strings, as python-crfsuite takes them."""
    make = _character_attributes if name == "segment" else _word_attributes
    return [list(make(forms, i)) for i in range(len(forms))]


def _at(forms: Sequence[str], i: int) -> str:
    return forms[i] if 0 <= i < len(forms) else f"<{i}>" if i < 0 else f"<+{i - len(forms)}>"


_SHAPES = [(-2,), (-1,), (0,), (1,), (2,), (-2, -1), (-1, 0), (0, 1), (1, 2), (-2, 0), (-1, 1), (0, 2)]


def _character_attributes(forms: Sequence[str], i: int) -> Iterator[str]:
    for k, shape in enumerate(_SHAPES):
        yield f"{k}=" + "/".join([_at(forms, i + offset) for offset in shape])


def _word_attributes(forms: Sequence[str], i: int) -> Iterator[str]:
    word, before, after = forms[i], _at(forms, i - 1), _at(forms, i + 1)
    last_before = before[-1] if i else before
    first_after = after[0] if i + 1 < len(forms) else after
    yield f"w={word}"
    yield f"w-1={before}"
    yield f"w+1={after}"
    yield f"w,c-1={word}/{last_before}"
    yield f"w,c+1={word}/{first_after}"
    yield f"first={word[0]}"
    yield f"last={word[-1]}"
    for character in word[1:-1]:
        yield f"inner={character}"
        yield f"first,inner={word[0]}/{character}"
        yield f"last,inner={word[-1]}/{character}"
    if len(word) == 1:
        yield f"single={word}/{last_before}/{first_after}"
    for one, other in pairwise(word):
        if one == other:
            yield f"repeat={one}"
    for n in range(1, min(4, len(word)) + 1):
        yield f"prefix={word[:n]}"
        yield f"suffix={word[-n:]}"


def gold(corpus: Corpus) -> list[list[str]]:
    """The one label of every token."""
    return [[candidates[0] for candidates in s.layers[corpus.guideline] if candidates] for s in corpus.sentences]


def _score(work: Workload, system: list[list[str]]) -> float:
    """The development score: word F for segmentation, accuracy for tagging."""
    from tagweave.labels.coding import WordCounter

    names = sorted({label for labels in gold(work.dev) for label in labels} | {x for y in system for x in y})
    number = {name: i for i, name in enumerate(names)}
    right = np.array([number[label] for labels in gold(work.dev) for label in labels], np.int32)
    found = np.array([number[label] for labels in system for label in labels], np.int32)
    if work.name == "tag":
        return float((right == found).mean())
    ptr = np.concatenate([[0], np.cumsum([len(s) for s in work.dev.sentences])])
    return WordCounter(names, ptr).f_score(right, found)


def _crfsuite_trainer(work: Workload, algorithm: str, parameters: dict[str, Any]) -> tuple[Any, float]:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params(parameters)
    begin = time.perf_counter()
    for sentence, labels in zip(work.train.sentences, gold(work.train), strict=True):
        trainer.append(attributes(work.name, sentence.forms), labels)
    return trainer, time.perf_counter() - begin


def crfsuite_learner(work: Workload, algorithm: str, iterations: int) -> dict[str, Any]:
    """Train to the end and score: seconds, of features and of training, and the final development score."""
    import pycrfsuite

    trainer, feature_seconds = _crfsuite_trainer(work, algorithm, {"max_iterations": iterations})
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        begin = time.perf_counter()
        trainer.train(model)
        seconds = time.perf_counter() - begin
        log = [float(i["time"]) for i in trainer.logparser.iterations if "time" in i]
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        dev = [attributes(work.name, sentence.forms) for sentence in work.dev.sentences]
        begin = time.perf_counter()
        system = [tagger.tag(features) for features in dev]
        tag_seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        for sentence in work.dev.sentences:
            tagger.tag(attributes(work.name, sentence.forms))
        whole_seconds = time.perf_counter() - begin
    return {
        "features": feature_seconds,
        "train": seconds,
        "iterations": len(log),
        "iteration": statistics.median(log[1:] or log or [0.0]),
        "score": _score(work, system),
        "tokens_per_second": work.dev.tokens() / whole_seconds,
        "tokens_per_second_without_features": work.dev.tokens() / tag_seconds,
    }


def iteration(work: Workload, threads: int, iterations: int) -> dict[str, Any]:
    """Seconds per L-BFGS iteration: the loss, the gradient, the line search and the optimiser's vectors."""
    from tagweave.learning.learners.lbfgs import LBFGS
    from tagweave.training.fit.fit import prepare

    begin = time.perf_counter()
    problem = prepare([work.train], replace(work.recipe, features="observed", edges=False, threads=threads))
    features = time.perf_counter() - begin
    times, losses = [], []
    trainer = LBFGS()
    state = trainer.start(problem.objective, np.zeros(problem.objective.size))
    for _ in range(iterations):
        begin = time.perf_counter()
        trainer.step(problem.objective, state)
        times.append(time.perf_counter() - begin)
        losses.append(state.loss)
    return {
        "features": features,
        "iteration": statistics.median(times[1:]),
        "weights": problem.objective.size,
        "losses": losses,
    }


def learner(work: Workload, threads: int, iterations: int, target: float) -> dict[str, Any]:
    """Seconds, features included, until the development score reaches `target` with the default learner."""
    from tagweave.learning.run import Iteration, Run, Schedule
    from tagweave.training.fit.fit import fit

    curve: list[tuple[float, float]] = []
    begin = time.perf_counter()

    class Reached(Exception):  # noqa: N818 - it is no error
        pass

    class Watch:
        def iteration(self, iteration: Iteration, _limit: int) -> None:
            curve.append((time.perf_counter() - begin, iteration.score or 0.0))
            if (iteration.score or 0) >= target:
                raise Reached

    with suppress(Reached):
        fit(
            [work.train],
            replace(work.recipe, threads=threads),
            work.dev,
            Run(Schedule(iterations, iterations), Watch()),
        )
    return {"seconds": curve[-1][0], "score": curve[-1][1], "passes": len(curve), "curve": curve}


def tag(work: Workload, threads: int) -> dict[str, Any]:
    """Tokens a second when tagging sentences, features included."""
    from tagweave.learning.run import Run, Schedule
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.training.fit.fit import fit

    model = fit([work.train], replace(work.recipe, threads=threads), None, Run(Schedule(1))).model
    tagger = ChainPredictor(model, threads)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        for _sentence in tagger.tag(work.dev.sentences):
            pass
        times.append(time.perf_counter() - begin)
    return {"tokens_per_second": work.dev.tokens() / min(times)}


def one(words: Sequence[str]) -> None:
    """One measurement, in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["crfsuite", "iteration", "learner", "tag"])
    parser.add_argument("workload", choices=["segment", "tag"])
    parser.add_argument("--lines", type=int, required=True)
    parser.add_argument("--algorithm", default="lbfgs")
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", type=float, default=2.0)
    options = parser.parse_args(words)
    work = workload(options.workload, options.lines)
    if options.what == "crfsuite":
        result = crfsuite_learner(work, options.algorithm, options.iterations)
    elif options.what == "iteration":
        result = iteration(work, options.threads, options.iterations)
    elif options.what == "learner":
        result = learner(work, options.threads, options.iterations, options.target)
    else:
        result = tag(work, options.threads)
    result["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


_ITERATION_ROWS = (
    ("seconds per L-BFGS iteration", "iteration", "{:.3f}"),
    ("peak memory of L-BFGS training, MB", "peak_megabytes", "{:.0f}"),
    ("seconds to make features", "features", "{:.2f}"),
)


measure = partial(measured, "speed")


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
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        one(sys.argv[1:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few hundred lines, a few iterations, nothing written")
    options = parser.parse_args()
    lines = QUICK_LINES if options.quick else LINES
    with Progress(console=Console(stderr=True)) as progress:
        found = {name: run_workload(name, lines, options.quick, progress) for name in ("segment", "tag")}
    text = [
        "# Speed",
        "",
        f"Written by `python -m benchmarks.speed` ({platform.machine()}, Python {platform.python_version()}).",
        f"Training data are the first {lines:,} lines of the People's Daily; scores are on its development data: F of",
        "words for segmentation, accuracy for tagging.",
        "Both programs have the same features and the same weights (observed feature/label pairs) in the L-BFGS rows.",
        "",
        *[line for name, result in found.items() for line in table(name, result)],
    ]
    publish("speed", text, found, options.quick)


if __name__ == "__main__":
    main()
