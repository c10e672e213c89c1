"""The benchmark of raw text: what it measures on small corpora, and the table that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.progress import Progress

from benchmarks import kytea, raw_text, raw_text_training
from benchmarks.raw_text import page, table
from benchmarks.raw_text_measure import PROGRAMS, segmented, timed, write_text
from benchmarks.raw_text_training import TRAINERS
from tagweave.corpus import sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora of the shape of the benchmark's, from the sample."""
    folder = tmp_path_factory.mktemp("corpora")
    (folder / "zh" / "pd199801").mkdir(parents=True)
    lines = sample.path("pd.txt").read_text("utf-8").splitlines(keepends=True)
    for part, some in (("train", lines[:80]), ("test", lines[80:])):
        (folder / "zh" / "pd199801" / f"{part}.txt").write_text("".join(some), encoding="utf-8")
    return folder


@pytest.fixture
def _corpora(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_text_training, "corpora_folder", lambda: folder)


@pytest.mark.usefixtures("_corpora")
def test_tagweave_gives_the_same_words_by_tables_and_by_the_tagger(tmp_path: Path) -> None:
    text, model = str(tmp_path / "text"), str(tmp_path / "model")
    write_text(text, 0.03)
    TRAINERS["tagweave"](model, 60)
    found = [segmented(text, model, 1), segmented(text, model, 2), timed("tagger", text, model)]
    assert len({round(each["f"], 9) for each in found}) == 1
    assert found[0]["f"] > 0.6
    assert {each["characters"] for each in found} == {len(Path(text).read_text("utf-8"))}


@pytest.mark.usefixtures("_corpora")
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


@pytest.mark.usefixtures("_corpora")
def test_a_program_that_changes_the_text_has_no_f(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = str(tmp_path / "text")
    write_text(text, 0.001)
    monkeypatch.setitem(PROGRAMS, "rjieba", lambda _: lambda lines: (line[1:] for line in lines))
    with pytest.raises(SystemExit, match="rjieba changes the text"):
        timed("rjieba", text, "")


def test_a_program_that_is_not_installed_has_a_row_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = {"characters": 5, "seconds": 1.0, "f": 0.9, "peak_megabytes": 9}
    ran: list[str] = []
    monkeypatch.setattr(raw_text, "find_spec", lambda _: "there")
    monkeypatch.setattr(kytea, "is_installed", lambda: False)
    monkeypatch.setattr(raw_text, "measure", lambda program, *_: ran.append(program) or measured)
    monkeypatch.setattr(raw_text, "trained", lambda *_: {"training_seconds": 1.0, "training_megabytes": 2})
    rows = raw_text.run(1, None, None, Progress(disable=True))
    assert "kytea" not in ran and "vaporetto" not in ran and ran.count("tagweave") == 3
    assert [row["program"] for row in rows if "seconds" not in row] == ["KyTea"]
    assert "| KyTea | not installed |  |  |  |  |" in table(rows)


def test_the_table_has_a_row_for_every_measurement() -> None:
    row = {"program": "tagweave, 1 thread", "characters": 5_000_000, "seconds": 0.5, "f": 0.95, "peak_megabytes": 1234}
    lines = table([{**row, "training_seconds": 12.3, "training_megabytes": 1999}, {**row, "program": "rjieba"}])
    assert lines[2] == "| tagweave, 1 thread | 10.00 | 95.00 | 1,234 | 12 | 1,999 |"
    assert lines[3] == "| rjieba | 10.00 | 95.00 | 1,234 |  |  |"
    assert len(lines) == 4 and len({line.count("|") for line in lines}) == 1
    assert "The text is 50 MB" in "\n".join(page([row], 50, None))
    assert "the first 1,000 lines of its training data" in "\n".join(page([row], 50, 1000))
