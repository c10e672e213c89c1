"""Answers of sources as arrays."""

import numpy as np
import pytest

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.sources.answers import Answers

SENTENCES = (
    Sentence(("Ann", "Lee"), {"a": (("B-PER",), ("I-PER",)), "b": (None, ("B-PER", "O"))}),
    Sentence(("sees",), {"b": (("O",),)}),
)


def test_answers_are_sorted_rows_and_spans_have_all_labels_of_their_types():
    answers = Answers.of_sentences(SENTENCES, ("b", "a"))
    assert answers.labels == ("B-PER", "I-PER", "O")
    assert answers.sentence_ptr.tolist() == [0, 2, 3]
    rows = zip(answers.position, answers.source, answers.label, answers.share, strict=True)
    assert [tuple(map(float, row)) for row in rows] == [
        (0, 1, 0, 1),
        (1, 0, 0, 0.5),
        (1, 0, 2, 0.5),
        (1, 1, 1, 1),
        (2, 0, 2, 1),
    ]
    assert answers.votes().tolist() == [[1, 0, 0], [0.5, 1, 0.5], [0, 0, 1]]
    assert answers.counts().tolist() == [2, 2]
    assert not answers.scheme.start[1]


def test_a_wildcard_is_the_set_of_the_labels_that_it_stands_for():
    answers = Answers.of_sentences(
        [Sentence(("a",), {"x": (("!N",),), "y": (("N", "V"),), "z": (("A",),)})], ("x", "y", "z")
    )
    assert answers.votes().tolist() == [[1.5, 0.5, 1.0]]
    assert answers.scheme.is_free


def test_answers_of_some_sources_keep_all_positions():
    answers = Answers.of_sentences(SENTENCES, ("a", "b")).of_sources([1])
    assert answers.sources == ("b",)
    assert answers.position.tolist() == [1, 1, 2]
    assert answers.positions == 3
    assert np.array_equal(answers.source, [0, 0, 0])


def test_layers_without_any_label_are_refused():
    with pytest.raises(ValueError, match="no label in the layers c"):
        Answers.of_sentences(SENTENCES, ("c",))


def test_rejected_spans_of_a_source_are_refused():
    sentence = Sentence(("a",), {"ann": (("B-X",),), "bob": (None,)}).rejecting("bob", [Span(0, 1, "X")])
    with pytest.raises(CorpusError, match="found rejected spans of the source bob"):
        Answers.of_sentences([sentence], ("ann", "bob"))
    assert len(Answers.of_sentences([sentence], ("ann",)))


def test_rows_out_of_range_are_refused():
    one = np.array([1], np.int32)
    with pytest.raises(ValueError, match="the source 1 or 1, expected 0 to 0"):
        Answers.of_rows(("N", "V"), ("a",), np.array([0, 2]), one, one, one)
