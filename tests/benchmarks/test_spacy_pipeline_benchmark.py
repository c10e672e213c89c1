"""The benchmark of pipelines of spaCy: its page, and what it measures."""

from __future__ import annotations

from benchmarks.spacy_pipeline import Row, page, seconds


def test_a_row_says_its_unit() -> None:
    lines = page([Row("a", 1234.5), Row("b", 7.0, "characters")])
    assert lines[-3:-1] == ["| a | 1,234 words |", "| b | 7 characters |"]


def test_the_first_run_does_not_count() -> None:
    runs: list[int] = []
    assert 0 <= seconds(lambda: runs.append(1), 3) < 1
    assert len(runs) == 4
