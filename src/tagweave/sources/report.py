"""How far each source is to be believed, as rows and as plain data."""

from __future__ import annotations

import csv
import json
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tagweave.sources.reliability import Reliability

OUTSIDE = "O"
FIELDS = ("source", "label", "answers", "right", "low", "high")


def source_rows(reliability: Reliability, level: float = 0.95) -> list[dict[str, Any]]:
    """For every source a row over all labels, and one for each true label.

    Every row has the number of answers where that is the true label (expected), the probability that such an answer is
    right, and the ends of its interval.
    """
    overall, by_label = reliability.accuracy(level), reliability.recall(level)
    answers = reliability.expected.sum(axis=2)
    rows = []
    for k, source in enumerate(reliability.sources):
        rows.append(_row(source, "", answers[k].sum(), overall[k]))
        rows += [_row(source, label, answers[k, y], by_label[k, y]) for y, label in enumerate(reliability.labels)]
    return rows


def _row(source: str, label: str, answers: float, numbers: np.ndarray[Any, Any]) -> dict[str, Any]:
    right, low, high = (round(float(each), 4) for each in numbers)
    return dict(zip(FIELDS, (source, label, round(float(answers), 1), right, low, high), strict=True))


def inside_labels(reliability: Reliability) -> list[int] | None:
    """The numbers of all labels but `O`, if there is one."""
    if OUTSIDE not in reliability.labels or len(reliability.labels) == 1:
        return None
    return [y for y, label in enumerate(reliability.labels) if label != OUTSIDE]


def write_csv(reliability: Reliability, stream: IO[str]) -> None:
    """The rows as a table."""
    writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(source_rows(reliability))


def write_json(reliability: Reliability, stream: IO[str]) -> None:
    """The rows, and the confusion matrix of every source: P(answer | true label), a row for each true label."""
    found = {
        "labels": reliability.labels,
        "known": dict(reliability.prior.known),
        "rows": source_rows(reliability),
        "confusion": {
            source: matrix.round(5).tolist()
            for source, matrix in zip(reliability.sources, reliability.confusion, strict=True)
        },
    }
    stream.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
