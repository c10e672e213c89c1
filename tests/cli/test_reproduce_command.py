"""`tagweave reproduce`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_corpora(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGWEAVE_CORPORA", raising=False)


def test_the_sample(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("reproduce", "li-2015", "--quick", "--only", "conversion", "--seeds", 1, "--out", out)
    result = run(*words)
    page = (out / "li-2015-conversion.md").read_text("utf-8")
    assert page in result.stdout
    assert "    tagweave reproduce li-2015 --only conversion --seeds 1 --quick\n" in page
    assert "1/8  ctb-to-pd, baseline, seed 0\niteration 1/3" in result.stderr
    assert len(list((out / "cache").iterdir())) == 8
    again = run(*words, "--cache", out / "cache")
    assert again.stdout == result.stdout
    assert "iteration" not in again.stderr


def test_a_part_of_another_paper(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("reproduce", "liu-2014", "--quick", "--only", "raw-text", "--seeds", 1)
    assert {path.suffix for path in (tmp_path / "liu-2014").iterdir()} == {"", ".md", ".json", ".png"}
    assert result.stdout == (tmp_path / "liu-2014" / "liu-2014-raw-text.md").read_text("utf-8") + "\n"
    assert "1/6  raw-text, baseline, seed 0" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("li-2016", "--quick"), "tagweave: unknown paper 'li-2016', expected jiang-2015 or li-2015"),
        (("li-2015", "--quick", "--only", "table3"), "tagweave: unknown part 'table3', expected one of tagging, "),
        (("liu-2014", "--quick", "--only", "tagging"), "tagweave: unknown part 'tagging', expected one of lexicon, "),
        (("li-2015",), "tagweave: found no corpora, expected --corpora FOLDER, or --quick"),
        (("li-2015", "--corpora", "nowhere"), "tagweave: nowhere/zh/zx: found no such folder, expected train, dev and"),
    ],
)
def test_mistakes(words: tuple[str, ...], told: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("reproduce", *words, code=2)
    assert result.stderr.startswith(told)
    assert result.stderr.count("\n") == 1


def test_a_damaged_result_is_named(run: Run, tmp_path: Path) -> None:
    words = ("reproduce", "li-2015", "--quick", "--only", "conversion", "--seeds", 1, "--out", tmp_path)
    run(*words)
    file = sorted((tmp_path / "cache").iterdir())[0]
    file.write_text("{", "utf-8")
    result = run(*words, code=2)
    assert f"tagweave: {file}: found something else than the result of this run" in result.stderr
