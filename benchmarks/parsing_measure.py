"""One measurement of a parser in a process of its own: prints a JSON object on its last line.

python -m benchmarks.parsing_measure adagrad|perceptron|udpipe FOLDER --passes N

FOLDER has the files of `benchmarks.treebanks`; the model is left there. Times are of the processor, of one thread.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.treebanks import BLANK, DEV, TEST, TRAIN

UDPIPE = "udpipe"
LEARNERS = ("adagrad", "perceptron")
ROUNDS = 5


def tagweave(folder: Path, learner: str, passes: int) -> dict[str, Any]:
    """tagweave's parser with one of its learners; the weights are those of the pass best on the development data."""
    from tagweave.corpus.load import load
    from tagweave.learning.run import Run, Schedule
    from tagweave.models.storage import save_model
    from tagweave.models.tree import TreePredictor
    from tagweave.training.fit.fit import fit
    from tagweave.training.fit.recipe import Recipe
    from tagweave.training.fit.task import Task

    train, dev = (load(f"{folder / name}#head") for name in (TRAIN, DEV))
    given, path = load(str(folder / BLANK)), model_path(folder, learner)
    begin = time.process_time()
    model = fit([train], Recipe(Task("parse"), learner=learner), dev, Run(Schedule(passes))).model
    trained = time.process_time() - begin
    save_model(model, path)
    parser = TreePredictor(model)
    parsing = seconds(lambda: list(parser.parse(given.sentences)))
    peak = peak_megabytes()
    return {**_told(path, trained, given.tokens() / parsing, peak), **scores(folder, list(parser.parse(given)))}


def udpipe(folder: Path, passes: int) -> dict[str, Any]:
    """UDPipe's parser; the weights are those of the pass best on the development data."""
    from benchmarks import udpipe as other

    sentences, dev, given = (other.read(folder / name) for name in (TRAIN, DEV, BLANK))
    path, parsed = model_path(folder, UDPIPE), folder / "parsed.conllu"
    begin = time.process_time()
    model = other.train(sentences, dev, passes)
    trained = time.process_time() - begin
    path.write_bytes(model)
    parser = other.load(path)
    parsing = seconds(lambda: other.parse(parser, given))
    peak = peak_megabytes()  # before tagweave is loaded
    other.write(given, parsed)
    tokens = sum(len(sentence.words) - 1 for sentence in given)  # without the root

    from tagweave.corpus.load import load

    return {**_told(path, trained, tokens / parsing, peak), **scores(folder, load(f"{parsed}#head").sentences)}


def model_path(folder: Path, program: str) -> Path:
    """Where the model of a program is."""
    return folder / f"{program}.model"


def seconds(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median time of a run; the first, which may load code, does not count."""
    run()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def peak_megabytes() -> float:
    """The most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def scores(folder: Path, parsed: Any) -> dict[str, float]:
    """UAS and LAS of the test data, 0 to 1, punctuation and subtypes of relations counted."""
    from tagweave.corpus.load import load
    from tagweave.evaluation.attachment import attachment

    gold = load(f"{folder / TEST}#head")
    found = attachment(gold, gold.with_sentences(parsed), relations="full")
    return {"uas": found.heads.f, "las": found.arcs.f}


def _told(path: Path, train: float, speed: float, peak: float) -> dict[str, float]:
    """What is told of both programs, besides their scores."""
    size = path.stat().st_size / 1e6
    return {"train": train, "tokens_per_second": speed, "peak_megabytes": peak, "model_megabytes": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=[*LEARNERS, UDPIPE])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passes", type=int, required=True)
    options = parser.parse_args()
    if options.program == UDPIPE:
        result = udpipe(options.folder, options.passes)
    else:
        result = tagweave(options.folder, options.program, options.passes)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
