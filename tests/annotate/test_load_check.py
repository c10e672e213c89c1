"""What the benchmark of the server would notice: an answer that is lost, and one that nobody was told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.annotation_load_store import Comparison, Said, compared, fill, numbered
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, label


@pytest.fixture
def answered(tmp_path: Path) -> tuple[str, list[Said]]:
    """A store in which two annotators have answered three tasks each, and what they said."""
    url, acknowledged = f"sqlite:///{tmp_path / 'answers.db'}", []
    numbers = fill(url, 4, 2)
    store = Store.open(url)
    for name, number in numbers.items():
        for answer in (label("NN"), label("VV"), CANNOT_TELL):
            lease = store.claim(number)
            store.answer(number, lease.task_id, answer)
            acknowledged.append((lease.task_id, name, f"label {answer.label}" if answer.label else answer.kind.value))
    store.close()
    return url, numbered(acknowledged, numbers)


def test_answers_that_are_lost_changed_or_unacknowledged_are_counted(answered: tuple[str, list[Said]]) -> None:
    url, reports = answered
    task, annotator, _ = reports[0]
    missing = next(number for number in range(1, 5) if (number, annotator) not in {each[:2] for each in reports})
    assert compared(url, [*reports, (missing, annotator, "label NN")]).lost == 1
    assert compared(url, [*reports, reports[0]]).lost == 1  # told twice, there once
    assert compared(url, [(task, annotator, "label JJ"), *reports[1:]]) == Comparison(6, 1, 0, 1)
    assert compared(url, reports[1:]) == Comparison(stored=6, lost=0, doubled=0, unacknowledged=1)
