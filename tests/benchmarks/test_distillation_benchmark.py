"""The labels on which teachers agree, in the benchmark of distillation."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from benchmarks.distillation import best

pytestmark = pytest.mark.slow

LABELS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


def is_legal(labels: tuple[str, ...]) -> bool:
    return all(new[0] != "I" or (old != "O" and old[2:] == new[2:]) for old, new in pairwise(("O", *labels)))


@pytest.mark.parametrize("length", [1, 2, 4])
def test_the_best_labels_are_those_of_all_legal_sequences(length: int) -> None:
    random = np.random.default_rng(length)
    for _ in range(20):
        table = random.dirichlet(np.ones(len(LABELS)), length)
        legal = filter(is_legal, product(LABELS, repeat=length))
        expected = max(legal, key=lambda each: sum(row[LABELS.index(x)] for row, x in zip(table, each, strict=True)))
        assert tuple(LABELS[at] for at in best(LABELS, table)) == expected
