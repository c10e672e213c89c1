"""Accuracy against plain counting, the policy for positions without one label."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import Confusion, accuracy
from tagweave.evaluation.score import Score, Share

LABELS = ("A", "B", "C")
candidates = st.one_of(
    st.none(), st.permutations(LABELS).flatmap(lambda p: st.integers(1, 3).map(lambda n: tuple(p[:n])))
)
position = st.tuples(st.sampled_from("uvwxy"), candidates, candidates)
sentences = st.lists(st.lists(position, max_size=6), max_size=5)


def corpus(rows, which):
    """The sentences of `rows` (form, gold, system) with the gold (1) or the system (2) column as their layer."""
    columns = [([row[0] for row in sentence], [row[which] for row in sentence]) for sentence in rows]
    return Corpus(tuple(Sentence(tuple(forms), {"tag": tuple(layer)}) for forms, layer in columns))


def one(gold, system):
    """The accuracy of a single token."""
    rows = [[("w", gold, system)]]
    return accuracy(corpus(rows, 1), corpus(rows, 2))


def counts_of(result):
    return result.tokens.right, result.tokens.total, result.unscored, result.ambiguous, result.undecided


WILDCARDS = [
    # gold, system, (right, scored, unscored, ambiguous, undecided)
    (("B-*",), ("B-X",), (1, 1, 0, 1, 0)),
    (("B-*",), ("B",), (0, 1, 0, 1, 0)),
    (("B-*",), ("I-X",), (0, 1, 0, 1, 0)),
    (("B-*", "O"), ("O",), (1, 1, 0, 1, 0)),
    (("!O",), ("B-X",), (1, 1, 0, 1, 0)),
    (("!O",), ("O",), (0, 1, 0, 1, 0)),
    (("B-*",), ("B-*",), (0, 1, 0, 1, 1)),
    (("B-X",), ("B-*",), (0, 1, 0, 0, 1)),
    (("B-X",), ("!O",), (0, 1, 0, 0, 1)),
]


@pytest.mark.parametrize(("gold", "system", "counts"), WILDCARDS)
def test_wildcards_stand_for_several_labels(gold, system, counts):
    assert counts_of(one(gold, system)) == counts


@pytest.mark.parametrize("gold", ["B-*", "!O"])
def test_a_wildcard_is_no_label_of_the_table(gold):
    result = one((gold,), ("B-X",))
    assert (result.labels, result.confusions) == ({}, ())
    assert one(("B-X",), (gold,)).confusions == (Confusion("B-X", None, 1),)


def naive(rows):
    """The same figures by plain counting."""
    flat = [row for sentence in rows for row in sentence]
    scored = [(gold, system) for _, gold, system in flat if gold is not None]
    right = [pair for pair in scored if pair[1] is not None and len(pair[1]) == 1 and pair[1][0] in pair[0]]
    single = [(gold[0], system) for gold, system in scored if len(gold) == 1]
    chosen = [(gold, system[0] if system and len(system) == 1 else None) for gold, system in single]
    labels = {}
    for label in LABELS:
        counts = Score(
            sum(gold == system == label for gold, system in chosen),
            sum(gold == label for gold, _ in chosen),
            sum(system == label for _, system in chosen),
        )
        if counts.gold or counts.system:
            labels[label] = counts
    confusions = Counter(pair for pair in chosen if pair[0] != pair[1])
    ambiguous, undecided = len(scored) - len(single), sum(not system or len(system) > 1 for _, system in scored)
    return (len(right), len(scored), len(flat) - len(scored), ambiguous, undecided), labels, confusions


@given(sentences)
def test_equals_plain_counting(rows):
    result = accuracy(corpus(rows, 1), corpus(rows, 2))
    counts, labels, confusions = naive(rows)
    assert counts_of(result) == counts
    assert list(result.labels.items()) == sorted(labels.items())
    assert [(item.gold, item.system, item.count) for item in result.confusions] == sorted(
        ((*pair, count) for pair, count in confusions.items()), key=lambda item: (-item[2], item[0], item[1] or "")
    )
    assert result.counts.shape == (len(rows), 2)
    assert result.counts.tolist() == [list(naive([row])[0][:2]) for row in rows]


@given(sentences, st.sets(st.sampled_from("uvwxy")))
def test_training_words_split_the_scored_tokens(rows, known):
    result = accuracy(corpus(rows, 1), corpus(rows, 2), frozenset(known))
    assert result.oov is not None
    assert result.iv is not None
    unseen = [[row for row in sentence if row[0] not in known] for sentence in rows]
    assert result.oov == Share(*naive(unseen)[0][:2])
    assert result.oov.right + result.iv.right == result.tokens.right
    assert result.oov.total + result.iv.total == result.tokens.total


def test_a_sentence_without_the_layer_is_unknown():
    gold = Corpus((Sentence(("a",), {"tag": (("A",),)}), Sentence(("b", "c"))))
    system = Corpus((Sentence(("a",), {"tag": (("A",),)}), Sentence(("b", "c"), {"tag": (("A",), ("A",))})))
    assert accuracy(gold, system).unscored == 2
    assert accuracy(system, gold).undecided == 2


def test_each_corpus_is_read_by_its_own_guideline():
    gold = Corpus((Sentence(("a",), {"ctb": (("A",),), "pd": (("B",),)}),), guideline="ctb")
    system = Corpus((Sentence(("a",), {"tag": (("A",),)}),))
    assert accuracy(gold, system).tokens == Share(1, 1)


def test_a_corpus_without_the_layer_is_an_error_that_lists_its_layers():
    gold = Corpus((Sentence(("a",), {"tag": (("A",),)}),), path="gold.txt")
    other = Corpus((Sentence(("a",), {"pd": (("A",),), "ctb": (None,)}),), path="system.txt")
    with pytest.raises(CorpusError, match=r"system.txt: found the layers ctb, pd, expected a layer 'tag' to evaluate"):
        accuracy(gold, other)
