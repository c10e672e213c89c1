"""The walk over grams, in both directions, against a loop over every token, window position and label."""

import numpy as np
import pytest

from pairwise import pairwise
from tagweave.kernels import weight_vectors

Y = 5


def draw(seed: int, dense: bool, dtype: type) -> dict[str, np.ndarray | int]:
    """A random corpus of three families: the windows [0, 2], [-1, 0] and [1, 1]."""
    rng = np.random.default_rng(seed)
    low, high = np.array([0, -1, 1]), np.array([2, 0, 1])
    lead, trail = 1, 2
    lengths = rng.integers(0, 6, 9)
    sentence_ptr = np.concatenate([[0], np.cumsum(lengths)])
    anchors = int(sentence_ptr[-1]) + len(lengths) * (lead + trail)
    features = 12
    family = np.arange(features) % 3
    width = (high - low + 1)[family] * Y
    share = 1.0 if dense else 0.5
    cells = [np.flatnonzero((rng.random(w) < share) | (f < 3)) for f, w in enumerate(width)]  # the first three: full
    grams = np.stack(
        [np.where(rng.random(anchors) < 0.2, -1, k + 3 * rng.integers(0, 4, anchors)) for k in range(3)], 1
    )
    ptr = np.concatenate([[0], np.cumsum([len(c) for c in cells])])
    return {
        "weights": rng.normal(size=int(ptr[-1])).astype(dtype),
        "ptr": ptr.astype(np.int32),
        "cell": np.zeros(0, np.uint16) if dense else np.concatenate(cells).astype(np.uint16),
        "grams": grams.astype(np.int32),
        "low": low,
        "high": high,
        "lead": lead,
        "sentence_ptr": sentence_ptr,
    }


def pairs(p: dict, first: int, last: int) -> list[tuple[int, int, int]]:
    """(weight, token, label) of every weight that scores a token of sentences first .. last - 1."""
    ptr, extra = p["sentence_ptr"], 3
    found = []
    for s in range(first, last):
        length = ptr[s + 1] - ptr[s]
        for anchor in range(length + extra):
            for k, g in enumerate(p["grams"][ptr[s] + s * extra + anchor]):
                for q in range(p["ptr"][g], p["ptr"][g + 1]) if g >= 0 else ():
                    cell = p["cell"][q] if len(p["cell"]) else q - p["ptr"][g]
                    token = anchor - p["lead"] - p["high"][k] + cell // Y
                    if 0 <= token < length:
                        found.append((q, ptr[s] - ptr[first] + token, cell % Y))
    return found


@pytest.mark.parametrize(
    ("dtype", "dense", "span"), pairwise([np.float32, np.float64], [True, False], [(0, 9), (2, 5), (4, 4)])
)
def test_scores_and_their_transpose(span: tuple[int, int], dense: bool, dtype: type) -> None:
    for seed in range(5):
        p = draw(seed, dense, dtype)
        arguments = [p[name] for name in ("ptr", "cell", "grams", "low", "high", "lead", "sentence_ptr")]
        tokens = int(p["sentence_ptr"][span[1]] - p["sentence_ptr"][span[0]])
        scores, expected = np.ones((tokens, Y), dtype), np.ones((tokens, Y), dtype)
        difference = np.random.default_rng(seed).normal(size=(tokens, Y)).astype(dtype)
        gradient, expected_gradient = np.ones_like(p["weights"]), np.ones_like(p["weights"])
        for q, token, label in pairs(p, *span):
            expected[token, label] += p["weights"][q]
            expected_gradient[q] += difference[token, label]
        weight_vectors.over_grams(p["weights"], *arguments, *span, scores, False)
        weight_vectors.over_grams(gradient, *arguments, *span, difference, True)
        np.testing.assert_allclose(scores, expected, rtol=1e-5)
        np.testing.assert_allclose(gradient, expected_gradient, rtol=2e-5, atol=1e-6)


def test_long_windows_are_added_as_vectors() -> None:
    for length in range(1, 40):  # every remainder of the lanes
        weights = np.random.default_rng(length).normal(size=length).astype(np.float32)
        scores = np.zeros((1, length), np.float32)
        zero = np.zeros(1, np.int64)
        weight_vectors.over_grams(
            weights,
            np.array([0, length], np.int32),
            np.zeros(0, np.uint16),
            np.zeros((1, 1), np.int32),
            zero,
            zero,
            0,
            np.array([0, 1]),
            0,
            1,
            scores,
            False,
        )
        np.testing.assert_array_equal(scores[0], weights)
