"""The benchmark of raw text: what it measures on small corpora, and the table that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import raw_text_measure
from benchmarks.raw_text import page, table
from benchmarks.raw_text_measure import f_score, segmented, timed, train, words, write_text

from tagweave.corpus import sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora of the shape of the benchmark's, from the sample."""
    folder = tmp_path_factory.mktemp("corpora")
    (folder / "zh" / "pd199801").mkdir(parents=True)
    lines = sample.path("pd.txt").read_text("utf-8").splitlines(keepends=True)
    slashes = [" ".join("/".join(token.rsplit("_", 1)) for token in line.split()) + "\n" for line in lines]
    for part, some in (("train", slashes[:80]), ("test", slashes[80:])):
        (folder / "zh" / "pd199801" / f"{part}.txt").write_text("".join(some), encoding="utf-8")
    return folder


@pytest.fixture
def _corpora(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_text_measure, "corpora_folder", lambda: folder)


@pytest.mark.usefixtures("_corpora")
def test_measurements(tmp_path: Path) -> None:
    text, model = str(tmp_path / "text"), str(tmp_path / "model")
    write_text(text, 0.03)
    whole = Path(text).read_text("utf-8")
    assert 30_000 <= len(whole.encode()) < 31_000
    assert set(whole.splitlines()) == {"".join(line) for line in words("train")}
    train(model, 60)
    found = [segmented(text, model, 1), segmented(text, model, 2), timed("tagger", text, model)]
    assert len({round(each["f"], 9) for each in found}) == 1
    assert found[0]["f"] > 0.6
    assert {each["characters"] for each in found} == {len(whole)}


def test_f_is_of_words() -> None:
    assert f_score([["ab", "c"]], [["ab", "c"]]) == 1
    assert f_score([["ab", "c", "d"]], [["a", "b", "c", "d"]]) == pytest.approx(2 * 2 / 7)


def test_the_table_has_a_row_for_every_measurement() -> None:
    row = {"program": "tagweave, 1 thread", "characters": 5_000_000, "seconds": 0.5, "f": 0.95, "peak_megabytes": 1234}
    lines = table([row, {**row, "program": "rjieba"}])
    assert lines[2] == "| tagweave, 1 thread | 10.00 | 95.00 | 1,234 |"
    assert len(lines) == 4 and len({line.count("|") for line in lines}) == 1
    assert "The text is 50 MB" in "\n".join(page([row], 50))
