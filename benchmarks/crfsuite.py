"""`ChainCRF` beside sklearn-crfsuite on the chunks of CoNLL-2000: `python -m benchmarks.crfsuite [--quick]`.

The same sentences, features and parameters for both: what each algorithm learns, how long that takes, and how long one
sentence takes.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.characters import corpora_folder
from benchmarks.processes import publish
from tagweave.estimators import ChainCRF
from tagweave.labels.spans import SpanCounter

Row = list[str]
Sentences = list[list[dict[str, Any]]]

LIMITS = {"lbfgs": 100, "l2sgd": 50, "ap": 20, "pa": 20, "arow": 20}
"""The algorithms that both have, and the most iterations of each."""
ROUNDS = 5
"""How often the sentences are tagged one by one; the fastest round of each program counts."""


def read(path: Any, sentences: int | None) -> list[list[Row]]:
    """The rows of each sentence: word, part of speech, chunk."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")[:sentences]
    return [[line.split() for line in block.splitlines()] for block in blocks if block.strip()]


def features(rows: Sequence[Row], t: int) -> dict[str, Any]:
    """The features of a token in the manner of sklearn-crfsuite's tutorial."""
    word, tag, _ = rows[t]
    found = {"bias": 1.0, "w": word, "lower": word.lower(), "end": word[-3:], "p": tag, "title": word.istitle()}
    found["digit"] = word.isdigit()
    for offset in (-2, -1, 1, 2):
        if 0 <= t + offset < len(rows):
            found |= {f"w{offset:+}": rows[t + offset][0], f"p{offset:+}": rows[t + offset][1]}
    return found


def prepared(rows: list[list[Row]]) -> tuple[Sentences, list[list[str]]]:
    """X and y."""
    X = [[features(sentence, t) for t in range(len(sentence))] for sentence in rows]
    return X, [[chunk for _, _, chunk in sentence] for sentence in rows]


def scores(gold: list[list[str]], found: Sequence[Sequence[str]]) -> tuple[float, float]:
    """The F of chunks, and the accuracy of labels."""
    names = sorted({label for rows in (gold, found) for row in rows for label in row})
    number = {name: i for i, name in enumerate(names)}
    ptr = np.cumsum([0, *map(len, gold)])
    one, other = (np.array([number[label] for row in rows for label in row], np.int32) for rows in (gold, found))
    return SpanCounter(tuple(names), ptr).f_score(one, other), float((one == other).mean())


def programs() -> dict[str, Callable[..., Any]]:
    """The estimators by the names of their programs."""
    from sklearn_crfsuite import CRF

    return {"sklearn-crfsuite": CRF, "tagweave": ChainCRF}


def learned(train: Any, test: Any, limits: dict[str, int]) -> dict[str, dict[str, dict[str, float]]]:
    """F, accuracy, seconds and iterations by algorithm and program."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for algorithm, limit in limits.items():
        for program, make in programs().items():
            begin = time.perf_counter()
            crf = make(algorithm=algorithm, max_iterations=limit).fit(*train)
            seconds = time.perf_counter() - begin
            f, accuracy = scores(test[1], crf.predict(test[0]).tolist())
            log = crf.training_log_  # of sklearn-crfsuite an object, of tagweave a list
            iterations = len(getattr(log, "iterations", log))
            row = {"f": f, "accuracy": accuracy, "seconds": seconds, "iterations": iterations}
            found.setdefault(algorithm, {})[program] = row
            print(f"{algorithm}, {program}: {row}", flush=True)
    return found


def single(train: Any, test: Any) -> dict[str, dict[str, float]]:
    """Microseconds of one sentence by the kind of its tokens and program, in turn within each round."""
    found: dict[str, dict[str, float]] = {}
    for kind, form in (("dicts", dict), ("lists", listed)):
        X, Z = ([[form(token) for token in sentence] for sentence in each] for each in (train[0], test[0]))
        fitted = {name: make(algorithm="ap", max_iterations=2).fit(X, train[1]) for name, make in programs().items()}
        times: dict[str, list[float]] = {name: [] for name in fitted}
        for _ in range(ROUNDS):
            for name, crf in fitted.items():
                begin = time.perf_counter()
                for sentence in Z:
                    crf.predict_single(sentence)
                times[name].append((time.perf_counter() - begin) / len(Z) * 1e6)
        found[kind] = {name: min(each) for name, each in times.items()}
    return found


def listed(token: dict[str, Any]) -> list[str]:
    """The features of a token as a list of strings."""
    return [f"{name}:{value}" if isinstance(value, str) else name for name, value in token.items() if value]


def page(found: dict[str, Any], times: dict[str, dict[str, float]], sentences: int, tokens: float) -> list[str]:
    """The lines of the page."""
    lines = [
        "# ChainCRF beside sklearn-crfsuite",
        "",
        f"Written by `python -m benchmarks.crfsuite` ({platform.machine()}, Python {platform.python_version()}), all",
        f"in one process with one thread. Chunks of CoNLL-2000: {sentences:,} sentences to learn from, F and accuracy",
        "on the test data. Both estimators have the same features and parameters, the defaults but for the limit of",
        "iterations. The order of sentences and, for `l2sgd`, the first rate differ, so online learners differ by",
        "chance; `ap` of tagweave stops when no mistake is left.",
        "",
        "| algorithm | program | F | accuracy | iterations | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for algorithm, rows in found.items():
        for program, row in rows.items():
            cells = [f"{100 * row['f']:.2f}", f"{100 * row['accuracy']:.2f}", str(row["iterations"])]
            lines.append(f"| `{algorithm}` | {program} | {' | '.join(cells)} | {row['seconds']:.0f} |")
    lines += [
        "",
        f"One sentence with `predict_single` ({tokens:.1f} tokens on average), the fastest of {ROUNDS} rounds:",
    ]
    lines += ["", "| tokens | sklearn-crfsuite, µs | tagweave, µs |", "|---|---|---|"]
    lines += [f"| {kind} | {row['sklearn-crfsuite']:.0f} | {row['tagweave']:.0f} |" for kind, row in times.items()]
    return [*lines, ""]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sentences and iterations; writes nothing")
    quick = parser.parse_args().quick
    folder = corpora_folder() / "en" / "conll2000"
    train, test = (prepared(read(folder / f"{name}.txt", 200 if quick else None)) for name in ("train", "test"))
    limits = dict.fromkeys(LIMITS, 3) if quick else LIMITS
    found, times = learned(train, test, limits), single(train, test)
    lines = page(found, times, len(train[0]), float(np.mean([len(row) for row in test[1]])))
    publish("crfsuite", lines, {"learned": found, "single": times}, quick)


if __name__ == "__main__":
    main()
