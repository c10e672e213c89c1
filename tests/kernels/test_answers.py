"""Answers of sources: links to what each said before, likelihoods and counts, against loops over all pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.kernels import distributions

LABELS, SOURCES = 3, 4
SAID = st.lists(st.tuples(st.integers(0, SOURCES - 1), st.integers(0, LABELS - 1)), unique=True, max_size=8)
SENTENCES = st.lists(st.lists(SAID.map(sorted), max_size=4), min_size=1, max_size=4)


@given(
    sentences=SENTENCES, contexts=st.sampled_from([1, LABELS + 1]), shared=st.booleans(), seed=st.integers(0, 2**32 - 1)
)
def test_contexts_are_what_the_same_source_said_before(
    sentences: list[list[list[tuple[int, int]]]], contexts: int, shared: bool, seed: int
) -> None:
    ptr = np.concatenate([[0], np.cumsum([len(tokens) for tokens in sentences])]).astype(np.int64)
    tokens = [said for sentence in sentences for said in sentence]
    rows = [(t, source, label) for t, said in enumerate(tokens) for source, label in said]
    position, source, label = np.array(rows, np.int32).reshape(-1, 3).T.copy()
    rng, size, previous = np.random.default_rng(seed), len(rows), np.full(len(rows), -7, np.int64)
    share = rng.random(size if shared else 0).astype(np.float32)
    distributions.link_previous(ptr, position, source, previous)
    expected = np.zeros((len(tokens), LABELS))
    table, gamma = rng.random((SOURCES, contexts, LABELS, LABELS)), rng.random((len(tokens), LABELS))
    counts = np.zeros_like(table)
    first, last = (size // 3, size) if shared else (0, size)
    for a, (t, k, answer) in enumerate(rows):
        begins = t in ptr
        before = [b for b, other in enumerate(rows) if other[:2] == (t - 1, k) and not begins]
        assert previous[a] == (before[0] if before else -1)
        if not first <= a < last:
            continue
        weights = [(rows[b][2], share[b] if shared else 1) for b in before] if contexts > 1 else [(0, 1)]
        for context, before_it in weights or [(LABELS, 1)]:
            weight = before_it * (share[a] if shared else 1)
            expected[t] += weight * table[k, context, answer]
            counts[k, context, answer] += weight * gamma[t]
    given_to = (position, source, label, share, previous, LABELS)
    found, found_counts = np.zeros((len(tokens), LABELS)), np.zeros_like(table)
    distributions.over_answers(*given_to, found, first, last, table, False)
    distributions.over_answers(*given_to, gamma, first, last, found_counts, True)
    assert found == pytest.approx(expected)
    assert found_counts == pytest.approx(counts)
