"""The benchmark beside sklearn-crfsuite: features, scores, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.crfsuite import LIMITS, learned, listed, page, prepared, read, single

pytestmark = pytest.mark.slow

ROWS = "Otters NNS B-NP\nswim VBP B-VP\n\nThe DT B-NP\nold JJ I-NP\nheron NN I-NP\nwaits VBZ B-VP\n\n"


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")
    (tmp_path / "t.txt").write_text(ROWS, encoding="utf-8")
    data = prepared(read(tmp_path / "t.txt", None))
    assert [len(sentence) for sentence in data[0]] == [2, 4]
    assert data[0][1][2]["w-1"] == "old" and data[0][1][2]["p+1"] == "VBZ" and "w+2" not in data[0][1][2]
    assert "w-1:old" in listed(data[0][1][2]) and "digit" not in listed(data[0][1][2])
    found = learned(data, data, dict.fromkeys(LIMITS, 2))
    assert capsys.readouterr().out.count("\n") == 2 * len(LIMITS)
    lines = page(found, single(data, data), 2, 3.0)
    assert sum(line.startswith("| `") for line in lines) == 2 * len(LIMITS)
    assert {line.split(" ")[1] for line in lines[-3:] if line} == {"dicts", "lists"}
