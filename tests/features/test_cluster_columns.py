"""Columns of word clusters: bit strings of words, their prefixes, and how models keep them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tagweave.corpus.sentence import Sentence
from tagweave.features.columns import ARRAY, FormColumns, cluster_arrays, clusters_of_arrays
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates

CLUSTERS = {"dog": "0110", "cat": "0111", "the": "1"}
FORMS = ["dog", "cat", "the", "Dog", ""]


def test_a_prefix_is_what_similar_words_share() -> None:
    columns = FormColumns(FORMS, CLUSTERS)
    expected = {
        "cluster": ["0110", "0111", "1", "", ""],
        "cluster_3": ["011", "011", "1", "", ""],
        "cluster_32": ["0110", "0111", "1", "", ""],
    }
    for name, bits in expected.items():
        assert columns.scalar(name).tolist() == FormColumns(bits).form().tolist()


def test_features_of_a_word_without_a_cluster_are_absent() -> None:
    encoder = TemplateEncoder(Templates(("cluster[0]", "cluster_2[-1] form[0]")), clusters=CLUSTERS)
    encoded = encoder.encode([Sentence(("cat", "dog", "Dog", "bird"))])
    assert np.diff(encoded.type_ptr).tolist() == [1, 1, 0, 0]
    assert (encoded.grams >= 0).sum() == 3  # at the beginning, after cat and after dog


def test_arrays_and_back() -> None:
    assert clusters_of_arrays(cluster_arrays(CLUSTERS)) == CLUSTERS
    assert cluster_arrays({}) == {} == clusters_of_arrays({})


@pytest.mark.parametrize("lines", ["01\ta", [3], ["01"], ["01\t"], ["012\ta"], ["\ta"], ["\ud800"], ["01\ta\t\tb"]])
def test_broken_arrays_are_refused(lines: Any) -> None:
    with pytest.raises(ValueError, match="found"):
        clusters_of_arrays({ARRAY: np.frombuffer(json.dumps(lines).encode(), np.uint8)})
