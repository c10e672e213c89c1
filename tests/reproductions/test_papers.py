"""What papers print and find: of methods that run, true to their tables, and beside our numbers on the pages."""

from __future__ import annotations

from importlib import import_module

import pytest
from result_pages import SEEDS, Pages, rows, section

from reproductions.jiang_2015 import methods as jiang
from reproductions.lab.paper import paper
from reproductions.lab.tagged_words import tagged_counts
from reproductions.liu_2014 import methods as liu
from reproductions.sun_wan_2012 import methods as sun
from reproductions.sun_wan_2012.settings import PARTS as SUN_PARTS
from tagweave.evaluation.score import f_of_counts

PAPERS = ("li_2015", "liu_2014", "sun_wan_2012")
PARTS = [(name, part) for name in PAPERS for part in paper(name).tables]


@pytest.mark.parametrize(("package", "part"), PARTS)
def test_pages_show_the_methods_that_run(package: str, part: str) -> None:
    settings = import_module(f"reproductions.{package}.settings").PARTS[part](None)
    tables = paper(package).tables[part]
    names = {method.name for setting in settings for method in setting.methods}
    for setting in settings:
        own = [each for each in tables if not each.settings or setting.name in each.settings]
        assert {method.name for table in own for method in table.methods} == {each.name for each in setting.methods}
        assert len({method.name for method in setting.methods}) == len(setting.methods)
    for table in tables:
        assert table.printed.keys() <= {method.name for method in table.methods}
        assert {len(cells) for cells in table.printed.values()} <= {len(table.head) or 3}
    for finding in paper(package).findings[part]:
        assert {finding.first.name, finding.second.name} <= names


@pytest.mark.parametrize("part", paper("sun_wan_2012").tables)
def test_findings_have_the_differences_of_the_tables(part: str) -> None:
    """The paper's differences are those of the F that it prints."""
    tables = paper("sun_wan_2012").tables[part]
    for each in paper("sun_wan_2012").findings[part]:
        printed = [table.printed for table in tables if table.gold == each.measure]
        known = {name: row[2] for rows in printed for name, row in rows.items()}
        names = each.first.name, each.second.name
        if each.difference is not None and all(name in known for name in names):
            assert each.difference == pytest.approx(float(known[names[0]]) - float(known[names[1]]), abs=0.006)
            assert each.sign in (0, 1 if each.difference > 0 else -1)
        elif each.difference is not None:
            pytest.fail(f"{each.text}: not in the tables")


def test_jiang_2015_beside_ours(papers: dict[str, Pages]) -> None:
    pages = papers["jiang-2015"]
    text, setting = pages["models"].text, pages["models"].settings[0]
    table = rows(section(text, "With the averaged"), "Table 8")
    assert list(table) == [
        each.name for each in (jiang.BASELINE, jiang.MERGING, jiang.MODEL_1, jiang.MODEL_2, jiang.MODEL_3)
    ]
    assert table[jiang.MODEL_1.name][-2:] == ["97.67", "4.39"]
    for name, row in table.items():
        found = setting["methods"][name]
        means = [f"**{found['scores'][part]['mean']:.2f}**" for part in ("dev", "test")]
        assert [cell.split(" ")[0] for cell in row[1:3]] == means
        times = setting["decoding"]["seconds"][name]
        assert len(times) == SEEDS
        assert row[5] == f"{sum(times) / SEEDS:.3f}"
    test = setting["methods"][jiang.MODEL_3.name]["against"][jiang.MODEL_1.name]["test"]
    assert table[jiang.MODEL_3.name][4] == f"{test['difference']:+.2f}, {test['p_all']:.4f}"
    assert table[jiang.BASELINE.name][3] == table[jiang.MODEL_1.name][4] == "-"


def test_li_2015_beside_ours(papers: dict[str, Pages]) -> None:
    pages = papers["li-2015"]
    table, (setting,) = rows(pages["tagging"].text, "Table 4"), pages["tagging"].settings
    assert table["coupled, joint features only"][-3:] == ["179", "92.92", "92.90"]
    found = setting["methods"]["coupled, joint features only"]
    assert table["coupled, joint features only"][2] == f"**{found['scores']['test']['mean']:.2f}**"
    assert rows(pages["conversion"].text, "Table 5: conversion, the 20%")["two-stage"][-1] == "93.22"
    assert "paper: test" not in pages["english"].text


def test_references_are_tested_against_one_another_only(papers: dict[str, Pages]) -> None:
    pages = papers["li-2015"]
    (setting,) = pages["tagging"].settings
    against = {name: set(found["against"]) for name, found in setting["methods"].items()}
    assert against["baseline"] == {"two-stage"}
    assert against["two-stage"] == {"baseline"}
    assert against["coupled"] == {"baseline", "two-stage"}
    (setting,) = pages["weighting"].settings
    assert set(setting["methods"]["coupled"]["against"]) == {"baseline"}


def test_liu_2014_beside_ours(papers: dict[str, Pages]) -> None:
    pages = papers["liu-2014"]
    page = pages["lexicon"]
    (setting,), table = page.settings, rows(page.text, "Table 4")
    assert list(table) == [liu.BASELINE.name, liu.COLUMNS.name, liu.LEXICON.name, liu.PHRASES.name]
    assert table[liu.LEXICON.name][-6:-4] == ["90.63", "84.88"]
    scores = setting["methods"][liu.LEXICON.name]["scores"]
    found = [f"**{scores[name]['mean']:.2f}**" for name in ("dev", "dev OOV", "test", "test OOV")]
    assert [cell.split(" ")[0] for cell in table[liu.LEXICON.name][2:6]] == found
    table = rows(section(pages["natural"].text, "Wikipedia"), "Tables 5 and 6")
    assert table[liu.SELECTED.name][-5:] == ["95.00", "88.28", "93.93", "87.53", "93.61"]
    assert rows(pages["natural"].text, "Table 7")[liu.SELECTED.name][-2:] == ["92.47", "93.93"]
    assert "paper:" not in rows(pages["raw-text"].text, "Figure 3")


def test_sun_wan_2012_beside_ours(papers: dict[str, Pages]) -> None:
    pages = papers["sun-wan-2012"]
    page = pages["stacking"]
    (setting,), table = page.settings, rows(page.text, "Table 2")
    assert list(table) == [sun.CHARACTERS.name, sun.GUIDED.name, sun.UNTAGGED.name, sun.PIECES.name]
    assert table[sun.GUIDED.name][-3:] == ["93.89", "93.46", "93.67"]
    assert table[sun.UNTAGGED.name][-3:] == ["-", "-", "93.73"]
    scores = setting["methods"][sun.PIECES.name]["scores"]["dev"]
    found = [f"{scores['precision']:.2f}", f"{scores['recall']:.2f}", f"**{scores['mean']:.2f}**"]
    assert [cell.split(" ")[0] for cell in table[sun.PIECES.name][:3]] == found
    assert rows(page.text, "Table 6")[sun.PIECES.name][-1] == "94.36"
    text = pages["retraining"].text
    assert rows(text, "Table 5")[sun.CHARACTERS_AGAIN.name][-1] == "94.26"
    assert rows(text, "Table 6")[sun.CHARACTERS_AGAIN.name][-3:] == ["93.93", "94.29", "94.11"]
    table = rows(pages["learning-curve"].text, "Table 3: sizes of the source")
    assert [table[sun.with_source(sun.GUIDED, share).name][-1] for share in (0.2, 1.0)] == ["92.21", "93.67"]
    assert rows(pages["gold"].text, "Table 4")[sun.GUIDED_GIVEN.name][-1] == "95.19"


def test_scores_of_sun_wan_2012_are_those_of_the_answers(papers: dict[str, Pages]) -> None:
    pages, method = papers["sun-wan-2012"], sun.CHARACTERS_AGAIN
    pair = SUN_PARTS["retraining"](None)[0].draw(0)
    answers = [pages.cell(pair, method, seed)["test"] for seed in range(SEEDS)]
    counts = [tagged_counts(pair.gold["test"], lines).sum(axis=0) for lines in answers]
    found = pages["retraining"].settings[0]["methods"][method.name]["scores"]["test"]
    assert found["values"] == [pytest.approx(100 * f_of_counts(each)) for each in counts]
    assert found["precision"] == pytest.approx(sum(100 * each[0] / each[2] for each in counts) / SEEDS)
    assert found["recall"] == pytest.approx(sum(100 * each[0] / each[1] for each in counts) / SEEDS)
