"""One measurement of perceptrons in a process of its own: prints a JSON object on its last line.

python -m benchmarks.perceptron_measure crfsuite WORKLOAD [options]
python -m benchmarks.perceptron_measure tagweave WORKLOAD [--features all|observed] [options]

Times are of the processor, since that is what CRFsuite's log tells of a pass; both programs have one thread.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.perceptron_workloads import CORPORA, Workload, gold, workload


def crfsuite(work: Workload, passes: int) -> dict[str, Any]:
    """python-crfsuite's `ap`."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer("ap", verbose=False)
    trainer.set_params({"max_iterations": passes})
    begin = time.process_time()
    for sentence, labels in zip(work.prepared.sentences, gold(work.prepared), strict=True):
        trainer.append(work.attributes(sentence.forms), labels)
    encoded = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        trainer.train(model)
        trained = time.process_time()
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        found = [tagger.tag(work.attributes(sentence.forms)) for sentence in work.dev.sentences]
    log = trainer.logparser
    times = [float(entry["time"]) for entry in log.iterations if "time" in entry]
    return {
        **_told(work, times, encoded - begin, trained - begin),
        "weights": int(log.featgen_num_features),
        "score": score(work, found),
    }


def tagweave(work: Workload, passes: int, features: str | None) -> dict[str, Any]:
    """tagweave's perceptron, with its usual weights or only those of observed pairs of feature and label."""
    from tagweave.learning.run import Iteration, Run, Schedule
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.training.fit import fit_problem, prepare

    recipe, ends = work.recipe(features), []

    class Watch:
        def iteration(self, _iteration: Iteration, _limit: int) -> None:
            ends.append(time.process_time())

    begin = time.process_time()
    problem = prepare([work.train], recipe)
    encoded = time.process_time()
    fitted = fit_problem(problem, recipe, None, Run(Schedule(passes), Watch()))
    trained = time.process_time()
    tagger = ChainPredictor(fitted.model)
    found = [
        [candidates[0] for candidates in sentence.layers[tagger.guideline] if candidates]
        for sentence in tagger.tag(work.dev.sentences)
    ]
    times = [later - earlier for earlier, later in pairwise([encoded, *ends])]
    return {
        **_told(work, times, encoded - begin, trained - begin),
        "weights": problem.objective.size,
        "score": score(work, found),
    }


def _told(work: Workload, times: Sequence[float], encoding: float, whole: float) -> dict[str, Any]:
    """What is told of both: the median of the passes after the first, which may load code."""
    return {
        "tokens": work.prepared.tokens(),
        "labels": len(set(chain.from_iterable(gold(work.prepared)))),
        "passes": len(times),
        "pass": statistics.median(times[1:] or times),
        "encoding": encoding,
        "whole": whole,
    }


def score(work: Workload, found: Sequence[Sequence[str]]) -> float:
    """Accuracy of the tags of words, or F of words, with their tags where they have any."""
    from tagweave.labels.coding import WordCounter

    right = list(chain.from_iterable(gold(work.dev)))
    system = list(chain.from_iterable(found))
    if work.task == "tag":
        return sum(map(str.__eq__, right, system)) / len(right)
    names = sorted({*right, *system})
    number = {name: i for i, name in enumerate(names)}
    ptr = np.concatenate([[0], np.cumsum([len(sentence) for sentence in work.dev.sentences])])
    labels = (np.array([number[label] for label in each], np.int32) for each in (right, system))
    return WordCounter(names, ptr).f_score(*labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["crfsuite", "tagweave"])
    parser.add_argument("workload", choices=CORPORA)
    parser.add_argument("--lines", type=int, help="of the training data")
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--features", choices=["all", "observed"])
    options = parser.parse_args()
    work = workload(options.workload, options.lines)
    if options.what == "crfsuite":
        result = crfsuite(work, options.passes)
    else:
        result = tagweave(work, options.passes, options.features)
    result["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main()
