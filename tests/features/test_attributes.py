"""Attributes from the user: names and values of every token as features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.formats.attributes import ATTRIBUTES
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features.attributes import AttributeEncoder, expand
from tagweave.features.encoded import Encoded
from tagweave.labels.space import LabelSpace

TOKENS = st.lists(st.lists(st.lists(st.sampled_from(["a", "b", "w=c", "日本"]), max_size=4), max_size=4), max_size=4)


def features(encoded: Encoded) -> list[list[tuple[int, float]]]:
    """Number and value of the features of every token."""
    values = encoded.type_values if len(encoded.type_values) else np.ones(len(encoded.type_features))
    tokens = []
    for word_type in encoded.word_types:
        mine = slice(encoded.type_ptr[word_type], encoded.type_ptr[word_type + 1])
        tokens.append(list(zip(encoded.type_features[mine].tolist(), values[mine].tolist(), strict=True)))
    return tokens


@given(TOKENS)
def test_every_token_has_its_attributes(corpus: list[list[list[str]]]) -> None:
    encoder = AttributeEncoder()
    encoded = encoder.encode_attributes(corpus)
    tokens = [token for sentence in corpus for token in sentence]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(name for token in tokens for name in token))}
    assert features(encoded) == [[(numbers[name], 1.0) for name in token] for token in tokens]
    assert encoded.lengths.tolist() == [len(sentence) for sentence in corpus]
    assert encoder.names == list(numbers)
    assert len(encoder.index) == len(encoder.windows) == len(numbers)


@given(TOKENS, TOKENS, st.integers(1, 3))
def test_a_frozen_encoder_keeps_frequent_attributes(
    train: list[list[list[str]]], fresh: list[list[list[str]]], minimum: int
) -> None:
    encoder = AttributeEncoder()
    encoded = encoder.encode_attributes(train)
    before = features(encoded)
    names = list(encoder.names)
    encoder.freeze(encoded, minimum)
    seen = [name for sentence in train for token in sentence for name in token]
    kept = [name for name in names if seen.count(name) >= minimum]
    assert encoder.names == kept
    number = {name: kept.index(name) if name in kept else -1 for name in {*seen, "a", "b", "w=c", "日本"}}
    assert features(encoded) == [[(number[names[f]], value) for f, value in token] for token in before]
    again = AttributeEncoder.of_parts({}, LabelSpace.plain("g", ["a"]), encoder.arrays(), ())
    expected = [[(number[name], 1.0) for name in token] for sentence in fresh for token in sentence]
    assert features(encoder.encode_attributes(fresh)) == features(again.encode_attributes(fresh)) == expected
    assert again.names == encoder.names


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (["a", "b"], [("a", 1.0), ("b", 1.0)]),
        ({"a": 0.5, "b": True, "c": False}, [("a", 0.5), ("b", 1.0), ("c", 0.0)]),
        ({"pos": "NN", "a:b": "c:d"}, [("pos:NN", 1.0), ("a:b:c:d", 1.0)]),
        ({"in": {"x": 2, "y": "z"}}, [("in:x", 2.0), ("in:y:z", 1.0)]),
        ({"in": ["x", "y"]}, [("in:x", 1.0), ("in:y", 1.0)]),
        ({"a": {"b": {"c": -1}}}, [("a:b:c", -1.0)]),
        ([], []),
        ({}, []),
    ],
)
def test_dicts_are_flattened(token: Any, expected: list[tuple[str, float]]) -> None:
    names: list[str] = []
    values: list[float] = []
    expand(token, names, values)
    assert list(zip(names, values, strict=True)) == expected


def test_values_are_kept_unless_all_are_one() -> None:
    encoded = AttributeEncoder().encode_attributes([[{"a": 0.5}, {"a": 2}], [["a"]]], [1.0, 3.0])
    assert features(encoded) == [[(0, 0.5)], [(0, 2.0)], [(0, 1.0)]]
    assert encoded.evidence.weights.tolist() == [1.0, 3.0]
    assert len(AttributeEncoder().encode_attributes([[["a"]]]).type_values) == 0


def test_a_column_of_attributes_is_read() -> None:
    column = ("a:0.5\tb", "", "a\\:b:2\ta\ta")
    sentence = Sentence(("x", "y", "z"), columns={ATTRIBUTES: column}, weight=2.0)
    encoder = AttributeEncoder()
    encoded = encoder.encode([sentence])
    assert encoder.names == ["a", "b", "a:b"]
    assert features(encoded) == [[(0, 0.5), (1, 1.0)], [], [(2, 2.0), (0, 2.0)]]
    assert encoded.evidence.weights.tolist() == [2.0]


def test_a_frozen_index_finds_attributes_by_name() -> None:
    encoder = AttributeEncoder()
    encoder.freeze(encoder.encode_attributes([[["a", "b"], {"a": 2, "n:1": 1, "": 1}]]))
    encoded = encoder.encode_attributes([[["b", "", "c"], {"n": {"1": 0.5}, "a": True}]])
    assert features(encoded) == [[(1, 1.0), (-1, 1.0), (-1, 1.0)], [(2, 0.5), (0, 1.0)]]


def test_a_missing_column_and_a_bad_number_are_errors_with_a_location() -> None:
    with pytest.raises(CorpusError, match=r"f:3: found no attributes"):
        AttributeEncoder().encode([Sentence(("x",), location=Location("f", 3))])
    wrong = Sentence(("x",), columns={ATTRIBUTES: ("a:one",)}, location=Location("f", 4))
    with pytest.raises(CorpusError, match=r"f:4: found the weight 'one' of 'a:one', expected"):
        AttributeEncoder().encode([wrong])
