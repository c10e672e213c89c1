"""The sentences of an iteration: Algorithm 1 of li-2015, and batches of sentences of similar length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.models.batches import drawn, of_like_length

MEMBERS = (np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7, 8, 9, 10]))
SEED, ITERATION = st.integers(0, 10), st.integers(0, 10)


@given(SEED, ITERATION, st.integers(0, 50))
def test_all_sentences_in_an_order_that_repeats(seed: int, iteration: int, sentences: int) -> None:
    order = drawn([np.arange(sentences)], [sentences], seed, iteration)
    assert sorted(order.tolist()) == list(range(sentences))
    assert (order == drawn([np.arange(sentences)], [sentences], seed, iteration)).all()


def test_orders_differ_by_seed_and_by_iteration() -> None:
    orders = {tuple(drawn([np.arange(30)], [30], s, i).tolist()) for s in range(3) for i in range(3)}
    assert len(orders) == 9


@given(SEED, ITERATION, st.integers(0, 9), st.integers(0, 9))
def test_the_number_of_sentences_of_each_corpus(seed: int, iteration: int, first: int, second: int) -> None:
    order = drawn(MEMBERS, (first, second), seed, iteration)
    assert [int(np.isin(order, members).sum()) for members in MEMBERS] == [first, second]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 9])
def test_all_sentences_of_a_corpus_are_used_before_any_is_repeated(size: int) -> None:
    visits: list[int] = []
    for iteration in range(12):
        visits += drawn(MEMBERS, (0, size), 3, iteration).tolist()
        counts = np.bincount(visits, minlength=11)[MEMBERS[1]]
        assert counts.max() - counts.min() <= 1


def test_a_draw_changes_from_round_to_round() -> None:
    rounds = {tuple(sorted(drawn(MEMBERS, (0, 3), 0, i).tolist())) for i in range(20)}
    assert len(rounds) > 5


def test_a_corpus_without_evidence_gives_no_sentence() -> None:
    assert sorted(drawn([np.zeros(0, int), MEMBERS[1]], (5, 7), 0, 0).tolist()) == MEMBERS[1].tolist()


@given(st.integers(0, 200), st.integers(1, 7), SEED)
def test_sorting_by_length_keeps_the_sentences(count: int, batch: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths, order = rng.integers(0, 40, count), rng.permutation(count)
    assert sorted(of_like_length(order, lengths, batch, seed, 1).tolist()) == list(range(count))


def test_sentences_of_a_batch_have_similar_lengths() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 100, 640)
    order = rng.permutation(640)
    spread = [
        np.mean([np.ptp(lengths[o[b : b + 10]]) for b in range(0, 640, 10)])
        for o in (order, of_like_length(order, lengths, 10, 0, 0))
    ]
    assert spread[1] < spread[0] / 5
    firsts = lengths[of_like_length(order, lengths, 10, 0, 0)[::10]]
    assert (np.diff(firsts) > 0).any()
    assert (np.diff(firsts) < 0).any()
