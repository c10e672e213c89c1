"""The benchmark of raw text: what it measures on small corpora, and the table that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import kytea, raw_text
from benchmarks.raw_text import TRAINERS, segmented, timed, write_text
from tagweave.corpus import sample

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Corpora of the shape of the benchmark's, from the sample."""
    (tmp_path / "zh" / "pd199801").mkdir(parents=True)
    lines = sample.path("pd.txt").read_text("utf-8").splitlines(keepends=True)
    for part, some in (("train", lines[:80]), ("test", lines[80:])):
        (tmp_path / "zh" / "pd199801" / f"{part}.txt").write_text("".join(some), encoding="utf-8")
    monkeypatch.setattr(raw_text, "corpora_folder", lambda: tmp_path)


def test_tagweave_gives_the_same_words_by_tables_and_by_the_tagger(tmp_path: Path) -> None:
    text, model = str(tmp_path / "text"), str(tmp_path / "model")
    write_text(text, 0.03)
    TRAINERS["tagweave"](model, 60)
    found = [segmented(text, model, 1), segmented(text, model, 2), timed("tagger", text, model)]
    assert len({round(each["f"], 9) for each in found}) == 1
    assert found[0]["f"] > 0.6
    assert {each["characters"] for each in found} == {len(Path(text).read_text("utf-8"))}


@pytest.mark.parametrize("program", ["python-crfsuite", "kytea"])
def test_what_the_others_learn_from_the_same_lines_is_of_use(program: str, tmp_path: Path) -> None:
    if program == "kytea" and not kytea.is_installed():
        pytest.skip("the package kytea is not installed")
    text, model = str(tmp_path / "text"), str(tmp_path / "model.kytea")
    write_text(text, 0.03)
    TRAINERS[program](model, 10)
    few = timed(program, text, model)["f"]
    TRAINERS[program](model, 80)
    found = timed(program, text, model)
    assert 0.6 < found["f"] < 1 and few < found["f"]
    if program == "kytea":
        assert timed("vaporetto", text, model)["f"] == pytest.approx(found["f"], abs=0.02)
