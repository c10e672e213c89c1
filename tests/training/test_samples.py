"""How many sentences of each corpus an iteration visits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.training.recipe import LEARNERS, by_words, in_batches

LENGTHS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=3)


def corpora(lengths: list[list[int]]) -> list[Corpus]:
    return [Corpus(tuple(Sentence(("w",) * n) for n in each)) for each in lengths]


@given(LENGTHS, LENGTHS, st.floats(0.1, 5))
def test_targets_are_visited_whole_and_others_by_their_words(
    own: list[list[int]], other: list[list[int]], times: float
) -> None:
    targets, others = corpora(own), corpora(other)
    sample = by_words(targets, others, times)
    assert list(sample[: len(targets)]) == [len(each) for each in own]
    wanted = times * sum(map(sum, own))
    for lengths, size in zip(other, sample[len(targets) :], strict=True):
        mean = sum(lengths) / len(lengths)
        assert 0 <= size <= len(lengths)
        if mean and size < len(lengths):
            assert (size - 1) * mean < wanted + 1e-6 and size * mean >= wanted - 1e-6


def test_as_many_words() -> None:
    assert by_words(corpora([[4, 4]]), corpora([[2] * 10, [100, 100]])) == (2, 4, 1)
    assert by_words(corpora([[4, 4]]), corpora([[2] * 10]), 2) == (2, 8)


def test_a_learner_samples_if_it_takes_batches() -> None:
    assert [name for name in LEARNERS if in_batches(name)] == ["adagrad", "sgd", "perceptron", "pa", "arow"]
