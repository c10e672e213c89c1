"""One measurement in a process of its own: prints a JSON object on its last line.

python -m benchmarks.measure crfsuite|iteration|learner|tag WORKLOAD [options]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workloads import Workload, attributes, gold, workload


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
    from dataclasses import replace

    from tagweave.learning.full_batch import LBFGS
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
    from dataclasses import replace

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
    from dataclasses import replace

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["crfsuite", "iteration", "learner", "tag"])
    parser.add_argument("workload", choices=["segment", "tag"])
    parser.add_argument("--lines", type=int, default=8000)
    parser.add_argument("--algorithm", default="lbfgs")
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", type=float, default=2.0)
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
