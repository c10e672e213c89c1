"""`python -m reproductions`."""

from __future__ import annotations

from pathlib import Path

import pytest

from reproductions.__main__ import main, names

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_list_has_a_line_for_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--list"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert {"li-2015", "entities"} <= set(names())
    assert "lab" not in names()
    assert all(len(line.split()) > 3 for line in lines)


def test_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    words = ["li-2015", "--quick", "--only", "tagging", "--seeds", "1", "--out", str(out), "--cache", str(cache)]
    main(words)
    first = capsys.readouterr()
    page = (out / "li-2015-tagging.md").read_text("utf-8")
    assert page in first.out
    assert "    python -m reproductions li-2015 --only tagging --seeds 1 --quick\n" in page
    assert "1/9  tagging, baseline, seed 0\niteration 1/3" in first.err
    assert len(list(cache.iterdir())) == 9
    main(words)
    again = capsys.readouterr()
    assert again.out == first.out
    assert "iteration" not in again.err
    damaged = sorted(cache.iterdir())[0]
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
