"""Methods compared, whatever the paper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reproductions.lab.comparison import Finding, Measured, compare, judged, verdict
from tagweave.evaluation.score import f_of_counts, share_of_counts


class Rival(NamedTuple):
    """A method that has nothing but a name."""

    name: str


def shares(*seeds: list[list[int]]) -> Measured:
    return Measured(np.array(seeds), share_of_counts)


GOOD, BAD = shares([[9, 10]] * 12), shares([[5, 10]] * 12)


@given(arrays(np.int64, (2, 4, 3), elements=st.integers(1, 9)))
def test_scores_are_of_the_sums_of_a_seed(counts: np.ndarray) -> None:
    right, gold, system = counts.sum(axis=1).T
    found = Measured(counts, f_of_counts).to_json()
    np.testing.assert_allclose(found["values"], 200 * right / (gold + system))
    assert found["mean"] == pytest.approx(sum(found["values"]) / 2)
    assert found["deviation"] == pytest.approx(abs(found["values"][0] - found["values"][1]) / 2)


def test_a_difference_in_every_seed_counts_once_a_sentence() -> None:
    better, worse = (Measured(np.full((5, 4, 2), [right, 10]), share_of_counts) for right in (9, 5))
    found = compare(better, worse, 2000)
    assert found["difference"] == pytest.approx(40)
    assert found["p_all"] == pytest.approx(2 / 16, abs=0.03), "four sentences, however many seeds"
    assert compare(worse, better, 2000)["difference"] == pytest.approx(-40)


def test_findings_of_methods_that_there_are() -> None:
    found = {"a": {"test": GOOD}, "b": {"test": BAD}}
    findings = [
        Finding("a is better", Rival("a"), Rival("b"), +1, 0.5),
        Finding("b is better", Rival("b"), Rival("a"), +1),
        Finding("c is better", Rival("c"), Rival("a"), +1),
    ]
    first, second = judged(findings, found, 2000)
    assert (first["text"], first["paper"], first["here"]) == ("a is better", 0.5, "yes")
    assert (second["paper"], second["here"]) == (None, "no, the reverse")
    assert first["difference"] == pytest.approx(40)
    assert first["p_all"] < 0.01


@pytest.mark.parametrize(
    ("sign", "difference", "p", "expected"),
    [
        (+1, 0.5, 0.01, "yes"),
        (-1, -0.5, 0.01, "yes"),
        (+1, 0.5, 0.05, "the same sign, not significant"),
        (+1, -0.5, 0.5, "no, no significant difference"),
        (-1, 0.0, 1.0, "no, no significant difference"),
        (-1, 0.5, 0.01, "no, the reverse"),
        (0, 0.5, 0.2, "yes"),
        (0, 0.5, 0.04, "no"),
    ],
)
def test_verdicts(sign: int, difference: float, p: float, expected: str) -> None:
    assert verdict(sign, difference, p) == expected
