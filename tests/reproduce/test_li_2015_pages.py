"""The pages of the reproduction of li-2015: their numbers, the paper's beside them, and what they say of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from result_pages import Pages, check_differences, check_drawn_from_numbers, check_plots, check_tables, read_pages, rows

from tagweave.corpus.errors import CorpusError
from tagweave.reproduce import recipe
from tagweave.reproduce.li_2015.figures import draw
from tagweave.reproduce.li_2015.page import lines
from tagweave.reproduce.li_2015.recipe import reproduce
from tagweave.reproduce.li_2015.settings import PARTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of all parts, of the sample."""
    out = tmp_path_factory.mktemp("pages")
    written = list(reproduce(list(PARTS), None, 2, out / "cache", out, "tagweave reproduce", trials=200))
    assert [page.name for page in written] == [f"li-2015-{part}.md" for part in PARTS]
    return out


@pytest.fixture(scope="module")
def pages(folder: Path) -> Pages:
    """Text and numbers of every part."""
    return read_pages(folder, "li-2015", PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_tables_are_whole(part: str, pages: Pages) -> None:
    check_tables(pages[part][0], 3)


@pytest.mark.parametrize("part", PARTS)
def test_plots_are_there(part: str, pages: Pages, folder: Path) -> None:
    check_plots(pages[part][0], folder, 1)


def test_the_numbers_of_the_paper_stand_beside_ours(pages: Pages) -> None:
    text, numbers = pages["tagging"]
    table = rows(text, "Table 4")
    assert table["coupled, joint features only"][-3:] == ["179", "92.92", "92.90"]
    (setting,) = numbers["settings"]
    found = setting["methods"]["coupled, joint features only"]
    assert table["coupled, joint features only"][2] == f"**{found['accuracy']['test']['mean']:.2f}**"
    text, numbers = pages["mappings"]
    (setting,) = numbers["settings"]
    assert rows(text, "Figure 3")["coupled, complete mapping"][0] == f"{found_labels(setting):,}"
    assert rows(pages["conversion"][0], "Table 5: conversion, the 20%")["two-stage"][-1] == "93.22"
    assert "paper: test" not in pages["english"][0]


def found_labels(setting: dict[str, Any]) -> int:
    (labels,) = set(setting["methods"]["coupled, complete mapping"]["labels"])
    return int(labels)


def test_differences_are_those_of_the_means(pages: Pages) -> None:
    for _, numbers in pages.values():
        check_differences(numbers, 2, "accuracy")


def test_references_are_tested_against_one_another_only(pages: Pages) -> None:
    (setting,) = pages["tagging"][1]["settings"]
    against = {name: set(found["against"]) for name, found in setting["methods"].items()}
    assert against["baseline"] == {"two-stage"}
    assert against["two-stage"] == {"baseline"}
    assert against["coupled"] == {"baseline", "two-stage"}
    (setting,) = pages["weighting"][1]["settings"]
    assert set(setting["methods"]["coupled"]["against"]) == {"baseline"}


def test_findings(pages: Pages) -> None:
    text, numbers = pages["tagging"]
    findings = {found["text"]: found for found in numbers["settings"][0]["findings"]}
    assert len(findings) == 7
    joint = findings["Joint features alone are worse than the baseline (Table 4)."]
    assert (joint["paper"], joint["measure"]) == (-1.2, "test")
    assert rows(text, "What the paper finds")[joint["text"]][0] == "-1.20"
    assert {found["measure"] for found in pages["conversion"][1]["settings"][0]["findings"]} == {"hard"}


def test_sizes_and_samples_are_told(pages: Pages) -> None:
    text = pages["tagging"][0]
    assert "- Target: train 80 sentences, 1,151 words; dev 20 sentences" in text
    assert "N' = 80 sentences of the target and M' = 60 of the source" in text
    assert "N' =" not in pages["conversion"][0]
    assert "test" not in next(line for line in text.splitlines() if line.startswith("- Source"))


def test_a_page_is_drawn_from_its_numbers_alone(pages: Pages, tmp_path: Path) -> None:
    for page in pages.values():
        check_drawn_from_numbers(page, lines, draw, tmp_path)


def test_a_second_run_trains_nothing_and_keeps_the_discussion(folder: Path, pages: Pages, monkeypatch: Any) -> None:
    page = folder / "li-2015-english.md"
    page.write_text(pages["english"][0] + "\n## Discussion\n\nMine.\n", "utf-8")
    monkeypatch.setattr("tagweave.reproduce.li_2015.cells.Cell.run", lambda _: pytest.fail("trained again"))
    list(reproduce(["english"], None, 2, folder / "cache", folder, "tagweave reproduce", trials=200))
    assert page.read_text("utf-8") == pages["english"][0] + "\n## Discussion\n\nMine.\n"


def test_without_matplotlib_there_are_no_plots(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    said: list[str] = []
    monkeypatch.setattr(recipe, "find_spec", lambda _: None)
    out = tmp_path / "out"
    list(reproduce(["conversion"], None, 2, folder / "cache", out, "x", say=said.append, trials=20))
    assert sorted(path.suffix for path in out.iterdir()) == [".json", ".md"]
    assert "## Plots" not in (out / "li-2015-conversion.md").read_text("utf-8")
    assert any("Matplotlib is not installed" in line for line in said)


def test_a_missing_corpus_is_told_before_any_training(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tagweave.reproduce.li_2015.cells.Cell.run", lambda _: pytest.fail("trained"))
    with pytest.raises(CorpusError, match="no such folder"):
        list(reproduce(["tagging"], tmp_path, 1, tmp_path / "cache", tmp_path / "out", "x"))
