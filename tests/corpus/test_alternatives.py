"""Candidates in one field, with numbers and without."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.candidates import Soft, format_candidates, parse_candidates
from tagweave.errors import CorpusError

LABELS = st.lists(st.text("ab|\\:.05/", min_size=1, max_size=7), min_size=1, max_size=3, unique=True).map(tuple)
NUMBERS = st.lists(st.integers(1, 1000).map(lambda n: n / 1000), min_size=3, max_size=3)


@given(LABELS, st.sampled_from(["", "/"]))
def test_candidates_come_back(labels: tuple[str, ...], special: str) -> None:
    assert parse_candidates(format_candidates(labels, special), special) == labels


@given(LABELS, NUMBERS, st.sampled_from(["", "/"]))
def test_numbers_come_back(labels: tuple[str, ...], numbers: list[float], special: str) -> None:
    soft = Soft(labels, numbers[: len(labels)])
    assert parse_candidates(format_candidates(soft, special), special) == soft


def test_numbers_have_a_point() -> None:
    assert parse_candidates("10:30") == ("10:30",)
    assert parse_candidates("A:1.0|B:.5") == Soft("AB", (1, 0.5))
    assert format_candidates(("10:0.5",)) == "10\\:0.5"


def test_all_candidates_have_a_number_or_none_has() -> None:
    with pytest.raises(CorpusError, match=r"expected a number for each: A:0.7\|B:0.3"):
        parse_candidates("A:0.7|B")


@pytest.mark.parametrize("numbers", [(0.5,), (-0.1, 1), (float("nan"), 1), (0, 0), (float("inf"), 1)])
def test_numbers_of_candidates(numbers: tuple[float, ...]) -> None:
    with pytest.raises(CorpusError, match="number"):
        Soft("AB", numbers)


def test_soft_candidates_are_no_set() -> None:
    soft = Soft("AB", (0.7, 0.3))
    assert soft != ("A", "B") and soft != ("A", "B")
    assert len({soft, ("A", "B"), Soft("AB", (0.7, 0.3)), Soft("AB", (0.6, 0.4))}) == 3
    assert pickle.loads(pickle.dumps(soft)) == soft  # noqa: S301 - its own
    assert tuple(soft) == ("A", "B")


def test_other_spellings_share_a_number() -> None:
    soft = Soft(("B-X", "O"), (0.7, 0.3))
    assert soft.spelled(("B-X", "S-X", "O"), ("B-X", "B-X", "O")) == Soft(("B-X", "S-X", "O"), (0.7, 0.3), (0, 0, 1))
    assert soft.spelled(("O",), ("O",)) == Soft(("O",), (0.3,))
