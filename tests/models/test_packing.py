"""Arrays on disk: what is packed comes back, rounded weights take a byte, and what does not fit is refused."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagweave.features.arc_templates import ArcTemplates, RelationTemplates
from tagweave.models import packing
from tagweave.models.arc_scorer import ArcFeatures, ArcLabels
from tagweave.models.packing import aligned_zeros, is_aligned, pack, rounded, unpack, zstd
from tagweave.models.storage import load_model, save_model
from tagweave.models.tree import TreeModel

TYPES = (np.bool_, np.uint8, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64)


def written(arrays: dict[str, Any]) -> int:
    return sum(each.nbytes for each in pack(arrays)[1].values())


@given(st.sampled_from(TYPES), st.lists(st.integers(0, 5), max_size=3), st.sampled_from(["a", "b.ptr"]), st.integers())
def test_arrays_come_back(dtype: Any, shape: list[int], name: str, seed: int) -> None:
    content = np.random.default_rng(abs(seed)).bytes(8 * int(np.prod(shape)))
    array = np.frombuffer(content, np.uint64).astype(dtype).reshape(shape)
    back = unpack(*pack({name: array}))[name]
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(back, array)


@given(
    st.lists(st.floats(width=32), max_size=30),
    st.floats(-30, 30),
    st.booleans(),
)
@example([2.0**115, 3 * 2.0**125], 0.0, False)
@example([1.5 * 2.0**127], 0.0, False)
def test_weights_come_back_whatever_they_are(values: list[float], exponent: float, are_rounded: bool) -> None:
    with np.errstate(all="ignore"):
        weights = np.array(values, np.float32) * np.float32(2.0**exponent)
        weights = rounded(weights) if are_rounded else weights
    back = unpack(*pack({"weights": weights}))["weights"]
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back, weights)


@given(st.integers(0, 99), st.floats(-20, 20))
def test_rounded_weights_are_near_and_stay(seed: int, exponent: float) -> None:
    weights = (np.random.default_rng(seed).normal(size=50) * 2.0**exponent).astype(np.float32)
    near = rounded(weights)
    assert np.abs(near - weights).max() <= np.abs(weights).mean() / 40
    forms, packed = pack({"weights": near})
    assert len(packed["weights"]) < 2 * len(weights)
    again, same = pack(unpack(forms, packed))
    assert again == forms
    np.testing.assert_array_equal(same["weights"], packed["weights"])


@given(st.integers(0, 99), st.floats(-140, 120), st.integers(0, 40))
def test_rounding_is_exact_in_every_range(seed: int, exponent: float, spread: int) -> None:
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=50) * 2.0 ** (exponent - rng.integers(0, spread + 1, 50))).astype(np.float32)
    near = rounded(weights).astype(np.float64)
    nonzero = near[near != 0]
    if len(nonzero):
        mean = np.abs(weights.astype(np.float64))[weights != 0].mean()
        exponents = round(math.log2(mean)) - 5, math.frexp(float(np.abs(weights).max()))[1] - 14
        step = 2.0 ** max(exponents)
        np.testing.assert_array_equal(near, np.rint(weights.astype(np.float64) / step) * step)


def test_weights_of_any_spread_can_be_rounded() -> None:
    weights = np.array([1e6, *[1e-4] * 9999], np.float32)
    near = rounded(weights)
    assert near[0] == pytest.approx(1e6)
    assert "step" in pack({"weights": near})[0]["weights"]
    for kept in (weights.astype(np.float64), np.array([1, np.nan], np.float32), np.zeros(3, np.float32)):
        np.testing.assert_array_equal(rounded(kept), kept)


def test_zeros_and_constant_differences_take_no_space() -> None:
    assert written({"weights": np.zeros(10**6, np.float32), "more": np.zeros((10, 10**5))}) == 0
    assert written({"layout.0.ptr": np.arange(0, 4 * 10**6, 4, dtype=np.int32)}) < 5000
    weights = rounded(np.random.default_rng(0).normal(size=10**5).astype(np.float32))
    assert written({"weights": weights}) < weights.nbytes / 4


def test_weights_start_at_a_cache_line() -> None:
    for size in (1, 7, 1000):
        zeros = aligned_zeros(size, np.float32)
        assert is_aligned(zeros)
        assert not is_aligned(zeros[1:]) or size == 1
    for weights in (np.ones(99, np.float32), np.random.default_rng(0).normal(size=99)):
        assert is_aligned(unpack(*pack({"weights": weights}))["weights"])


WEIGHTS = np.array([0, 0.5, -1, 200], np.float32)
FORMS, PACKED = pack({"weights": WEIGHTS, "ptr": np.arange(300, dtype=np.int32)})


def test_the_form_on_disk() -> None:
    assert FORMS["weights"] == {"dtype": "<f4", "shape": [4], "step": -1, "lengths": [4, 1, 1]}
    assert PACKED["weights"].view(np.int8).tolist() == [0, 1, -2, -128, 400 % 256 - 256, 1]


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("weights", "dtype", "O"),
        ("weights", "dtype", ">f4"),
        ("weights", "dtype", "<f8"),
        ("weights", "dtype", None),
        ("weights", "shape", [5]),
        ("weights", "shape", [3]),
        ("weights", "shape", [-4]),
        ("weights", "shape", [2.0, 2]),
        ("weights", "shape", 4),
        ("weights", "shape", [0, 10**30]),
        ("weights", "step", 200),
        ("weights", "step", 0.5),
        ("weights", "step", True),
        ("weights", "lengths", [4, 1]),
        ("weights", "lengths", [4, 1, 1, 0]),
        ("weights", "lengths", [4, 3, -1]),
        ("weights", "lengths", None),
        ("ptr", "shape", [299]),
        ("ptr", "dtype", "|b1"),
        ("ptr", "lengths", [1, 2]),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(name: str, key: str, value: Any) -> None:
    forms = copy.deepcopy(FORMS)
    forms[name][key] = value
    with pytest.raises((ValueError, TypeError, OverflowError)):
        unpack(forms, PACKED)


@pytest.mark.parametrize("change", [{"weights": None}, {"more": np.zeros(1, np.uint8)}, {"ptr": PACKED["ptr"][:-1]}])
def test_other_bytes_are_refused(change: dict[str, Any]) -> None:
    packed = {name: each for name, each in (PACKED | change).items() if each is not None}
    with pytest.raises(ValueError, match=r"arrays|bytes"):
        unpack(FORMS, packed)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_arrays_other_than_bytes_are_refused(dtype: Any) -> None:
    with pytest.raises(ValueError, match="bytes"):
        unpack(FORMS, PACKED | {"weights": PACKED["weights"].astype(dtype)})


def test_the_bytes_of_arrays_are_known_before_they_are_unpacked() -> None:
    forms, _ = pack({"weights": np.zeros(4, np.float32), "b": np.zeros((2, 3), np.bool_)})
    assert packing.unpacked_bytes(forms) == 16 + 6
    forms["weights"] |= {"shape": [1 << 60, 1 << 60]}
    assert packing.unpacked_bytes(forms) == (4 << 120) + 6


def test_every_piece_has_the_stated_size() -> None:
    piece = pack({"a": np.zeros((1, 300), np.uint8) + np.uint8(1)})
    piece[0]["a"]["shape"] = [200]
    with pytest.raises(ValueError, match="other than 200 bytes"):
        unpack(*piece)


def frame(content: bytes, **how: Any) -> bytes:
    return zstd.compress(content, options=how.get("options"))


def unpacked_bytes(piece: bytes, size: int = 300) -> Any:
    """What an array of bytes of one piece becomes."""
    form = {"dtype": "|u1", "shape": [size], "lengths": [len(piece)]}
    return unpack({"a": form}, {"a": np.frombuffer(piece, np.uint8)})["a"]


def test_a_piece_is_one_frame_that_states_its_size() -> None:
    content = bytes(range(10)) * 30
    whole = frame(content)
    assert unpacked_bytes(whole).tobytes() == content
    skippable = b"\x50\x2a\x4d\x18" + (8).to_bytes(4, "little") + bytes(8)
    bad = {
        "nothing of the kind": b"none",
        "cut short": whole[:-1],
        "less than a header": whole[:5],
        "with more behind it": whole + b"\0",
        "two frames": frame(content[:200]) + frame(content[200:]),
        "a second one of nothing": whole + frame(b""),
        "skipped": skippable,
        "behind what is skipped": skippable + whole,
        "of a size that is not told": frame(content, options={zstd.CompressionParameter.content_size_flag: 0}),
        "a byte less": frame(content[:-1]),
        "much more": frame(bytes(1 << 24)),
        "telling less than it has": whole[:5] + (300 - 256 - 1).to_bytes(2, "little") + whole[7:],
    }
    for what, piece in bad.items():
        assert len(piece) != 300, what
        with pytest.raises(ValueError, match=r"\S"):
            unpacked_bytes(piece)
    with pytest.raises(ValueError, match="other than 299 bytes"):
        unpacked_bytes(whole, 299)


def test_the_same_arrays_become_the_same_bytes() -> None:
    weights = rounded(np.random.default_rng(0).normal(size=10**6).astype(np.float32))
    (forms, one), (same, other) = pack({"a": weights}), pack({"a": weights.copy()})
    assert forms == same
    np.testing.assert_array_equal(one["a"], other["a"])


def parser() -> TreeModel:
    """A model of 2^12 rows, a tenth of which say something."""
    rng = np.random.default_rng(0)
    features = ArcFeatures(ArcTemplates(("h.upos[0] m.upos[0]",)), 1 << 12)
    weights = rng.normal(size=features.size).astype(np.float32) * (rng.random(features.size) < 0.1)
    labels = ArcLabels(RelationTemplates(("h.upos[0] m.upos[0]",)), ("a", "b"), np.zeros((1 << 10, 2), np.float32))
    labels.weights[5] = 1, -1
    return TreeModel(features, rounded(weights.astype(np.float32)), labels)


def test_the_size_of_a_parser_depends_on_its_nonzero_weights(tmp_path: Path) -> None:
    model = parser()
    save_model(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 0.07 * model.weights.nbytes
    back = load_model(tmp_path / "m")
    np.testing.assert_array_equal(back.weights, model.weights)
    assert is_aligned(back.weights)
    assert back.labels is not None
    assert model.labels is not None
    np.testing.assert_array_equal(back.labels.weights, model.labels.weights)
