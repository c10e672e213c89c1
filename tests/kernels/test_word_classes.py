"""Word classes: each merger is the one that loses least, by the formula, from scratch."""

from itertools import combinations
from math import log

import numpy as np
import pytest

from tagweave.kernels.word_classes import SCALE, Classes, Neighbours, slots_of, step, tree

_REST = -1
Partition = dict[int, int]


def information(bigrams, classes: Partition) -> float:
    """N I, without f(N): from the counts of bigrams int[V + 1, V + 1] and the class of every word."""
    names = sorted(set(classes.values()))
    n = np.zeros((len(names), len(names)))
    for (a, b), count in np.ndenumerate(bigrams):
        n[names.index(classes[a]), names.index(classes[b])] += count
    return sum(
        sign * sum(x * log(x) for x in sums.flat if x) for sign, sums in ((1, n), (-1, n.sum(0)), (-1, n.sum(1)))
    )


def merged(classes: Partition, pair, into: int) -> Partition:
    return {word: into if of in pair else of for word, of in classes.items()}


def best(bigrams, classes: Partition) -> float:
    """The most information that any merger leaves; words of the rest are not merged."""
    pairs = combinations(sorted(set(classes.values()) - {_REST}), 2)
    return max(information(bigrams, merged(classes, pair, pair[0])) for pair in pairs)


def text(seed: int):
    """Counts of bigrams of V frequent words and the rest, and a number of classes."""
    random = np.random.default_rng(seed)
    words, classes = int(random.integers(6, 12)), int(random.integers(2, 5))
    return random.poisson(random.gamma(0.3, 2.0, (words + 1, words + 1))), classes


def neighbours(bigrams) -> Neighbours:
    words = len(bigrams) - 1
    ptr = np.stack([np.searchsorted(np.nonzero(side)[0], np.arange(words + 1)) for side in (bigrams, bigrams.T)])
    word, count = (
        [each(side) for side in (bigrams, bigrams.T)] for each in (lambda x: np.nonzero(x)[1], lambda x: x[x > 0])
    )
    return Neighbours(ptr.astype(np.int64), np.stack(word).astype(np.int32), np.stack(count).astype(np.int32))


def partition(state: Classes, known: int, words: int) -> Partition:
    slots = np.empty(words, np.int32)
    slots_of(state, slots)
    return {word: int(slots[word]) if word < known else _REST for word in range(words + 1)}


@pytest.mark.parametrize("seed", range(12))
def test_every_merger_loses_least(seed):
    bigrams, classes = text(seed)
    words = len(bigrams) - 1
    state, sides = Classes.empty(words, classes, int(bigrams.sum())), neighbours(bigrams)
    before = dict.fromkeys(range(words + 1), _REST)
    for word in range(words):
        before[word] = classes + 1
        step(state, sides, word, word + 1)
        after = partition(state, word + 1, words)
        expected = information(bigrams, before) if word < classes else best(bigrams, before)
        assert information(bigrams, after) == pytest.approx(expected, abs=1e-5)
        before = after
    children = np.empty((classes - 1, 2), np.int32)
    tree(state, np.arange(classes + 1, dtype=np.int32), children)
    for at, pair in enumerate(children.tolist()):
        most = best(bigrams, before)
        before = merged(before, pair, classes + at)
        assert information(bigrams, before) == pytest.approx(most, abs=1e-5)
    assert len(set(before.values()) - {_REST}) == 1


def test_losses_are_exact_after_any_number_of_steps():
    bigrams = np.random.default_rng(0).poisson(0.7, (41, 41))
    classes, words = 6, 40
    state = Classes.empty(words, classes, int(bigrams.sum()))
    step(state, neighbours(bigrams), 0, words)
    now = partition(state, words, words)
    whole = information(bigrams, now)
    for i, j in combinations(range(classes), 2):
        assert state.loss[i, j] / SCALE == pytest.approx(whole - information(bigrams, merged(now, (i, j), i)), abs=1e-4)


def test_large_counts_are_computed_as_those_of_the_table_are():
    bigrams = 400_000 * np.array([[1, 2, 3, 0], [3, 1, 0, 1], [0, 1, 4, 1], [1, 0, 1, 0]])
    state = Classes.empty(3, 2, int(bigrams.sum()))
    before = {0: 0, 1: 1, 2: 2, 3: _REST}
    step(state, neighbours(bigrams), 0, 3)
    left = information(bigrams, partition(state, 3, 3))
    assert left == pytest.approx(best(bigrams, before), rel=1e-12)
