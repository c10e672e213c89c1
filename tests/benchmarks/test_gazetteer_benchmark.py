"""The benchmark of gazetteers: what it makes, and what it measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.gazetteer import MATCHERS, made_gazetteer, made_text, made_words, measured, page


def test_each_sentence_has_a_phrase(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    words = made_words(rng, 300)
    gazetteer = made_gazetteer(rng, words, 40)
    path = tmp_path / "text"
    path.write_text(made_text(rng, words, gazetteer, 3000))
    found = {name: measured(gazetteer, path, options) for name, options in MATCHERS.items()}
    lines = path.read_text().count("\n")
    assert len(gazetteer) == 40
    assert all(row["phrases"] >= lines for row in found.values())
    assert (path.with_suffix(".col")).read_text().count("\n\n") == lines
    assert sum(line.startswith("| ") for line in page(found, 40, 3000)) == 1 + len(MATCHERS)
