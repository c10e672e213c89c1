"""The pages of the reproduction of liu-2014: their numbers, the paper's beside them, and what they say of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from result_pages import (
    Pages,
    check_differences,
    check_drawn_from_numbers,
    check_plots,
    check_tables,
    read_pages,
    rows,
    section,
)

from tagweave.reproduce.liu_2014.figures import draw
from tagweave.reproduce.liu_2014.methods import BASELINE, COLUMNS, COMBINED, LEXICON, PHRASES, SELECTED
from tagweave.reproduce.liu_2014.page import lines
from tagweave.reproduce.liu_2014.recipe import reproduce
from tagweave.reproduce.liu_2014.settings import PARTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of all parts, of the sample."""
    out = tmp_path_factory.mktemp("pages")
    written = list(reproduce(list(PARTS), None, 2, out / "cache", out, "tagweave reproduce", trials=200))
    assert [page.name for page in written] == [f"liu-2014-{part}.md" for part in PARTS]
    return out


@pytest.fixture(scope="module")
def pages(folder: Path) -> Pages:
    """Text and numbers of every part."""
    return read_pages(folder, "liu-2014", PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_tables_are_whole(part: str, pages: Pages) -> None:
    check_tables(pages[part][0], 4)


@pytest.mark.parametrize(("part", "count"), [("lexicon", 1), ("raw-text", 2), ("natural", 4)])
def test_plots_are_there(part: str, count: int, pages: Pages, folder: Path) -> None:
    check_plots(pages[part][0], folder, count)


def test_the_numbers_of_the_paper_stand_beside_ours(pages: Pages) -> None:
    text, numbers = pages["lexicon"]
    (setting,) = numbers["settings"]
    table = rows(text, "Table 4")
    assert list(table) == [BASELINE.name, COLUMNS.name, LEXICON.name, PHRASES.name]
    assert table[LEXICON.name][-6:-4] == ["90.63", "84.88"]
    scores = setting["methods"][LEXICON.name]["scores"]
    found = [f"**{scores[name]['mean']:.2f}**" for name in ("dev", "dev OOV", "test", "test OOV")]
    assert [cell.split(" ")[0] for cell in table[LEXICON.name][2:6]] == found
    table = rows(section(pages["natural"][0], "Wikipedia"), "Tables 5 and 6")
    assert table[SELECTED.name][-5:] == ["95.00", "88.28", "93.93", "87.53", "93.61"]
    assert rows(pages["natural"][0], "Table 7")[SELECTED.name][-2:] == ["92.47", "93.93"]
    assert "paper:" not in rows(pages["raw-text"][0], "Figure 3")


def test_numbers_of_sentences_and_spans(pages: Pages) -> None:
    text, numbers = pages["natural"]
    settings = {setting["name"]: setting for setting in numbers["settings"]}
    methods = settings["udc"]["methods"]
    assert methods["baseline"]["sentences"] == [0, 0]
    assert methods["+ PA (all)"]["sentences"] == [settings["udc"]["natural"][0]] * 2
    assert methods["+ PA (all)"]["marked"] == [settings["udc"]["natural"][1]] * 2
    assert methods["+ PA (random)"]["sentences"] == methods["+ PA (selected)"]["sentences"]
    assert methods["+ PA (selected)"]["marked"][0] < methods["+ PA (all)"]["marked"][0]
    row = rows(section(text, "Wikipedia"), "Tables 5 and 6")["+ PA (all)"]
    assert row[:2] == [str(number) for number in settings["udc"]["natural"]]
    both = settings["zx"]["methods"]
    parts = [both[name]["sentences"][0] for name in (PHRASES.name, SELECTED.name, COMBINED.name)]
    assert parts[0] + parts[1] == parts[2]


def test_pages_have_no_development_data(pages: Pages) -> None:
    text, numbers = pages["natural"]
    (own,) = (setting for setting in numbers["settings"] if setting["name"] == "pages")
    assert own["sizes"].keys() == {"train", "test"}
    assert all(found["scores"].keys() == {"test", "test OOV"} for found in own["methods"].values())
    assert "dev F |" not in section(text, "Sentences of the pages").replace("paper: computer dev F", "")


def test_parts_share_trainings(folder: Path) -> None:
    names = [path.name.rpartition("-")[0] for path in (folder / "cache").iterdir()]
    assert names.count("the-sample-corpus-baseline-0") == 1
    assert names.count("the-sample-corpus-pa-lexicon-0") == 1


def test_differences_are_those_of_the_means(pages: Pages) -> None:
    for _, numbers in pages.values():
        check_differences(numbers, 2)


def test_partial_annotation_is_tested_against_baseline_and_features(pages: Pages) -> None:
    text, numbers = pages["lexicon"]
    against = {name: list(found["against"]) for name, found in numbers["settings"][0]["methods"].items()}
    assert against["baseline"] == []
    assert against[COLUMNS.name] == ["baseline"]
    assert against[LEXICON.name] == ["baseline", COLUMNS.name]
    test = numbers["settings"][0]["methods"][LEXICON.name]["against"][COLUMNS.name]["test OOV"]
    row = f"| {LEXICON.name} | {COLUMNS.name} |"
    (line,) = (line for line in text.splitlines() if line.startswith(row))
    assert line.endswith(
        f"| {test['difference']:+.2f} | {test['p_all']:.4f} ({test['p'][0]:.4f}, {test['p'][1]:.4f}) |"
    )


def test_findings(pages: Pages) -> None:
    text, numbers = pages["lexicon"]
    findings = {found["text"]: found for found in numbers["settings"][0]["findings"]}
    assert len(findings) == 7
    unknown = findings["It finds more unknown words (Table 4)."]
    assert (unknown["paper"], unknown["measure"]) == (11.23, "test OOV")
    assert f"| {unknown['text']} | +11.23 | test OOV | {unknown['difference']:+.2f} |" in text
    counts = [len(setting["findings"]) for setting in pages["natural"][1]["settings"]]
    assert counts == [5, 5, 5]


def test_the_recipe_is_told(pages: Pages) -> None:
    for text, _ in pages.values():
        assert (
            "- Every training: adagrad (rate 0.05, batch 16, initial 1e-08), 2 iterations; the last one is kept."
            in text
        )


def test_a_page_is_drawn_from_its_numbers_alone(pages: Pages, tmp_path: Path) -> None:
    for page in pages.values():
        check_drawn_from_numbers(page, lines, draw, tmp_path)


def test_a_second_run_trains_nothing_and_keeps_the_discussion(folder: Path, pages: Pages, monkeypatch: Any) -> None:
    page = folder / "liu-2014-raw-text.md"
    page.write_text(pages["raw-text"][0] + "\n## Discussion\n\nMine.\n", "utf-8")
    monkeypatch.setattr("tagweave.reproduce.liu_2014.cells.Cell.run", lambda _: pytest.fail("trained again"))
    list(reproduce(["raw-text"], None, 2, folder / "cache", folder, "tagweave reproduce", trials=200))
    assert page.read_text("utf-8") == pages["raw-text"][0] + "\n## Discussion\n\nMine.\n"
