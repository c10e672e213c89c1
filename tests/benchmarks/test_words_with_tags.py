"""The page of words with tags."""

from __future__ import annotations

from benchmarks.words_with_tags import METHODS, SETTINGS, Result, page


def test_the_page_has_two_lines_a_corpus() -> None:
    results = {name: Result(80 + at, 70 + at, 90 + at, 10 * (at + 1), "pipeline") for at, name in enumerate(METHODS)}
    lines = page(dict.fromkeys(SETTINGS, results), "python -m benchmarks.words_with_tags")
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| corpus")]
    assert len(rows) == 2 * len(SETTINGS)
    assert rows[0] == "| Zhuxian | 300 | dev | 80.00 | 81.00 | 82.00 (pipeline) |  |  |"
    assert rows[1] == "| Zhuxian | 300 | test | 70.00 | 71.00 | 72.00 | 90.00, 91.00 | 10, 20, 30 |"
