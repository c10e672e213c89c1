"""Aggregation by other packages, in an environment of their own: `python rival_aggregation.py METHOD IN.npz OUT.npz`.

IN has the arrays of `tagweave.sources.answers.Answers` and the names of labels; OUT gets `probabilities` [N, Y], 1 for
`O` where nobody answered, and the CPU `seconds` of fitting and predicting. This file imports nothing of tagweave.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np


def skweak_hmm(data: Any) -> Any:
    """The HMM of skweak with its defaults, on tables of observations, so that who answered `O` everywhere counts."""
    pandas, generative = import_module("pandas"), import_module("skweak.generative")
    labels = [str(label) for label in data["labels"]]
    model = generative.HMM("hmm", sorted({label[2:] for label in labels if label != "O"}))
    number = np.array([model.observed_labels.index(label) for label in labels])
    names = [f"source{k:05d}" for k in range(int(data["source"].max()) + 1)]  # none a part of another's name
    tables, kept = [], []
    bounds = np.searchsorted(data["position"], data["sentence_ptr"])
    for s, (low, high) in enumerate(pairwise(bounds)):
        first, last = data["sentence_ptr"][s : s + 2]
        own = np.unique(data["source"][low:high])
        table = np.full((last - first, len(own)), -1)
        columns = np.searchsorted(own, data["source"][low:high])
        table[data["position"][low:high] - first, columns] = number[data["label"][low:high]]
        _begin_spans(table, model.observed_labels)
        if len(own):
            tables.append(pandas.DataFrame(table, columns=[names[k] for k in own]))
            kept.append(first)
    model._fit(iter(tables))
    found = _outside(data)
    for first, table in zip(kept, tables, strict=True):
        answered = model.filter_observations(table)
        found[first + answered.index.to_numpy()] = model.aggregate(answered).to_numpy()[:, number]
    return found


def _begin_spans(table: Any, labels: list[str]) -> None:
    """Turn `I` that goes on with nothing into `B`, since skweak has no state for it."""
    for t, column in np.argwhere(table >= 0):
        label = labels[table[t, column]]
        before = labels[table[t - 1, column]] if t and table[t - 1, column] >= 0 else "O"
        if label.startswith("I-") and before[2:] != label[2:]:
            table[t, column] = labels.index(f"B-{label[2:]}")


def crowd_kit(name: str, data: Any) -> Any:
    """A method of crowd-kit with its defaults."""
    pandas, aggregation = import_module("pandas"), import_module("crowdkit.aggregation")
    answers = pandas.DataFrame({"task": data["position"], "worker": data["source"], "label": data["label"]})
    probabilities = getattr(aggregation, name)().fit_predict_proba(answers)
    found = _outside(data)
    columns = probabilities.columns.to_numpy().astype(int)
    found[probabilities.index.to_numpy().astype(int)[:, None], columns] = probabilities.to_numpy()
    return found


def _outside(data: Any) -> Any:
    """Certainly `O` where nobody answered, and 0 elsewhere."""
    found = np.zeros((int(data["sentence_ptr"][-1]), len(data["labels"])))
    unanswered = np.ones(len(found), bool)
    unanswered[data["position"]] = False
    found[unanswered, [str(label) for label in data["labels"]].index("O")] = 1
    return found


METHODS: dict[str, Callable[[Any], Any]] = {
    "skweak": skweak_hmm,
    "DawidSkene": lambda data: crowd_kit("DawidSkene", data),
    "MACE": lambda data: crowd_kit("MACE", data),
}


def main(method: str, source: str, target: str) -> None:
    """Read answers, aggregate them, write probabilities."""
    with np.load(source) as data:
        arrays = {name: data[name] for name in data.files}
    start = time.process_time()
    probabilities = METHODS[method](arrays)
    np.savez(target, probabilities=probabilities, seconds=time.process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
