"""`python -m reproductions`."""

from __future__ import annotations

from pathlib import Path

import pytest

from reproductions.__main__ import main, names
from reproductions.missing_columns import study as missing_columns
from reproductions.word_clusters import study as word_clusters
from tagweave.corpus.corpus import Corpus


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_list_has_a_line_for_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--list"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert {"li-2015", "missing-columns"} <= set(names())
    assert "lab" not in names()
    assert all(len(line.split()) > 3 for line in lines)


def test_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["li-2015", "--quick", "--only", "conversion", "--seeds", "1", "--out", str(out)]
    main(words)
    first = capsys.readouterr()
    page = (out / "li-2015-conversion.md").read_text("utf-8")
    assert page in first.out
    assert "    python -m reproductions li-2015 --only conversion --seeds 1 --quick\n" in page
    assert "1/8  ctb-to-pd, baseline, seed 0\niteration 1/3" in first.err
    assert len(list((out / "cache").iterdir())) == 8
    main([*words, "--cache", str(out / "cache")])
    again = capsys.readouterr()
    assert again.out == first.out
    assert "iteration" not in again.err
    damaged = sorted((out / "cache").iterdir())[0]
    damaged.write_text("{", "utf-8")
    with pytest.raises(SystemExit):
        main(words)
    assert f"{damaged}: found something else than the result of this run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "expected the NAME of a study; --list has all"),
        (["li-2016", "--quick"], "invalid choice: 'li-2016'"),
        (["li-2015", "--quick", "--only", "table3"], "invalid choice: 'table3'"),
        (["li-2015", "--corpora", "nowhere"], "nowhere/zh/zx: found no such folder, expected train, dev and"),
    ],
)
def test_mistakes(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert told in capsys.readouterr().err


def test_missing_columns_writes_its_page_into_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_columns, "parts", lambda name, size: (Corpus(()), Corpus(())))
    monkeypatch.setattr(
        missing_columns, "rows", lambda *_: iter([["0.5", "80.0 / 70.0", "60.0 / 50.0", "40.0 / 30.0"]])
    )
    missing_columns.main(["--treebanks", "en/ewt", "--out", str(tmp_path / "new")])
    assert "| 0.5 | 80.0 / 70.0 | 60.0 / 50.0 | 40.0 / 30.0 |" in (tmp_path / "new" / "missing-columns.md").read_text()


@pytest.mark.filterwarnings("ignore:.*lack labels")  # the sample is small
def test_three_guidelines_of_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["three-guidelines", "--quick", "--seeds", "1", "--out", str(tmp_path)]
    main(words)
    page = (tmp_path / "three-guidelines.md").read_text("utf-8")
    assert "    python -m reproductions three-guidelines --seeds 1 --quick\n" in page
    assert [line for line in page.splitlines() if line.startswith("## Tags")] == [
        f"## Tags of {name}" for name in ("ctb", "pd", "ud")
    ]
    rows = [line for line in page.splitlines() if line.startswith("| ctb, pd, ud | **")]
    assert len(rows) == 3 and len({row.split("**")[1] for row in rows}) == 3
    scores = capsys.readouterr().out
    main(words)
    assert (tmp_path / "three-guidelines.md").read_text("utf-8") == page and capsys.readouterr().out == scores


def test_word_clusters_writes_its_page_into_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"es": {"path": "es.paths", "words": 3, "tokens": 4000}}
    monkeypatch.setattr(word_clusters, "cluster_files", lambda *_: made)
    monkeypatch.setattr(word_clusters, "parts", lambda name, size: (Corpus(()), Corpus(())))
    monkeypatch.setattr(word_clusters, "score", lambda *of: 70.0 + len(of[3]) + of[5])
    word_clusters.main(["--corpora", "es/conll2002", "--seeds", "2", "--out", str(tmp_path / "new")])
    page = (tmp_path / "new" / "word-clusters.md").read_text()
    assert "es: 4,000 words, 3 different ones, of `es/conll2002`" in page
    assert "| none | 70.50 | 70.50 |" in page and "| whole, window 1 | 73.50 | 73.50 |" in page
