"""Weights on disk without zeros: they come back as they were, and masks that do not fit are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.encoding.arc_templates import ArcTemplates
from tagweave.encoding.relation_templates import RelationTemplates
from tagweave.models.arc_features import ArcFeatures
from tagweave.models.arc_labels import ArcLabels
from tagweave.models.nonzero import aligned_zeros, is_aligned, with_zeros, without_zeros
from tagweave.models.tree import TreeModel
from tagweave.models.tree_storage import load_parser, save_parser

SHAPES = st.tuples(st.integers(0, 9), st.integers(1, 9))


@given(SHAPES, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([np.float32, np.float64]), st.integers(0, 99))
def test_weights_come_back(shape: tuple[int, int], density: float, dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=shape) * (rng.random(shape) < density)).astype(dtype)
    arrays = without_zeros("w", weights)
    assert np.count_nonzero(arrays["w"]) == len(arrays["w"]) == np.count_nonzero(weights)
    back = with_zeros(arrays, "w", shape)
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, weights)


def test_what_is_no_number_is_no_zero() -> None:
    weights = np.array([0, np.nan, np.inf, 0])
    np.testing.assert_array_equal(with_zeros(without_zeros("w", weights), "w", (4,)), weights)


def test_the_form_on_disk() -> None:
    arrays = without_zeros("w", np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 0.0]]))
    assert arrays["w"].tolist() == [2, 3, 4]
    assert arrays["w.nonzero"].tolist() == [0b01100000, 0b10000000]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_begins_with_a_line(dtype: Any) -> None:
    for size in (1, 7, 1000):
        zeros = aligned_zeros(size, dtype)
        assert is_aligned(zeros)
        assert not is_aligned(zeros[1:]) or size == 1
        assert (zeros.tolist(), zeros.dtype) == ([0.0] * size, dtype)


@pytest.mark.parametrize(
    "change",
    [
        {"w.nonzero": np.array([0b11110000], np.uint8)},
        {"w.nonzero": np.array([0b11100000, 0], np.uint8)},
        {"w.nonzero": np.array([0b01110000], np.int8)},
        {"w": np.ones((3, 1))},
        {"w": np.ones(4)},
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any]) -> None:
    arrays = {"w": np.ones(3), "w.nonzero": np.array([0b11100000], np.uint8)}
    assert with_zeros(arrays, "w", (5,)).tolist() == [1, 1, 1, 0, 0]
    with pytest.raises(ValueError, match="weights"):
        with_zeros({**arrays, **change}, "w", (5,))


def test_no_shape_makes_room_for_more_than_a_mask_has() -> None:
    arrays = {"w": np.ones(0), "w.nonzero": np.zeros(0, np.uint8)}
    for shape in ((1 << 62, 4), (1 << 40,)):
        with pytest.raises(ValueError, match="weights"):
            with_zeros(arrays, "w", shape)


def parser() -> TreeModel:
    """A model of 2^12 rows, a tenth of which say something."""
    rng = np.random.default_rng(0)
    features = ArcFeatures(ArcTemplates(("h.upos[0] m.upos[0]",)), 1 << 12)
    weights = rng.normal(size=features.size).astype(np.float32) * (rng.random(features.size) < 0.1)
    labels = ArcLabels(RelationTemplates(("h.upos[0] m.upos[0]",)), ("a", "b"), np.zeros((1 << 10, 2), np.float32))
    labels.weights[5] = 1, -1
    return TreeModel(features, weights.astype(np.float32), labels)


def test_a_parser_takes_the_room_of_what_it_knows(tmp_path: Path) -> None:
    model = parser()
    save_parser(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 0.2 * model.weights.nbytes
    back = load_parser(tmp_path / "m")
    np.testing.assert_array_equal(back.weights, model.weights)
    assert is_aligned(back.weights)
    assert back.labels is not None
    assert model.labels is not None
    np.testing.assert_array_equal(back.labels.weights, model.labels.weights)


def test_a_guide_takes_no_more_room(tmp_path: Path) -> None:
    model = parser()
    guided = replace(model, features=ArcFeatures(model.features.templates.with_guide("b"), 1 << 12))
    save_parser(replace(guided, guide=replace(model, guideline="b")), tmp_path / "both")
    assert (tmp_path / "both").stat().st_size < 0.4 * model.weights.nbytes
    both = load_parser(tmp_path / "both")
    assert both.guide is not None
    np.testing.assert_array_equal(both.guide.weights, model.weights)
