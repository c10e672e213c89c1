"""The pages of the reproduction of jiang-2015: their numbers, and the paper's beside them."""

from __future__ import annotations

import pytest
from result_pages import SEEDS, Pages, rows, section

from reproductions.jiang_2015.methods import (
    BASELINE,
    CONVERSIONS,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    PROBABILITIES,
    SOURCE,
)

TABLE = [method.name for method in (BASELINE, MERGING, MODEL_1, MODEL_2, MODEL_3)]


@pytest.fixture
def pages(papers: dict[str, Pages]) -> Pages:
    """Those of the paper."""
    return papers["jiang-2015"]


def test_table_8_and_the_paper_beside_it(pages: Pages) -> None:
    text, setting = pages["models"].text, pages["models"].settings[0]
    table = rows(section(text, "With the averaged"), "Table 8")
    assert list(table) == TABLE
    assert table[MODEL_1.name][-2:] == ["97.67", "4.39"]
    for name, row in table.items():
        found = setting["methods"][name]
        means = [f"**{found['scores'][part]['mean']:.2f}**" for part in ("dev", "test")]
        assert [cell.split(" ")[0] for cell in row[1:3]] == means
        times = setting["decoding"]["seconds"][name]
        assert len(times) == SEEDS
        assert row[5] == f"{sum(times) / SEEDS:.3f}"
    test = setting["methods"][MODEL_3.name]["against"][MODEL_1.name]["test"]
    assert table[MODEL_3.name][4] == f"{test['difference']:+.2f}, {test['p_all']:.4f}"
    assert table[BASELINE.name][3] == table[MODEL_1.name][4] == "-"


@pytest.mark.parametrize("part", ["parsing-models", "parsing-french"])
def test_the_method_of_the_package_is_held_against_those_of_the_paper(part: str, pages: Pages) -> None:
    for setting in pages[part].settings:
        table = rows(section(pages[part].text, setting["title"]), "Table 9" if "models" in part else "The models")
        for method in PROBABILITIES:
            for reference in (BASELINE, MODEL_1):
                test = setting["methods"][method.name]["against"][reference.name]["test"]
                assert f"{test['difference']:+.2f}, {test['p_all']:.4f}" in table[method.name]
    assert "`two rounds, probabilities`, its default" in pages[part].text


def test_only_what_is_timed_has_a_speed(pages: Pages) -> None:
    table = rows(pages["parsing-models"].text, "Table 9")
    assert list(table) == [*TABLE, *(method.name for method in PROBABILITIES)]
    assert [row[5:7] == ["-", "-"] for row in table.values()] == [False] * len(TABLE) + [True] * len(PROBABILITIES)


def test_conversions_are_held_against_parsing_without_the_gold_tree(pages: Pages) -> None:
    methods = pages["parsing-french"].settings[0]["methods"]
    for method in CONVERSIONS:
        against = methods[method.name]["against"]
        gains = [against[each.name]["test"]["difference"] for each in (BASELINE, MODEL_1)]
        told = f"- {method.name}: {gains[0]:+.2f} points from the baseline, {gains[1]:+.2f} from Model 1, which"
        assert sum(line.startswith(told) for line in pages["parsing-french"].text.splitlines()) == 1
        assert "source test" not in methods[method.name]["scores"]


def test_table_6_is_of_both_models_on_both_tests(pages: Pages) -> None:
    table, methods = rows(pages["models"].text, "Table 6"), pages["models"].settings[0]["methods"]
    assert list(table) == [BASELINE.name, SOURCE.name]
    assert table[SOURCE.name][-2:] == ["91.23", "94.25"]
    assert table[SOURCE.name][1].startswith(f"**{methods[SOURCE.name]['scores']['source test']['mean']:.2f}**")
    assert "source test" not in methods[MODEL_2.name]["scores"]
