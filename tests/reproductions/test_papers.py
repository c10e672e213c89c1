"""What papers print and find: of methods that run, true to their tables, and beside our numbers on the pages."""

from __future__ import annotations

from importlib import import_module

import pytest
from result_pages import SEEDS, Pages, rows

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


@pytest.mark.parametrize(
    ("name", "part", "title", "method", "cells", "printed"),
    [
        ("jiang-2015", "models", "Table 8", jiang.MODEL_1.name, slice(-2, None), "97.67 4.39"),
        ("li-2015", "tagging", "Table 4", "coupled, joint features only", slice(-3, None), "179 92.92 92.90"),
        ("li-2015", "conversion", "Table 5: conversion, the 20%", "two-stage", slice(-1, None), "93.22"),
        ("liu-2014", "lexicon", "Table 4", liu.LEXICON.name, slice(-6, -4), "90.63 84.88"),
        ("liu-2014", "natural", "Table 7", liu.SELECTED.name, slice(-2, None), "92.47 93.93"),
        ("sun-wan-2012", "stacking", "Table 2", sun.GUIDED.name, slice(-3, None), "93.89 93.46 93.67"),
        ("sun-wan-2012", "stacking", "Table 2", sun.UNTAGGED.name, slice(-3, None), "- - 93.73"),
        ("sun-wan-2012", "retraining", "Table 5", sun.CHARACTERS_AGAIN.name, slice(-1, None), "94.26"),
        ("sun-wan-2012", "gold", "Table 4", sun.GUIDED_GIVEN.name, slice(-1, None), "95.19"),
    ],
)
def test_what_papers_print_stands_beside_ours(
    name: str, part: str, title: str, method: str, cells: slice, printed: str, papers: dict[str, Pages]
) -> None:
    assert rows(papers[name][part].text, title)[method][cells] == printed.split(" ")


@pytest.mark.parametrize(
    ("name", "part", "title", "method", "measures"),
    [
        ("li-2015", "tagging", "Table 4", "coupled, joint features only", ["test"]),
        ("liu-2014", "lexicon", "Table 4", liu.LEXICON.name, ["dev", "dev OOV", "test", "test OOV"]),
        ("sun-wan-2012", "stacking", "Table 2", sun.PIECES.name, ["dev"]),
    ],
)
def test_our_scores_stand_in_their_columns(
    name: str, part: str, title: str, method: str, measures: list[str], papers: dict[str, Pages]
) -> None:
    page = papers[name][part]
    scores = page.settings[0]["methods"][method]["scores"]
    means = [cell.split(" ")[0] for cell in rows(page.text, title)[method] if cell.startswith("**")]
    assert means == [f"**{scores[measure]['mean']:.2f}**" for measure in measures]


def test_pages_show_only_what_papers_print(papers: dict[str, Pages]) -> None:
    assert "paper: test" not in papers["li-2015"]["english"].text
    assert "paper:" not in rows(papers["liu-2014"]["raw-text"].text, "Figure 3")


def test_times_and_tests_of_jiang_2015(papers: dict[str, Pages]) -> None:
    page = papers["jiang-2015"]["models"]
    setting, table = page.settings[0], rows(page.text, "Table 8")
    assert list(table) == [
        each.name for each in (jiang.BASELINE, jiang.MERGING, jiang.MODEL_1, jiang.MODEL_2, jiang.MODEL_3)
    ]
    for name, row in table.items():
        assert row[5] == f"{sum(setting['decoding']['seconds'][name]) / SEEDS:.3f}"
    test = setting["methods"][jiang.MODEL_3.name]["against"][jiang.MODEL_1.name]["test"]
    assert table[jiang.MODEL_3.name][4] == f"{test['difference']:+.2f}, {test['p_all']:.4f}"
    assert table[jiang.BASELINE.name][3] == table[jiang.MODEL_1.name][4] == "-"


def test_references_are_tested_against_one_another_only(papers: dict[str, Pages]) -> None:
    pages = papers["li-2015"]
    (setting,) = pages["tagging"].settings
    against = {name: set(found["against"]) for name, found in setting["methods"].items()}
    assert against["baseline"] == {"two-stage"}
    assert against["two-stage"] == {"baseline"}
    assert against["coupled"] == {"baseline", "two-stage"}
    (setting,) = pages["weighting"].settings
    assert set(setting["methods"]["coupled"]["against"]) == {"baseline"}


def test_scores_of_sun_wan_2012_are_those_of_the_answers(papers: dict[str, Pages]) -> None:
    pages, method = papers["sun-wan-2012"], sun.CHARACTERS_AGAIN
    pair = SUN_PARTS["retraining"](None)[0].draw(0)
    answers = [pages.cell(pair, method, seed)["test"] for seed in range(SEEDS)]
    counts = [tagged_counts(pair.gold["test"], lines).sum(axis=0) for lines in answers]
    found = pages["retraining"].settings[0]["methods"][method.name]["scores"]["test"]
    assert found["values"] == [pytest.approx(100 * f_of_counts(each)) for each in counts]
    assert found["precision"] == pytest.approx(sum(100 * each[0] / each[2] for each in counts) / SEEDS)
    assert found["recall"] == pytest.approx(sum(100 * each[0] / each[1] for each in counts) / SEEDS)
